"""Change one line of the code at a time, and see whether a test of its own room fails.

    python tests/mutants/run.py --sample 300          # a sample of all rooms, seed 1
    python tests/mutants/run.py --room game --sample 100      # a sample of one
    python tests/mutants/run.py --only evidence/scores --sample 0     # every mutant of a module

A mutant is killed if a test of its room fails, or if it runs out of time or memory. Each is played
in a process of its own, by the tests of the room that run the changed line, those of the module's
mirror first, then the quickest. What was played is kept in ``.mutants`` and not played again
until the module changes (or, if the mutant survived, the room's tests). Survivors that no test
can kill, because they mean the same, stand in ``equivalent.txt`` with the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest
from edits import Mutant, mutants, mutated

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "src"
PAPERS = ROOT / "packages" / "narcissus-papers"
KEPT = ROOT / ".mutants"
QUIET = (
    *("-q", "--no-header", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # imported before: see `warm`
)

# Where the mutants are made; the tests that must fail are in the mirrors of these places. Each room
# that yields a number is here: `test_run.py` refuses one that is neither here nor in `WITHOUT`.
PLAIN = (
    "attacks", "bounds", "channels", "counts", "disclosure", "evidence", "extraction", "game",
    "guarantees", "knowledge", "mechanisms", "membership", "priors", "profiles", "success",
    "synthetic", "tables", "worlds",
)  # fmt: skip
ROOMS = {
    **{room: [room] for room in PLAIN},
    "kinds": [
        *(f"kinds/{name}/kind.py" for name in ("channel", "membership", "published")),
        *(f"kinds/{name}/kind.py" for name in ("secrets", "synthetic")),
        *(f"kinds/{name}" for name in ("extraction", "memorization")),
    ],
    "papers": ["narcissus_papers/copyright", "narcissus_papers/scale"],
    "verdicts": [
        "findings.py",
        "judgement.py",
        "rows.py",
        "kinds/game/judgement.py",
        *(
            f"kinds/table/{name}.py"
            for name in (
                "bound_summary", "excesses", "held_out", "judgement", "population", "summary",
            )
        ),
    ],
}  # fmt: skip
WITHOUT = {
    "app": "a page: it shows numbers and has none",
    "audits": "plain arguments for kinds of studies",
    "cli": "commands: they print the numbers of the rooms",
    "report": "words and pictures of rows",
    "study": "files, engines and records: no number is made there",
}
"""Rooms without mutants, and why."""
WORDS = ("layout.py", "words.py")
"""Modules of a kind that only word its numbers."""
LONGEST = 40.0  # seconds that the tests of one mutant may take when nothing is changed
MEMORY = 8 << 30


def there(place: Path) -> Path:
    """Give a place that a room names; it must be there, else nothing would be measured."""
    if not place.exists():
        sys.exit(f"{place.relative_to(ROOT)} is not there: mend ROOMS, or write the tests")
    return place


def source_of(place: str) -> Path:
    """Give where the modules of a place are: of the papers' package, or of the core."""
    is_of_papers = place.startswith("narcissus_papers/")
    return (PAPERS / "src" if is_of_papers else SOURCE / "narcissus") / place


def tests_of(place: str) -> Path:
    """Give where the tests of a place are."""
    if place.startswith("narcissus_papers/"):
        return PAPERS / "tests" / place.partition("/")[2]
    return ROOT / "tests" / mirror(Path(place))


def files(room: str) -> list[Path]:
    """List the modules of a room."""
    found = [there(source_of(place)) for place in ROOMS[room]]
    modules = [p for f in found for p in ([f] if f.is_file() else f.rglob("*.py"))]
    return sorted(path for path in modules if path.name not in WORDS)


def mirror(place: Path) -> Path:
    """Give where the tests of a place are; those of a kind of study may be one file."""
    if place.name == "kind.py":
        return place.parent.with_name(f"test_{place.parent.name}.py")
    return place.with_name(f"test_{place.name}") if place.suffix else place


def tests(room: str) -> list[str]:
    """List where the tests of a room are: its mirror, and the examples in its modules."""
    places = [*(there(tests_of(place)) for place in ROOMS[room]), *files(room)]
    return [str(p.relative_to(ROOT)) for p in places]


