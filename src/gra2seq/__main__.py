"""`python -m gra2seq` is the command line."""

from gra2seq.cli import main

main()
