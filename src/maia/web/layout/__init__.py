"""What stands around every page: its frame, the navigation, the colleagues, and the streams that keep it as it is."""
