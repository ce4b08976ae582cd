"""Running commands and fetching addresses: the parts of a tool's hands that reach outside the process."""
