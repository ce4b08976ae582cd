"""Runs that outlive whoever started them: their files, the process that hosts them, and the way to it (C6.05)."""
