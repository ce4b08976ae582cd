"""What is kept on disk: sessions as append-only files of events, and what file tools replaced."""
