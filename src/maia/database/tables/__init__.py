"""The tables of the workspace.

Every change of them needs a revision in `migrations/versions`; a test compares the two on both databases.
"""
