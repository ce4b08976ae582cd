"""Private memories: what one identity keeps, and finds again by words and by meaning (C6.04)."""
