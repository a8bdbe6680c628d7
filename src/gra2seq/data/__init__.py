"""Where drawings come from."""
