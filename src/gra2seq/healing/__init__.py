"""Healing of files: SVG documents, and many drawings in several processes or on a Ray cluster."""
