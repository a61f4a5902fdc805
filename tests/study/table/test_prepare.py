"""A study made ready: what is read, what is refused before the work."""

from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.study import load_study
from narcissus.study.table import experiment as experiments

OWN = """
class Own:
    uses, informed, title = "prior and release", False, "own"
    def __init__(self, answer="posterior", factor=1):
        self.answer = answer
    def guess(self, view, *, rng):
        return [0] * view.targets.people

class Told(Own):
    informed = True

class NoGuess:
    title = uses = "x"
    informed = False

class Prior:
    def __init__(self, table):
        from narcissus.priors import fit_independent
        self.inner = fit_independent(table)
        self.names, self.sizes = self.inner.names, self.inner.sizes
    def sample(self, n, *, rng=None):
        return self.inner.sample(n, rng=rng)
    def conditional(self, codes, unknown):
        return self.inner.conditional(codes, unknown)
    def log_probability(self, codes):
        return self.inner.log_probability(codes)
    def describe(self):
        return "independent, by hand"

class Unnormalised(Prior):
    def conditional(self, codes, unknown):
        return 2 * self.inner.conditional(codes, unknown)

class OtherSizes(Prior):
    def __init__(self, table):
        super().__init__(table)
        self.sizes = self.sizes[:-1]

def failing(table):
    raise KeyError("no such thing")

NUMBER = 3
"""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"attacks": {"a": {"kind": "own:Told"}}}, ["`a`", "informed"]),
        (
            {"attacks": {"nearest": {}}},
            ["such as prior, posterior, stack (`narcissus schema parts table-attack`"],
        ),
        ({"attacks": {"a": {"kind": "own:NoGuess"}}}, ["`a`", "`guess`"]),
        ({"attacks": {"a": {"kind": "own:Owm"}}}, ["`Own`"]),
        (
            {"attacks": {"a": {"kind": "own:Own", "options": {"x": 1}}}},
            ["`attacks.a.x`", "the options answer"],
        ),
        ({"prior": {"kind": "own:Unnormalised"}}, ["sum to 1", "2"]),
        ({"prior": {"kind": "own:OtherSizes"}}, ["own:OtherSizes", "values"]),
        ({"prior": {"kind": "own:failing"}}, ["own:failing", "no such thing", "own.py, line"]),
        ({"prior": {"kind": "own:NUMBER"}}, ["own", "NUMBER"]),
    ],
)
def test_ones_own_classes_are_checked_before_the_work(study, narcissus, changes, says):
    Path("own.py").write_text(OWN)
    code, out, err = narcissus("audit", study(**changes), "--allow-code")
    assert (code, out) == (2, "")
    for words in says:
        assert words in err, err
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"prior": {"name": "empirical"}}, r"EmpiricalRows has no `factors`.*bayesian-network"),
        ({"prior": {"name": "own:Prior"}}, r"Prior has no `factors`.*tables-and-priors"),
        ({"attacks": {"rap": {}}}, "attack `rap` lists joint values.*prior, posterior, gibbs or"),
        ({"attacks": {"a": {"name": "own:Own"}}}, "attack `a` lists joint values"),
        (
            {"mechanism": {"name": "rounding", "base": 5, "k": 2, "epsilon": None}},
            "attack `posterior` reads noisy counts where there are 2 unknown columns",
        ),
    ],
)
def test_what_takes_a_list_of_joint_values_is_refused_where_there_are_too_many(
    study, monkeypatch, changes, says
):
    Path("own.py").write_text(OWN)
    monkeypatch.setattr(experiments, "MAX_JOINT", 5)
    path = study(threat={"unknown": ["ill", "job"]}, **changes)
    with pytest.raises(InputError, match=f"(?s){says}"):
        load_study(path, allow_code=True)
