"""The built-in tools: one file and one prompt a tool, over the hands that a call receives."""
