"""Models: endpoints, facts about models, counting, and the wires that carry a request to a server and its answer back."""
