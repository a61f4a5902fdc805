"""A small table and its study, written for each test into a folder of its own."""

import csv
import hashlib
import json
import random
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import pytest

from narcissus.report.about import verdict_of
from narcissus.study.keyed import is_secret
from narcissus.study.reading import read_record

COLUMNS = ("sex", "age", "job", "town", "ill", "income")


def people(rows=500, seed=1):
    """Rows with dependent columns: what is known says something about what is not."""
    chance = random.Random(seed)
    found = []
    for _ in range(rows):
        sex = chance.choice("mf")
        age = chance.randint(1, 5)
        job = chance.choice(["clerk", "cook", "none"] if age < 4 else ["none", "clerk"])
        town = "x" if job == "clerk" else chance.choice("xyz")
        ill = "yes" if chance.random() < 0.12 * age else "no"
        income = chance.randint(0, 3) * 10 + (20 if job == "clerk" else 0)
        found.append((sex, age, job, town, ill, income))
    return found


def write_csv(path, rows, header=COLUMNS):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


STUDY = {
    "data": {"path": "people.csv"},
    "threat": {"unknown": ["ill"], "targets": 15},
    "mechanism": {"k": 2, "epsilon": 2.0},
    "attacks": {"prior": {}, "posterior": {}, "ceiling": {}},
    "run": {"trials": 6, "seed": 3, "workers": 1},
}


def literal(value):
    """Write a value as TOML; a string that starts with '=' stands as it is."""
    if isinstance(value, str):
        return value[1:] if value.startswith("=") else f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{k}" = {literal(v)}' for k, v in value.items()) + " }"
    return str(value)


def to_toml(study):
    lines = []
    for name, section in study.items():
        if not isinstance(section, dict):
            lines.append(f"{name} = {literal(section)}")
    for name, section in study.items():
        if isinstance(section, dict):
            lines.append(f"[{name}]")
            lines += [f'"{k}" = {literal(v)}' for k, v in section.items()]
    return "\n".join(lines) + "\n"


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Give a function that writes a study file; each argument replaces or joins a section.

    A section given as None is left out; keys given as None leave out that key.
    """
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "people.csv", people())

    def write(name="s.toml", **changes):
        sections = {k: dict(v) for k, v in STUDY.items()}
        for section, keys in changes.items():
            if keys is None:
                sections.pop(section, None)
            elif isinstance(keys, dict) and section != "attacks":
                merged = {**sections.get(section, {}), **keys}
                sections[section] = {k: v for k, v in merged.items() if v is not None}
            else:
                sections[section] = keys
        (tmp_path / name).write_text(to_toml(sections))
        return tmp_path / name

    return write


RECORDS = Path(__file__).parent / "study" / "records"
OLD_RECORDS = sorted(path.relative_to(RECORDS).as_posix() for path in RECORDS.glob("*/*.json"))


@pytest.fixture
def old_record():
    """Give the path of a record by its folder and name."""
    return lambda when, name: RECORDS / when / f"{name}.json"


@pytest.fixture(params=OLD_RECORDS)
def any_old_record(request):
    """Give the path of each record in turn."""
    return RECORDS / request.param


class Notes:
    """An observer that keeps what it hears."""

    def __init__(self):
        self.notes, self.starts, self.steps = [], [], 0

    def start(self, what, total, done=0):
        self.starts.append((what, total, done))

    def advance(self, steps=1):
        self.steps += steps

    def finish(self):
        pass

    def note(self, message):
        self.notes.append(message)


@pytest.fixture
def verdict_in(tmp_path_factory):
    """Give the function that words the verdict of a record, which is JSON."""

    def verdict(record):
        path = tmp_path_factory.mktemp("record") / "record.json"
        path.write_text(json.dumps(record))
        return verdict_of(read_record(path))

    return verdict


@pytest.fixture
def hears():
    """An observer that keeps what it hears: ``notes``, ``starts``, ``steps``."""
    return Notes()


@pytest.fixture
def play():
    """Give the function that plays a study's file, and gives the audit and what was heard."""
    import narcissus

    def played(path, **options):
        notes = Notes()
        made = narcissus.load_study(path, allow_code=True)
        return narcissus.run(made, observer=notes, **options), notes

    return played


@pytest.fixture
def digest():
    """Give the function that makes a digest of a record, or of that in a folder.

    Of all of it but the digests of data, whose key is another in each folder.
    """

    def neutral(value):
        if isinstance(value, dict):
            return {name: neutral(inner) for name, inner in value.items() if name != "digest"}
        if isinstance(value, list | tuple):
            return [neutral(inner) for inner in value]
        return "keyed" if is_secret(value) else value

    def of(found="out"):
        if isinstance(found, str | Path):
            return of(json.loads((Path(found) / "record.json").read_text()))
        made = found if isinstance(found, dict) else json.loads(found.to_json())
        return hashlib.sha256(json.dumps(neutral(made), sort_keys=True).encode()).hexdigest()

    return of


@pytest.fixture(scope="module")
def two():
    """Give two worker processes, the same for all tests of a module: starting them takes long."""
    from narcissus.study.engines import Processes

    executor = Processes(2)
    yield executor
    executor.close()


SLOW = """
import time
class Slow:
    title, uses, informed = "a slow one", "prior", False
    def guess(self, view, *, rng):
        time.sleep(0.15)
        with open("played", "a") as file:
            file.write(".")
        return rng.integers(0, 2, view.targets.people)
"""


@pytest.fixture
def slow(study):
    """Give the function that writes a study of so many slow trials; each adds a dot to a file."""
    Path("slow.py").write_text(SLOW)
    attacks = {"slow": {"name": "slow:Slow"}, "ceiling": {}}
    return lambda trials: study(attacks=attacks, run={"trials": trials})


@pytest.fixture
def command():
    """Give the function that writes a line that audits a study in a process of its own."""
    begin = [sys.executable, "-m", "narcissus", "audit", "--allow-code"]
    return lambda path, *options: [*begin, str(path), *map(str, options)]


def stat_of(pid):
    """State and parent of a process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[1])


def children(pid):
    """Processes that a process has started and that still live."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = stat_of(place.name)
        except (OSError, IndexError):
            continue
        if parent == pid and state != "Z":
            found.append(int(place.name))
    return found


def alive(pid):
    try:
        return stat_of(pid)[0] != "Z"
    except OSError:
        return False


def all_gone(pids, seconds=20):
    """Wait until no such process lives; say whether it came to that."""
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


@pytest.fixture
def kin():
    """Give the functions that look for processes: ``children``, ``alive``, ``all_gone``."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("reads /proc")
    return SimpleNamespace(children=children, alive=alive, all_gone=all_gone)


class Dies:
    """Does ``how`` at the trial "2", each time or, with a mark, the first time only."""

    def __init__(self, how, mark=None):
        self.how, self.mark = how, mark

    def __call__(self, key):
        if key == "2" and (self.mark is None or not Path(self.mark).exists()):
            if self.mark is not None:
                Path(self.mark).touch()
            exec(self.how)
        return key


@pytest.fixture
def dies():
    """Give the class of trials that end badly, sent to workers as that of a script is."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield Dies
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
