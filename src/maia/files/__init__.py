"""Files that people and models give a conversation: kept by content, looked into, read in a bounded process."""
