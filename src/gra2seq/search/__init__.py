"""Codes of very many drawings: encode them once, index them, find the nearest."""
