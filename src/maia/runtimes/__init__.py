"""Agent programs that answer whole turns: found, started in the wall, driven by their own protocols."""
