"""Pages about this installation: who works here, who can answer, what waits, what is remembered."""
