"""Run targets of the Makefile on each Python that is named and is on this machine.

    python tests/wheel/pythons.py 3.11 3.12 3.13 -- test check smoke
    python tests/wheel/pythons.py --newest 3.11 3.12 3.13 -- smoke

Each has an environment of its own, ``build/pythons/VERSION``. A Python that is not on this machine
is skipped, and said to be. Exit code 1 if a target fails, or if none of the Pythons is here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import ROOT, found


def main(words: list[str]) -> int:
    """Play the targets; ``--newest`` plays them on the newest Python alone that is here."""
    is_newest = "--newest" in words
    words = [word for word in words if word != "--newest"]
    place = words.index("--")
    versions, targets = words[:place], words[place + 1 :]
    here = {version: python for version in versions if (python := found(version))}
    for version in versions:
        if version not in here:
            print(f"Python {version}: skipped, not on this machine", flush=True)
    failed = []
    for version in list(here)[-1:] if is_newest else here:
        folder = f"build/pythons/{version}"
        for target in targets:
            order = ["make", target, f"PYTHON={here[version]}", f"VENV={folder}"]
            done = subprocess.run(order, cwd=ROOT, check=False)
            print(f"Python {version}: make {target}: exit code {done.returncode}", flush=True)
            failed += [version] * bool(done.returncode)
    return int(bool(failed) or not here)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
