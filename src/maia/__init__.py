"""maia, the agent workbench that its user owns: one engine behind a terminal, a web workspace and an orchestrator."""

__version__ = "0.1.0"
