"""Small calls beside conversations: which tier a message is for, its title, one call for a program."""
