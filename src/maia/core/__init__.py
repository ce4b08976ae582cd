"""Values, events, errors and protocols that every room shares; standard library only."""
