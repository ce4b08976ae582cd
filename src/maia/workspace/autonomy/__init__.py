"""What a model may do by itself while nobody looks on, and where a person sees it."""
