"""Drawings in files: a module for each format, and the tracing of pictures."""
