"""The JSON interface under `/api/v1`: parse, ask the workspace, answer; no logic of its own."""
