"""Who works here, how they come in, and what they may do."""