def digest(paths: Sequence[Path]) -> str:
    """Give a short name of what these files hold."""
    seen = hashlib.sha256()
    for path in sorted(paths):
        seen.update(path.read_bytes())
    return seen.hexdigest()[:16]


def digest_of_tests(room: str) -> str:
    """Give a short name of what a room's tests hold."""
    places = [ROOT / place for place in tests(room)]
    return digest([f for p in places for f in ([p] if p.is_file() else p.rglob("*.py"))])


class Watch:
    """A pytest plug-in: which test runs which line, and how long it takes."""

    def __init__(self, room: str) -> None:
        import coverage  # only here, in a process of its own

        self.cover = coverage.Coverage(include=[str(f) for f in files(room)], data_file=None)
        self.seconds: dict[str, float] = {}
        self.cover.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note under the test's name what runs."""
        self.cover.switch_context(item.nodeid)
        begun = time.perf_counter()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.perf_counter() - begun
            self.cover.switch_context("")

    def lines(self) -> dict[str, dict[int, list[str]]]:
        """Give, for each file, the tests that run each line."""
        self.cover.stop()
        data = self.cover.get_data()
        return {
            str(Path(f).relative_to(ROOT)): {
                line: [t for t in told if t] for line, told in data.contexts_by_lineno(f).items()
            }
            for f in data.measured_files()
        }


def in_a_child(work, seconds: float) -> int:
    """Run ``work`` in a process of its own; give its exit status, or minus the signal."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 99
        try:
            os.setsid()
            said = os.open(KEPT / "last.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(said, stream)
            signal.alarm(int(seconds) + 1)
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


def covered(room: str) -> dict:
    """Measure which tests run which line of a room, once for these tests and modules."""
    kept = KEPT / f"{room}-{digest(files(room))}-{digest_of_tests(room)}.json"
    if not kept.exists():
        print(f"{room}: which test runs which line ...", flush=True)

        def work() -> int:
            watch = Watch(room)
            status = pytest.main([*QUIET, *tests(room)], plugins=[watch])
            if not status:
                kept.write_text(json.dumps({"lines": watch.lines(), "seconds": watch.seconds}))
            return int(status)

        if in_a_child(work, 3600):
            sys.exit(f"{room}: the tests fail without any mutant; see {KEPT / 'last.log'}")
    return json.loads(kept.read_text())


def chosen(mutant: Mutant, cover: dict) -> list[str]:
    """Choose the tests for a mutant: those of its mirror first, then the quickest."""
    lines = cover["lines"].get(mutant.path, {})
    seen = [lines[str(n)] for n in range(mutant.lines[0], mutant.lines[1] + 1) if str(n) in lines]
    found = {test for told in seen for test in told}
    mirror = f"/test_{Path(mutant.path).stem}.py"
    seconds = cover["seconds"]
    if seen and len(found) < 2:  # a line that runs at import, maybe in the first test that needs
        found = {test for told in lines.values() for test in told}  # the module: any may see it
    order = sorted(found, key=lambda t: (seconds[t] > LONGEST / 4, mirror not in t, seconds[t]))
    total, kept = 0.0, []
    for test in order:
        total += seconds[test]
        if kept and total > LONGEST:
            break
        kept.append(test)
    return kept


class Changed(SourceFileLoader):
    """Loads a module with the change."""

    tree = None

    def get_code(self, fullname: str):
        """Compile the changed tree."""
        return compile(self.tree, self.path, "exec")


def load_changed(mutant: Mutant) -> None:
    """Import the module with the change, before pytest imports it for its examples."""
    path = ROOT / mutant.path
    Changed.tree = mutated(path, ROOT, mutant)

    class Finder:
        @staticmethod
        def find_spec(name, where=None, target=None):
            if name != mutant.module:
                return None
            folders = [str(path.parent)] if path.name == "__init__.py" else None
            return spec_from_file_location(
                name, path, loader=Changed(name, str(path)), submodule_search_locations=folders
            )

    sys.meta_path.insert(0, Finder())
    importlib.import_module(mutant.module)


def play(mutant: Mutant, cover: dict) -> str:
    """Give 'killed', 'survived' or 'not run' (by no test of the room)."""
    which = chosen(mutant, cover)
    if not which:
        return "not run"

    def work() -> int:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        load_changed(mutant)
        return int(pytest.main([*QUIET, *which]))

    seconds = 20 + 5 * sum(cover["seconds"][t] for t in which)
    return "killed" if in_a_child(work, seconds) else "survived"


def equivalent() -> dict[str, str]:
    """Read the survivors that mean the same: a mutant's name, then its reason after a tab."""
    lines = (HERE / "equivalent.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {name: reason for name, reason in pairs}


def sampled(all_of_them: list[Mutant], sample: int, seed: int) -> list[Mutant]:
    """Take so many at random from all mutants together; 0 for all of them."""
    order = sorted(all_of_them, key=lambda m: m.rank(seed))
    return order[:sample] if sample else order


def warm() -> None:
    """Import once what every process needs, so that each begins with it."""
    for name in ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "pandas", "pydantic",
                 "hypothesis", "mpmath", "click", "_pytest.doctest"):  # fmt: skip
        importlib.import_module(name)


