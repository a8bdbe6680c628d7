"""The studio: a page to draw on, and the HTTP service behind it."""
