"""What stands before every route: who asks, from where, with which right, and what a refusal looks like."""
