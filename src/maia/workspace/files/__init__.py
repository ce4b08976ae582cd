"""Files of conversations: taken in, given to models, and gathered from where models work."""
