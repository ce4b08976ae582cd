"""The composition root: the one place that sees every room, names every concrete class and opens a door."""
