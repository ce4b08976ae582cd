"""The web door: pages, the JSON interface under `/api/v1`, and streams over the workspace's log."""
