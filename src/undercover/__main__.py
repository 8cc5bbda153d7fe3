"""``python -m undercover``: the command line, where its script is not on the path."""

from undercover.cli import run

if __name__ == "__main__":
    run()
