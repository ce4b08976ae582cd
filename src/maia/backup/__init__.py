"""Backups: one checked file with everything of an installation, and putting one in place without half measures."""
