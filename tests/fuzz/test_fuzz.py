"""Whatever is handed over ends in an answer or in one clear error, never in a traceback.

A few thousand cases on every run of the tests; 100,000 with ``make nightly``.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import math
import os
import sys
import tempfile
import tomllib
import tracemalloc
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import narcissus
from narcissus.channels import analyse, read_channel, read_prior, read_samples
from narcissus.cli import main
from narcissus.errors import NarcissusError
from narcissus.report import render_html, render_text
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of
from narcissus.tables import read_table

from .strategies import NUMBERS, WORDS, changed, csv_bytes, document, spoiled

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    f"{i % 2},{i % 5},{'xyz'[i % 3]},{(i * 7) % 4},{('no', 'yes')[i % 7 > 3]}" for i in range(60)
]
PEOPLE = "\n".join(["sex,age,town,income,ill", *ROWS]) + "\n"
CHANNEL = "secret,a,b\nx,0.75,0.25\ny,0.25,0.75\nz,0.5,0.5\n"
SAMPLES = "secret,out\n" + "\n".join(f"{'xy'[i % 2]},{i % 3}" for i in range(60)) + "\n"

TABLE = {
    "title": "T",
    "data": {"path": "people.csv", "drop": ["income"], "bins": {"age": {"width": 2}}},
    "threat": {"unknown": ["ill"], "targets": 5, "at_least": 1},
    "prior": {"name": "bayesian-network", "parents": 1, "smoothing": 1.0},
    "mechanism": {"k": 2, "epsilon": [1.0, float("inf")], "delta": 1e-5, "noise": "gaussian"},
    "attacks": {
        "prior": {}, "posterior": {"sweeps": 2}, "ceiling": {},
        "rap": {"steps": 3, "starts": 1, "trials": 1},
    },
    "bounds": {"confidence": [0.95, 0.5]},
    "threshold": {"advantage": 0.1, "reason": "r", "origin": "o"},
    "groups": {"columns": ["sex"], "unusual": True, "singled_out": True},
    "run": {"trials": 2, "seed": 1, "workers": 1},
}  # fmt: skip
SEVERAL = {
    **TABLE,
    "threat": {"known": ["sex", "town"], "targets": 4, "people": "rows", "within": {"age": 1.0}},
    "mechanism": {"k": 2, "mu": 1.0},
    "threshold": {"targets": 2},
}
CHANNELS = [
    {"kind": "channel", "channel": {"file": "c.csv", "prior": "p.csv", "uses": 2},
     "threshold": {"beta_star": 0.5}},
    {
        "kind": "channel",
        "channel": {"mechanism": {"name": "randomized-response", "values": 3, "epsilon": 1}},
    },
    {"kind": "channel", "channel": {"samples": "s.csv", "secret": "secret"}},
]  # fmt: skip
EXTRACTION = {
    "kind": "extraction", "data": "people.csv", "release": "people.csv", "program": "p.py",
    "relation": {"name": "strings", "at_least": 1}, "runs": 2, "shadows": ["c.csv"],
    "limits": {"seconds": 1.0, "memory": 64}, "threshold": {"quality": 0.5}, "run": {"seed": 1},
}  # fmt: skip
SMALL_GAMES = ("counting-query", "two-candidates", "pinned-bits", "xor-halves-together")
GAMES = [
    tomllib.loads((files("narcissus.study") / "examples" / f"{name}.toml").read_text())
    for name in SMALL_GAMES
]
for game in GAMES:
    game["run"] = {"trials": 60, "seed": 1}

SHARE = float(os.environ.get("FUZZ", "1"))
"""Share of the cases at length that are tried, for a shorter night."""
SETTINGS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


def fuzzed(few, many, **strategies):
    """Make two tests of a check: a few cases, the same each time, and many new ones at night."""

    def make(check):
        module = sys.modules[check.__module__]
        usual = settings(max_examples=few, derandomize=True, **SETTINGS)(given(**strategies)(check))

        def again(**drawn):
            check(**drawn)

        nightly = settings(max_examples=max(1, round(many * SHARE)), **SETTINGS)(
            given(**strategies)(again)
        )
        name = check.__name__ + "_at_length"
        nightly.__name__ = nightly.__qualname__ = name
        setattr(module, name, pytest.mark.nightly(nightly))
        return usual

    return make


@pytest.fixture(autouse=True, scope="module")
def folder():
    """Go to a folder with the files that studies name; all cases share it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.chdir(place)
        (place / "people.csv").write_text(PEOPLE)
        (place / "c.csv").write_text(CHANNEL)
        (place / "p.csv").write_text("x,0.25\ny,0.25\nz,0.5\n")
        (place / "s.csv").write_text(SAMPLES)
        (place / "p.py").write_text("print(1)\n")
        (place / "policy.toml").write_text("[threshold]\nshare = 0.5\n")
        yield place
        os.chdir(before)


