"""What a client can ask of the door, one file a subject; the prompt of each tool lies beside it."""
