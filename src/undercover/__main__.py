"""``python -m undercover``: the command line, where its script is not on the path."""

from undercover.cli.main import main

if __name__ == "__main__":
    main()
