"""The terminal door: a typed line in, styled lines of text out."""
