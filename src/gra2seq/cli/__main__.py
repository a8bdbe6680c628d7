from gra2seq.cli import main

main()
