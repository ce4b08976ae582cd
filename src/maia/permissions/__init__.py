"""What a call may do: rules, the shell and paths they are judged on, and decisions with their reasons."""
