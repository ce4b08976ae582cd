"""Working folders of conversations: which are safe, what a run may use of them, and the workspace of their own."""
