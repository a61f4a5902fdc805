"""``python -m narcissus`` is the command ``narcissus``."""

import os
import sys

if __name__ == "__main__":
    # ``-m`` puts the current directory before everything: what lies there must not be imported,
    # unless Narcissus itself does.
    here = os.getcwd()
    if sys.path[:1] == [here] and here != os.path.dirname(os.path.dirname(__file__)):
        del sys.path[0]

    from narcissus.cli import main

    main()
