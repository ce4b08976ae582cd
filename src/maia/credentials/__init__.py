"""Keys of model providers: recognised, paired with the right host, found, kept and explained."""
