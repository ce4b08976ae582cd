"""The third door: agents and their runs, for any client that speaks the Model Context Protocol."""
