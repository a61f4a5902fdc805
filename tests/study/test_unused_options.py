"""Every key of a study changes what comes out, or is refused by its name: none is ignored."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from narcissus import load_study, run
from narcissus.errors import NarcissusError
from narcissus.study.channel.schema import ChannelRun, ChannelSpec, ChannelThreshold
from narcissus.study.game.schema import Exact, GameRun, Privacy
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import options_of

SEEDED = {"trials": 150, "seed": 1}
BITS = {
    "world": {"name": "bits", "n": 4, "rate": 0.1},
    "mechanism": {"name": "identity"},
    "success": {"name": "prefix"},
    "attack": {"name": "released-row", "row": "all"},
    "statement": {"name": "narcissus", "epsilon": 0.5},
    "run": SEEDED,
}
PAIRS = BITS | {
    "world": {"name": "neighbours", "n": 2},
    "success": {"name": "prefix", "length": 2},
    "mechanism": {"name": "randomized-response", "epsilon": 3.0},
    "statement": {"name": "pairs", "epsilon": 0.2},
}
MEMBERS = BITS | {
    "world": {"name": "uniform", "n": 2, "d": 4},
    "mechanism": {"name": "parity"},
    "success": {"name": "random-row"},
    "attack": {"name": "parity-membership"},
    "statement": {"name": "memorizing", "m": 1, "xi": 0.1},
}
RECORDS = BITS | {
    "world": {"name": "records", "n": 3, "probabilities": [0.25] * 4},
    "mechanism": {"name": "exact-average"},
    "success": {"name": "isolates"},
    "attack": {"name": "bayes"},
    "statement": {"name": "singling-out", "w_max": 0.6},
}
TOLD = BITS | {
    "world": {"name": "tardos", "N": 12, "d": 12, "n": 4},
    "success": {"name": "hamming", "gamma": 0.25},
    "attack": {"name": "released-row"},
    "side-information": {"name": "rates"},
    "statement": {"name": "surprisal", "share": 0.9},
}
FINITE = BITS | {"world": {"name": "finite", "data": [[0, 0], [0, 1], [1, 1]]}}
UNPLAYED = {k: v for k, v in BITS.items() if k not in ("attack", "run")}
GAMES = {
    "bits": BITS,
    "pairs": PAIRS,
    "members": MEMBERS,
    "records": RECORDS,
    "told": TOLD,
    "finite": FINITE,
    "never": BITS | {"exact": {"when": "never"}},
    "unplayed": UNPLAYED,
    "fixed": BITS | {"statement": {"name": "fixed-baseline", "epsilon": 0.5}},
    "threshold": BITS | {"statement": {"name": "threshold", "epsilon": 0.05, "tau": 0.5}},
}
OTHER = {
    "exact": {"when": "never", "limit": 1, "epsilons": [0.33], "abstain": False, "memorized": True},
    "privacy": {"epsilon": 0.4, "delta": 0.01},
    "run": {"trials": 37, "fresh": 3, "confidence": 0.8, "seed": 7, "stop": False},
    "statement": {
        "epsilon": 0.07,
        "delta": 0.01,
        "share": 0.3,
        "best": 0.95,
        "tau": 0.05,
        "w_max": 0.3,
        "points": 1,
        "m": 2,
        "xi": 0.2,
    },
}


def statement_options(name):
    return options_of(loaded(ROOMS["statement"].parts[name]))


CASES = [
    (base, section, key)
    for base, study in GAMES.items()
    for section, keys in OTHER.items()
    for key in keys
    if (base, key) != ("never", "when")
    and (section != "statement" or key in statement_options(study["statement"]["name"]))
]


def toml(kind, sections):
    lines = [f'kind = "{kind}"']
    for name, section in sections.items():
        lines.append(f"[[{name}]]" if name == "attack" else f"[{name}]")
        lines += [f"{key} = {inline(value)}" for key, value in section.items()]
    return "\n".join(lines)


def inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def outcome(folder, kind, sections):
    path = folder / "study.toml"
    path.write_text(toml(kind, sections), encoding="utf-8")
    audit = run(load_study(path))
    results = {k: v for k, v in audit.results.items() if k != "statement"}
    results["tested"] = audit.results.get("statement", {}).get("words")
    left = [str(remark) for remark in audit.record.not_assessed]
    said = [audit.status, audit.verdict, audit.record.assumptions, left, results]
    return json.dumps(said, default=str)


def changed(sections, section, key, value):
    other = copy.deepcopy(sections)
    if section == "privacy":
        other[section] = {"epsilon": 0.4}
    other.setdefault(section, {})[key] = value
    return other


def used_or_refused(folder, kind, sections, section, key, value):
    """Say how a key was received: "used", "refused", or "ignored"."""
    before = outcome(folder, kind, sections)
    try:
        if (section, key) == ("privacy", "delta"):
            before = outcome(folder, kind, changed(sections, section, "epsilon", 0.4))
        after = outcome(folder, kind, changed(sections, section, key, value))
    except NarcissusError as error:
        return "refused" if key in str(error) or section in str(error) else f"unclear: {error}"
    return "ignored" if after == before else "used"


def channel_files(folder):
    (folder / "c.csv").write_text("secret,x,y\na,0.9,0.1\nb,0.2,0.8\n")
    (folder / "off.csv").write_text("secret,x,y\na,0.9,0.101\nb,0.2,0.8\n")
    (folder / "p.csv").write_text("a,0.25\nb,0.75\n")
    rng = np.random.default_rng(0)
    rows = [
        f"{s},{s if rng.random() < 0.8 else 1 - s},{rng.integers(3)}"
        for s in rng.integers(2, size=500)
    ]
    (folder / "s.csv").write_text("\n".join(["first,output,second", *rows]))


CHANNELS = {
    "file": {"channel": {"file": "c.csv"}},
    "mechanism": {
        "channel": {"mechanism": {"name": "randomized-response", "values": 4, "epsilon": 1}}
    },
    "samples": {"channel": {"samples": "s.csv", "secret": "first"}, "run": {"seed": 1}},
}
OTHER_CHANNEL = {
    "channel": {
        "file": "c.csv",
        "mechanism": {"name": "randomized-response", "values": 5, "epsilon": 1},
        "samples": "s.csv",
        "secret": "second",
        "estimators": ["frequency"],
        "prior": "p.csv",
        "tolerance": 1e-6,
        "uses": 2,
    },
    "threshold": {"beta_star": 0.99, "bayes_risk": 0.99},
    "run": {"confidence": 0.8, "seed": 7},
}


@pytest.mark.parametrize("base", CHANNELS)
@pytest.mark.parametrize(
    ("section", "key"), [(s, key) for s, keys in OTHER_CHANNEL.items() for key in keys]
)
def test_no_key_of_a_channel_is_ignored(tmp_path, base, section, key):
    channel_files(tmp_path)
    sections, value = CHANNELS[base], OTHER_CHANNEL[section][key]
    if (base, key) == ("file", "tolerance"):  # only a file whose rows are off shows it
        sections = {"channel": {"file": "off.csv", "tolerance": 0.005}}
    if sections.get(section, {}).get(key) != value:
        found = used_or_refused(tmp_path, "channel", sections, section, key, value)
        assert found in ("used", "refused")


def test_every_key_of_a_channel_is_tried():
    words = {"reason", "origin"}  # they stand in the record as they are
    for section, model in (
        ("channel", ChannelSpec),
        ("threshold", ChannelThreshold),
        ("run", ChannelRun),
    ):
        assert set(OTHER_CHANNEL[section]) | words >= set(model.model_fields)


REFUSED = [
    ("never", "exact", "limit", '`exact.limit` is not used with `exact.when = "never"`'),
    ("never", "exact", "epsilons", '`exact.epsilons` is not used with `exact.when = "never"`'),
    ("never", "exact", "abstain", '`exact.abstain` is not used with `exact.when = "never"`'),
    ("never", "exact", "memorized", '`exact.memorized` is not used with `exact.when = "never"`'),
    ("members", "exact", "when", "`exact.when` is not used with the statement `memorizing`"),
    ("told", "exact", "epsilons", "`exact.epsilons` is not used: "),
    ("bits", "privacy", "epsilon", "are about data sets that differ in one record"),
    ("threshold", "privacy", "epsilon", "no theorem takes it to the statement `threshold`"),
    ("bits", "run", "fresh", "`run.fresh` is not used: "),
    ("pairs", "run", "fresh", "`run.fresh` is not used: "),
    ("unplayed", "run", "trials", "`run.trials` is not used: the study has no [[attack]]"),
    ("mechanism", "run", "seed", "nothing is sampled, so `run.seed` is not used: leave it out"),
    ("file", "run", "confidence", "so `run.confidence` is not used: leave it out"),
]


@pytest.mark.parametrize(("base", "section", "key", "said"), REFUSED)
def test_what_is_not_used_is_refused_with_the_reason(tmp_path, base, section, key, said):
    channel_files(tmp_path)
    kind = "game" if base in GAMES else "channel"
    sections = {**GAMES, **CHANNELS}[base]
    value = {**OTHER_CHANNEL, **OTHER}[section].get(key, 0.8)
    with pytest.raises(NarcissusError) as refused:
        outcome(tmp_path, kind, changed(sections, section, key, value))
    assert said in str(refused.value)
    assert "leave" in str(refused.value)


@pytest.mark.parametrize("base", ["finite", "told"])
def test_fresh_data_sets_are_drawn_where_no_formula_is_known(tmp_path, base):
    more = changed(GAMES[base], "run", "fresh", 3)
    assert outcome(tmp_path, "game", more) != outcome(tmp_path, "game", GAMES[base])


def test_every_key_of_these_sections_is_tried():
    for section, model in (("exact", Exact), ("privacy", Privacy), ("run", GameRun)):
        assert set(OTHER[section]) == set(model.model_fields)
    options = {key for name in ROOMS["statement"].parts for key in statement_options(name)}
    assert set(OTHER["statement"]) == options


@pytest.mark.parametrize(("base", "section", "key"), CASES)
def test_no_key_of_a_game_is_ignored(tmp_path, base, section, key):
    value = OTHER[section][key]
    assert used_or_refused(tmp_path, "game", GAMES[base], section, key, value) in (
        "used",
        "refused",
    )
