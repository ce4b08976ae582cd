"""Agents with nicknames: their definitions and prompts as files that people write, read, changed and kept (C6.03)."""
