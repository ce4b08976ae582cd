"""Texts for the model that belong to no tool."""
