"""The one error a user is meant to read: it says what is wrong and what to do."""

from __future__ import annotations


class UserError(Exception):
    """Bad input, a bad option, a file that cannot be used. The command line prints it and exits with 2."""
