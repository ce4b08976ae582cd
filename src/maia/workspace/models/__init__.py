"""Providers and models of this installation, who of them may answer, how deep, and what may be spent."""
