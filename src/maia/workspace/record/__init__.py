"""What stands around a conversation: its card, its place on the board, projects and stages."""
