"""Pages over many conversations: Home, the board, projects, and what is found by its words."""
