"""Choose the tests that run at night alone, by how long each took: written into ``night.txt``.

    make test SLOW=1 | tee durations.txt        # on a quiet machine
    python tests/night.py durations.txt --longest 0.7

What takes longer is listed, but for the quickest test of a file, so that every file has one by day,
and for the checks of the house.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).parent / "night.txt"
BY_DAY = "tests/test_house.py"


def chosen(durations: str, longest: float) -> list[str]:
    """Return the names of the tests that take longer than so many seconds."""
    took = dict[str, float]()
    for seconds, name in re.findall(r"^([\d.]+)s call +(\S.*)$", durations, re.MULTILINE):
        took[name.strip()] = float(seconds)
    files = defaultdict[str, list[str]](list)
    for name in took:
        files[name.split("::")[0]].append(name)
    quickest = {min(names, key=took.__getitem__) for names in files.values()}
    return sorted(
        name
        for name, seconds in took.items()
        if seconds > longest and name not in quickest and not name.startswith(BY_DAY)
    )


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("durations", type=Path, help="what pytest --durations=0 -vv printed")
    parser.add_argument("--longest", type=float, default=0.7, help="seconds that a day test takes")
    asked = parser.parse_args()
    names = chosen(asked.durations.read_text(encoding="utf-8"), asked.longest)
    LIST.write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
