"""Choose the tests that run at night alone, by how long each took: written into ``night.txt``.

    make test SLOW=1 | tee durations.txt        # on a quiet machine
    python tests/night.py durations.txt --longest 0.7
    python tests/night.py durations.txt --day 600

What takes longer is listed, but for the quickest test of a file, so that every file has one by day,
and for the checks of the house. With ``--day`` the longest is the one at which all tests by day
take at most so many seconds together.
"""

from __future__ import annotations

import argparse
import re
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).parent / "night.txt"
BY_DAY = "tests/test_house.py"


def read(durations: str, phase: str) -> dict[str, float]:
    """Return the seconds of a phase (setup, call) by the name of the test."""
    lines = re.findall(rf"^([\d.]+)s {phase} +(\S.*)$", durations, re.MULTILINE)
    return {name.strip(): float(seconds) for seconds, name in lines}


def choose(took: dict[str, float], longest: float) -> list[str]:
    """Return the names of the tests that take longer than so many seconds."""
    files = defaultdict[str, list[str]](list)
    for name in took:
        files[name.split("::")[0]].append(name)
    quickest = {min(names, key=took.__getitem__) for names in files.values()}
    return sorted(
        name
        for name, seconds in took.items()
        if seconds > longest and name not in quickest and not name.startswith(BY_DAY)
    )


def longest_by_day(took: dict[str, float], day: float) -> float:
    """Return the longest time of a test at which those by day take at most ``day`` seconds."""
    values = sorted({*took.values()}, reverse=True)

    def is_short(longest: float) -> bool:
        return sum(took.values()) - sum(took[name] for name in choose(took, longest)) <= day

    place = bisect_left(values, True, key=is_short)
    if place == len(values):
        raise SystemExit(f"the quickest test of each file alone takes longer than {day:.0f} s")
    return values[place]


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("durations", type=Path, help="what pytest --durations=0 -vv printed")
    parser.add_argument("--longest", type=float, default=0.7, help="seconds that a day test takes")
    parser.add_argument("--day", type=float, help="seconds that all day tests take, on one core")
    asked = parser.parse_args()
    durations = asked.durations.read_text(encoding="utf-8")
    took, longest = read(durations, "call"), asked.longest
    if asked.day is not None:  # what several tests share is made by day whoever asks for it first
        longest = longest_by_day(took, asked.day - sum(read(durations, "setup").values()))
    names = choose(took, longest)
    LIST.write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
