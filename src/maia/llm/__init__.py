"""Models: endpoints, facts about models, counting, and the wires that carry a request and its answer."""
