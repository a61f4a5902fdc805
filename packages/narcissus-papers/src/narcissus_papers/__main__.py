"""``python -m narcissus_papers`` is the command ``narcissus-papers``."""

import os
import sys

if __name__ == "__main__":
    # ``-m`` puts the current directory before everything: what lies there must not be imported.
    here = os.getcwd()
    if sys.path[:1] == [here] and here != os.path.dirname(os.path.dirname(__file__)):
        del sys.path[0]

    from narcissus_papers.main import main

    main()
