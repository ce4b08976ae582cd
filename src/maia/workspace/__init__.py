"""Conversations as records that several people and tabs see: turns run in the server, and their events are kept."""
