"""The one engine behind every door: it assembles, asks, runs tools under permission, and tells what happened."""