def answered(work):
    """Do something; an error of ours is an answer, if it says something. Anything else fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work()
        except NarcissusError as error:
            said = str(error)
    assert said.strip()
    assert len(said) < 20_000
    return None


def play(study):
    Path("s.toml").write_text(document(study), encoding="utf-8", errors="surrogatepass")
    loaded = answered(lambda: narcissus.load_study("s.toml"))
    if loaded is None:
        return
    run = getattr(loaded.settings, "run", None)
    trials = (getattr(run, "trials", 1) or 1) * getattr(run, "fresh", 1)  # None: the usual number
    targets = getattr(getattr(loaded.settings, "threat", None), "targets", 1)
    if loaded.kind == "extraction" or trials > 100 or targets > 50:
        return  # long work, and no question of input any more
    audit = answered(lambda: narcissus.run(loaded, rng=1, hours=0.0005, workers=1))
    if audit is not None:
        assert answered(lambda: render_html(audit.record))
        assert answered(lambda: render_text(audit.record))
        Path("r.json").write_text(audit.record.to_json())
        assert read_record("r.json") == audit.record


@pytest.mark.parametrize("study", [TABLE, SEVERAL, *CHANNELS, EXTRACTION, *GAMES])
def test_what_is_changed_is_a_study_before(study):
    """One that is refused at its first mistake is never tried beyond it."""
    Path("s.toml").write_text(document(study))
    narcissus.load_study("s.toml")


EXTREMES = [1e308, -1e308, 5e-324, 1e10, math.nan, math.inf, 10**400, 2**63, -0.0]


def numbers_in(value, path=()):
    """Yield the path of every number within a value."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in inner:
            yield from numbers_in(part, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


@pytest.mark.parametrize("study", [TABLE, SEVERAL, *CHANNELS, EXTRACTION, *GAMES])
def test_every_number_of_a_study_at_its_extremes(study):
    for path in numbers_in(study):
        for number in EXTREMES:
            changed_study = copy.deepcopy(study)
            section = changed_study
            for key in path[:-1]:
                section = section[key]
            section[path[-1]] = number
            Path("s.toml").write_text(document(changed_study))
            answered(lambda: narcissus.load_study("s.toml"))


@pytest.mark.parametrize("key", ["seconds", "memory", "output", "disk", "release"])
@pytest.mark.parametrize("number", [1e308, 2e12, 10**15, -1, 0])
def test_a_limit_beyond_what_a_system_takes_is_refused_with_its_key(key, number):
    """Systems wait for no longer time, and count in 63 bits."""
    limits = {**EXTRACTION["limits"], key: number}
    Path("s.toml").write_text(document({**EXTRACTION, "limits": limits}))
    with pytest.raises(NarcissusError, match=rf"`limits\.{key}`: must be") as failure:
        narcissus.load_study("s.toml")
    assert "\n" not in str(failure.value)


@fuzzed(60, 25_000, study=changed([TABLE, SEVERAL]))
def test_studies_of_tables(study):
    play(study)


@fuzzed(60, 12_000, study=changed(CHANNELS))
def test_studies_of_channels(study):
    play(study)


@fuzzed(50, 12_000, study=changed(GAMES))
def test_games(study):
    play(study)


@pytest.mark.parametrize("k", [7, 10, 2**31, 2**33, 2**63])
def test_more_places_than_there_are(k):
    """The number of their values, 2 ** k, was computed to its last bit: a gigabyte at 2 ** 33."""
    play({**GAMES[2], "success": {"name": "pinned", "k": k}})
    tracemalloc.start()
    try:
        play({**GAMES[0], "success": {"name": "pinned", "k": k}})
        assert tracemalloc.get_traced_memory()[1] < 500_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n", [10_000, 10**7, 10**9, 2**63, 10**400])
def test_worlds_of_any_size(n):
    """The number of data sets, 2 ** n, was computed to its last digit."""
    play({**GAMES[2], "world": {"name": "bits", "n": n}, "run": {"trials": 1, "seed": 1}})


@fuzzed(40, 6_000, study=changed([EXTRACTION]))
def test_studies_of_extraction(study):
    play(study)


@fuzzed(
    120,
    15_000,
    content=spoiled(st.just(PEOPLE.encode()) | st.just(CHANNEL.encode()) | csv_bytes()),
    name=st.sampled_from(["t.csv", "t.csv.gz", "t.tsv", "t.txt"]),
    missing=st.sampled_from(["refuse", "drop", "category"]),
    packed=st.booleans(),
)
def test_tables_and_channels(content, name, missing, packed):
    path = Path(name)
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    table = answered(lambda: read_table(path, missing=missing))
    if table is not None:
        assert not any("\0" in label for labels in table.labels for label in labels)
    answered(lambda: analyse(read_channel(path)))
    answered(lambda: read_prior(path))
    answered(lambda: read_samples(path))


@cache
def records():
    """Give a record of each kind, as plain values."""
    found = []
    for study in (TABLE, {**TABLE, "mechanism": {"k": 2, "mu": 1.0}}, *CHANNELS, *GAMES[:2]):
        Path("s.toml").write_text(document(study))
        found.append(narcissus.run(narcissus.load_study("s.toml"), rng=1).to_dict())
    return found


@fuzzed(40, 8_000, data=st.data(), seal=st.integers(0, 9))
def test_records(data, seal):
    record = data.draw(changed(records()))
    if seal:
        try:
            record["digest"] = digest_of(record)
        except (TypeError, ValueError):
            record["digest"] = "sha256:" + "0" * 64
    Path("record.json").write_text(json.dumps(record, default=str), errors="surrogatepass")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code, err = command(["report", "record.json", "--out", "r.html"])
        assert code in {0, 2}, err
        code, err = command(["report", "record.json", "--text"])
        assert code in {0, 2}, err


OPTIONS = {
    "audit": ["--seed", "--workers", "--policy", "--records", "--allow-code", "--json", "--yes"],
    "bound": ["--epsilon", "--delta", "--prior", "--targets", "--mu", "--json", "--confidence"],
    "protect": ["--prior", "--advantage", "--delta", "--json", "--targets", "--share"],
    "refute": ["--canaries", "--guesses", "--correct", "--delta", "--json", "--confidence"],
    "channel": ["--mechanism", "--prior", "--uses", "--json", "--tolerance"],
    "estimate": ["--secret", "--confidence", "--seed", "--json"],
    "profile": ["--epsilon", "--limit", "--delta", "--smallest", "--values", "--json"],
    "report": ["--text", "--out", "--schema"],
    "init": ["--example", "--schema", "--parts", "--json", "--out"],
}


def command(arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as left:
            assert "Traceback" not in err.getvalue(), err.getvalue()
            return left.code, err.getvalue()
    raise AssertionError("the command did not exit")


SAFE = st.one_of(
    WORDS.filter(lambda w: not w.startswith("-") and "\0" not in w),  # no system passes a zero
    NUMBERS.map(str),
    st.sampled_from(["1", "0.5", "100", "c.csv", "s.csv", "people.csv", "policy.toml", "0.01"]),
)


@fuzzed(
    100,
    10_000,
    name=st.sampled_from(sorted(OPTIONS)),
    data=st.data(),
)
def test_options(name, data):
    arguments = [name]
    for option in data.draw(st.lists(st.sampled_from(OPTIONS[name]), max_size=4)):
        arguments.append(option)
        if option in {"--out", "--records"}:
            arguments.append("written")
        elif data.draw(st.integers(0, 4)):
            arguments.append(data.draw(SAFE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code, err = command(arguments)
    assert code in {0, 1, 2, 3}, err


LINES = [
    line.split()
    for line in (
        "bound --epsilon=1 --delta=1e-5 --prior=0.1 --targets=50",
        "bound --mu=1 --prior=0.1 --targets=50 --at-least=10",
        "bound --rho=0.5 --prior=0.1 --targets=20",
        "bound --epsilon=1 --bits=10 --targets=5 --confidence=0.9",
        "bound --epsilon=1 --prior=0.1 --targets=50 --guesses=20",
        "protect --prior=0.1 --advantage=0.05 --delta=1e-5",
        "protect --prior=0.1 --targets=50 --at-most=10 --confidence=0.9",
        "refute --canaries=1000 --guesses=100 --correct=75 --delta=1e-5 --values=4",
        "channel c.csv --repeat=2 --tolerance=1e-9",
        "estimate s.csv --confidence=0.9 --seed=1",
    )
]
MECHANISMS = [
    "exponential:values=3,epsilon=1",
    "geometric:values=3,rate=1",
    "randomized-response:values=3,epsilon=1",
    "subset:values=5,size=2,epsilon=1",
    "unary:values=4,epsilon=1",
    "laplace:span=1,epsilon=1",
]
LARGE = [2**31, 2**63, 2**64, 10**30, 10**400, 1e308, 1e16, math.inf]


@fuzzed(20, 4_000, line=st.sampled_from(LINES), data=st.data())
def test_options_of_any_size(line, data):
    """Of a command that works, one or two numbers are others."""
    arguments = list(line)
    places = [i for i, word in enumerate(line) if "=" in word]
    for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=2)):
        name, _, _ = arguments[place].partition("=")
        arguments[place] = f"{name}={data.draw(NUMBERS)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code, err = command(arguments)
    assert code in {0, 1, 2, 3}, err


@pytest.mark.parametrize("number", LARGE)
@pytest.mark.parametrize("line", LINES[:5], ids=" ".join)
@pytest.mark.one_in(4)
def test_any_number_of_targets(line, number):
    """Whole numbers above 2 ** 63 fit no array, and those of 2 ** 31 entries no memory."""
    arguments = [w if not w.startswith("--targets") else f"--targets={number}" for w in line]
    code, err = command(arguments)
    assert code in {0, 2}, err
    assert "not enough memory" not in err


@pytest.mark.parametrize("number", LARGE)
@pytest.mark.parametrize("text", MECHANISMS)
@pytest.mark.one_in(4)
def test_mechanisms_of_any_size(text, number):
    first, _, rest = text.partition(",")
    name = first.partition("=")[0]
    for more in ([], ["--repeat=3"]):
        code, err = command(["channel", f"--mechanism={name}={number},{rest}", *more])
        assert code in {0, 2}, err
        assert "not enough memory" not in err


def test_numbers_of_uses_canaries_and_draws():
    Path("g.toml").write_text(document(GAMES[0]))
    for line in (
        f"channel c.csv --repeat={2**64}",
        f"refute --canaries={2**64} --guesses={2**63} --correct=75",
        f"profile g.toml --sample={2**31}",
    ):
        code, err = command(line.split())
        assert code == 2, err
        assert "not enough memory" not in err
