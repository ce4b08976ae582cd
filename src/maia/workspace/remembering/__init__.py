"""What the model of a turn is told beside the conversation: the clock, and what is remembered."""
