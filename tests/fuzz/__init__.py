"""Mutants of files, run under limits on memory and time: `python -m tests.fuzz --target npz --count 2000`."""
