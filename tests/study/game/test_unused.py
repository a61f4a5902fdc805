"""Every key of a game changes what comes out, or is refused by its name: none is ignored."""

from __future__ import annotations

import pytest

from narcissus.errors import NarcissusError
from narcissus.study.game.schema import Exact, GameRun, Privacy
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import options_of

SEEDED = {"trials": 150, "seed": 1}
BITS = {
    "world": {"name": "bits", "n": 4, "rate": 0.1},
    "mechanism": {"name": "identity"},
    "success": {"name": "prefix"},
    "attack": [{"name": "released-row", "row": "all"}],
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
    "attack": [{"name": "parity-membership"}],
    "statement": {"name": "memorizing", "m": 1, "xi": 0.1},
}
RECORDS = BITS | {
    "world": {"name": "records", "n": 3, "probabilities": [0.25] * 4},
    "mechanism": {"name": "exact-average"},
    "success": {"name": "isolates"},
    "attack": [{"name": "bayes"}],
    "statement": {"name": "singling-out", "w_max": 0.6},
}
TOLD = BITS | {
    "world": {"name": "tardos", "N": 12, "d": 12, "n": 4},
    "success": {"name": "hamming", "gamma": 0.25},
    "attack": [{"name": "released-row"}],
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
        "bits": 9.0,
        "fresh_share": 0.3,
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
]


@pytest.mark.parametrize(("base", "section", "key", "said"), REFUSED)
def test_what_is_not_used_is_refused_with_the_reason(keys, base, section, key, said):
    with pytest.raises(NarcissusError) as refused:
        keys("game").outcome(GAMES[base], section, key, OTHER[section][key])
    assert said in str(refused.value)
    assert "leave" in str(refused.value)


@pytest.mark.parametrize("base", ["finite", "told"])
def test_fresh_data_sets_are_drawn_where_no_formula_is_known(keys, base):
    game = keys("game")
    assert game.outcome(GAMES[base], "run", "fresh", 3) != game.outcome(GAMES[base])


def test_every_key_of_these_sections_is_tried():
    for section, model in (("exact", Exact), ("privacy", Privacy), ("run", GameRun)):
        keys = {key for key, field in model.model_fields.items() if not field.exclude}
        assert set(OTHER[section]) == keys
    options = {key for name in ROOMS["statement"].parts for key in statement_options(name)}
    assert set(OTHER["statement"]) == options


@pytest.mark.parametrize(("base", "section", "key"), CASES)
def test_no_key_of_a_game_is_ignored(keys, base, section, key):
    assert keys("game").is_used_or_refused(GAMES[base], section, key, OTHER[section][key])
