"""The page of a conversation: above it, its stream, and the right column."""
