"""Every guarantee says of which program it is, down to the last line that is printed."""

import inspect
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from narcissus import bounds, channels, guarantees
from narcissus.channels.channel import AS_WRITTEN
from narcissus.guarantees import Guarantee, PureDP, risk_of
from narcissus.guarantees.base import DECLARED, EXACT_NOISE, NOTHING_ELSE, ProfileGuarantee
from narcissus.mechanisms import RandomizedResponse
from narcissus.mechanisms.table.base import Columns
from narcissus.study.registry import ROOMS

MARK = "the program wears a mark"
SETTINGS = {
    "alpha": 3.0, "gamma": 0.5, "rho": 0.1, "mu": 1.0, "epsilon": 1.0, "delta": 1e-5,
    "beta_star": 0.9, "points": (0.0, 1.0), "deltas": (0.4, 0.0),
}  # fmt: skip
"""An allowed value of each parameter of a guarantee; a new one needs its own."""


def kinds(base=Guarantee):
    for kind in base.__subclasses__():
        base_class = inspect.isabstract(kind) or kind.__name__.startswith("_")
        if not base_class and kind is not ProfileGuarantee:
            yield kind
        yield from kinds(kind)


def made(kind):
    wanted = [
        name for name, one in inspect.signature(kind).parameters.items()
        if one.kind is not one.KEYWORD_ONLY and one.default is one.empty
    ]  # fmt: skip
    return kind(*(SETTINGS[name] for name in wanted))


KINDS = sorted({kind for kind in kinds() if kind.__module__.startswith("narcissus.")}, key=str)


def test_there_are_guarantees_to_look_at():
    assert {PureDP, guarantees.GaussianDP, guarantees.ProfileCurve} < set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_guarantee_asks_the_program_to_keep_it(kind):
    """For its neighbours, over all releases, with rounded noise."""
    declared = made(kind)
    assert declared.assumed == (declared.describe(), *DECLARED)
    assert "neighbours" in declared.assumed[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_the_program_goes_wherever_the_guarantee_goes(kind, adjacency):
    """Conversions, bounds on one and many, rates, beliefs, beta* and numbers of people keep it."""
    once = replace(made(kind), adjacency=adjacency, program=(MARK,))
    asked = guarantees.as_asked(once, "value")
    derived = [asked, guarantees.as_asked(once, "membership"), guarantees.as_replace_one(once)]
    derived.append(guarantees.as_approximate(asked, delta=0.2))
    assert all(one.required == (MARK,) for one in derived)
    said = [channels.from_guarantee(asked)]
    for danger in (
        bounds.threat(prior=0.1),
        bounds.threat(values=[0.6, 0.3, 0.1], targets=20),
        bounds.threat(prior=0.1, targets=20),
    ):
        said += bounds.bounds_on(danger, asked)
        said.append(bounds.at_most(danger, asked, 0.9))
        if danger.targets > 1:
            said += bounds.bounds_on(danger, asked, 15)
    found = risk_of(once, 0.1)
    said += [found.belief, found.tpr, found.advantage, bounds.precision(asked, 0.5, 0.1)]
    trivial = "every target may be reconstructed"
    silent = [x.theorem for x in said if MARK not in x.assumptions and x.theorem != trivial]
    assert not silent
    assert f"assuming {MARK}" in str(found)


COLUMNS = Columns(
    ("a", "b", "c"), (("0", "1"), ("0", "1", "2"), ("0", "1")), (False, False, False), (2,)
)
NOISY = {
    "marginals": [{"epsilon": 1.0}, {"epsilon": 1.0, "noise": "laplace"}],
    "tables": [{"epsilon": 1.0, "sets": [["a", "c"]]}],
    "tree-mst": [{"epsilon": 1.0}],
    "opendp-synthesizer": [{"epsilon": 1.0}, {"rho": 0.1}],
    "count-queries": [{"questions": 3, "epsilon": 1.0}, {"questions": 1, "mu": 1.0}],
    "sparse-vector": [{"epsilon": 1.0}, {"epsilon": 1.0, "algorithm": "lee-clifton"}],
    "adaptive-composition": [{"parts": [RandomizedResponse(0.5)], "questions": 3}],
    "fine-tune": [{"epsilon": 1.0, "learning_rate": 0.1}],
    "ngram-dp-sgd": [
        {"epsilon": 1.0, "learning_rate": 0.1},
        {"epsilon": 1.0, "learning_rate": 0.1, "sensitivity": "softmax"},
    ],
}
"""Options with which a mechanism of a study is one of noise that has a guarantee."""
DECLARE = {"command", "opendp"}
"""What runs a program of the user's: `assumes` says that nobody checks it."""
SILENT = {
    "bootstrap": {},
    "copula": {},
    "microdata": {},
    "random-rounding": {"base": 5},
    "rounding": {"base": 5},
    "suppression": {"threshold": 5},
    "swapping": {"rate": 0.1},
}
"""Mechanisms of tables that guarantee nothing."""


def loaded(room, name):
    module, _, attribute = ROOMS[room].parts[name].partition(":")
    return getattr(import_module(module), attribute)


def guarantee_of(room, name, options):
    mechanism = loaded(room, name)(**options)
    if room == "table-mechanism":
        return mechanism.prepare(COLUMNS).guarantee
    if room == "mechanism":
        return mechanism.promise(np.zeros((1, 4), dtype=np.uint8))
    return mechanism.trained_on(np.full(4, 0.25)).training.guarantee


def test_each_mechanism_with_a_guarantee_is_looked_at():
    of_games = {n for n in ROOMS["mechanism"].parts if hasattr(loaded("mechanism", n), "promise")}
    of_tables = set(ROOMS["table-mechanism"].parts) - DECLARE - set(SILENT)
    assert of_games | of_tables | set(ROOMS["secret-mechanism"].parts) == set(NOISY)
    for name, options in SILENT.items():
        assert loaded("table-mechanism", name)(**options).prepare(COLUMNS).guarantee is None


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name in NOISY for options in NOISY[name]]
)
def test_a_mechanism_says_what_its_program_must_do(name, options):
    """Its noise, and that nothing else is told; what OpenDP computes is OpenDP's to keep."""
    if name.startswith("opendp"):
        pytest.importorskip("mbi")
    room = next(room for room in ROOMS if "mechanism" in room and name in ROOMS[room].parts)
    program = guarantee_of(room, name, options).program
    assert any("computer rounds" in text for text in program)
    assert any(text.startswith("nothing else") for text in program)
    assert program[0] not in {EXACT_NOISE, NOTHING_ELSE}


def test_limits_of_channels_say_what_the_release_must_do():
    one = channels.channel([[0.75, 0.25], [0.25, 0.75]])
    laplace = channels.closed_forms.laplace(epsilon=0.1)
    found = [
        channels.mixed_security([(one, 3)]),
        channels.mixed_security([(one, 3)], most=1),
        channels.mixed_security([(laplace, 3)]),
        channels.shuffled_security(channels.KaryRandomizedResponse(10, 1.0), 100),
    ]
    assert all(AS_WRITTEN in one.assumptions for one in found)
    assert all(f"assuming {AS_WRITTEN}" in str(one) for one in found)
    assert all(AS_WRITTEN in str(channels.analyse(one)) for one in (one, laplace))