def main() -> int:
    """Play a sample; exit 1 if fewer than the least share are killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=300, help="how many mutants, 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--room", choices=ROOMS, help="this room alone")
    parser.add_argument("--only", default="", help="modules whose path holds this")
    parser.add_argument("--least", type=float, default=0.9, help="share to be killed")
    asked = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCE))
    os.environ |= {"PYTHONPATH": str(SOURCE), "NARCISSUS_SLOW": "1"}
    KEPT.mkdir(exist_ok=True)
    warm()
    rooms = [asked.room] if asked.room else ROOMS
    room_of = {f.relative_to(ROOT).as_posix(): room for room in rooms for f in files(room)}
    every = [m for f in room_of for m in mutants(ROOT / f, ROOT) if asked.only in f]
    reasons = equivalent()
    part = asked.only or asked.room
    gone = set() if part else set(reasons) - {m.key for m in every}
    sample = [m for m in sampled(every, asked.sample, asked.seed) if m.key not in reasons]
    return report(outcomes(sample, room_of), room_of, gone, asked.least)


def outcomes(sample: list[Mutant], room_of: dict[str, str]) -> dict[Mutant, str]:
    """Play what was not played yet."""
    log = KEPT / "played.jsonl"
    known = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        known.update(json.loads(line))
    found: dict[Mutant, str] = {}
    for number, mutant in enumerate(sorted(sample, key=lambda m: room_of[m.path]), 1):
        room = room_of[mutant.path]
        module = f"{digest([ROOT / mutant.path])} {mutant.key}"
        both = f"{digest_of_tests(room)} {module}"
        outcome = known.get(module) or known.get(both)
        if outcome is None:
            outcome = play(mutant, covered(room))
            with log.open("a") as file:
                file.write(json.dumps({module if outcome == "killed" else both: outcome}) + "\n")
            print(f"{number}/{len(sample)} {outcome}: {mutant.key}", flush=True)
        found[mutant] = outcome
    return found


def report(found: dict[Mutant, str], room_of: dict[str, str], gone: set[str], least: float) -> int:
    """Print the survivors and the share killed of each room."""
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for mutant, outcome in found.items():
        count[room_of[mutant.path]][outcome == "killed"] += 1
        if outcome != "killed":
            print(f"{outcome} (line {mutant.lines[1]}) {mutant.key}")
    for name in sorted(gone):
        print(f"in equivalent.txt, but there is no such mutant: {name}")
    for room, (alive, killed) in sorted(count.items()):
        print(f"{room}: {killed} of {killed + alive} killed ({killed / (killed + alive):.0%})")
    killed = sum(k for _, k in count.values())
    share = killed / max(1, len(found))
    print(f"all: {killed} of {len(found)} killed ({share:.1%}); at least {least:.0%} is asked")
    return int(share < least or bool(gone))


if __name__ == "__main__":
    sys.exit(main())
