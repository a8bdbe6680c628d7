"""The systems: a file each, a short builder each; `registry` knows them by name."""
