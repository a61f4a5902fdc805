"""``python -m narcissus`` is the command ``narcissus``."""

from narcissus.cli import main

if __name__ == "__main__":
    main()
