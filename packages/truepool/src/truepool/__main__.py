"""Run the command as ``python -m truepool``."""

from truepool.cli import main

if __name__ == "__main__":
    main()
