"""One search over files for Glob and Grep: by ripgrep if there is one, else by our worker with the same results."""
