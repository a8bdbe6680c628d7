"""Healing as users ask for it: SVG documents, and many drawings in several processes."""
