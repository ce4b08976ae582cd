"""What a reader sees, in their words: rows, badges, times, changes of files, and the templates that draw them."""
