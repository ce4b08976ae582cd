"""Finds personal data in texts by rules alone, and keeps it from leaving for models that run elsewhere."""
