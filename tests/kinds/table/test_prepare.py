"""A study made ready: what is read, what is refused before the work."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import narcissus as library
from narcissus.errors import InputError, TooLargeError
from narcissus.kinds.table import experiment as experiments
from narcissus.kinds.table.kind import prepare
from narcissus.study import load_study
from narcissus.tables import read_table

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
        ({"attacks": {"a": {"name": "own:Told"}}}, ["`a`", "informed"]),
        (
            {"attacks": {"nearest": {}}},
            ["such as prior, posterior, stack (`narcissus init --parts table-attack`"],
        ),
        ({"attacks": {"a": {"name": "own:NoGuess"}}}, ["`a`", "`guess`"]),
        ({"attacks": {"a": {"name": "own:Owm"}}}, ["`Own`"]),
        (
            {"attacks": {"a": {"name": "own:Own", "x": 1}}},
            ["`attacks.a.x`", "the options answer"],
        ),
        ({"prior": {"name": "own:Unnormalised"}}, ["sum to 1", "2"]),
        ({"prior": {"name": "own:OtherSizes"}}, ["own:OtherSizes", "values"]),
        ({"prior": {"name": "own:failing"}}, ["own:failing", "no such thing", "own.py, line"]),
        ({"prior": {"name": "own:NUMBER"}}, ["own", "NUMBER"]),
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
        ({"prior": {"name": "own:Prior"}}, r"Prior has no `factors`.*tables/priors"),
        (
            {
                "attacks": {"nearest": {}},
                "mechanism": {"name": "bootstrap", "k": None, "epsilon": None},
            },
            "attack `nearest` lists joint values.*prior, posterior, gibbs, rap, ceiling or an own",
        ),
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


MODULE = importlib.import_module("narcissus.kinds.table.kind")  # a function has the same name


@pytest.fixture
def counting(monkeypatch):
    """Let studies count their tables, however small; give a list of what was read."""
    read = []

    def counted(*args, **options):
        read.append(options)
        return read_table(*args, **options, count_above=0)

    monkeypatch.setattr(MODULE, "read_table", counted)
    return read


def played(path):
    record = library.run(library.load_study(path), rng=5).record
    return record.to_dict()


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": {"columns": ["ill", "sex"], "unusual": True, "singled_out": True}},
        {"threat": {"people": "rows"}},
        {"threat": {"people": "all", "targets": None}, "run": {"trials": 2}},
        {"prior": {"name": "empirical"}},
        {"prior": {"name": "independent"}},
    ],
)
def test_a_counted_table_gives_the_same_results(study, counting, monkeypatch, changes):
    """Real rows are drawn by place, so the rows of the plain table are put in the same order.

    That order is not the file's, which a counted table still knows: the order is declared hidden.
    """
    changes = {**changes, "threat": {**changes.get("threat", {}), "order_hidden": True}}
    found = played(study(**changes))
    assert any("distinct records" in text for text in found["assessed"])
    monkeypatch.setattr(
        MODULE, "read_table", lambda *args, **options: in_order(read_table(*args, **options))
    )
    plain = played(study(**changes))
    assert found["result"] == plain["result"]
    assert found["assessed"][:-1] == plain["assessed"]


def in_order(table):
    return replace(table, codes=table.codes[np.lexsort(table.codes.T[::-1])])


def test_a_counted_table_is_read_once_as_long_as_its_file_stays(study, counting):
    loaded = library.load_study(study())
    assert len(counting) == 1
    first = prepare(loaded.settings, loaded.folder, 1).table
    assert prepare(loaded.settings, loaded.folder, 1).table is first
    assert len(counting) == 1
    path = Path("people.csv")
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    assert prepare(loaded.settings, loaded.folder, 1).table.rows == first.rows + 1


def test_the_most_rows_are_a_key_of_the_study(study):
    assert "max_rows" not in library.load_study(study()).to_dict()["data"]
    path = study(data={"max_rows": 3})
    with pytest.raises(TooLargeError, match="at most 3 are read"):
        library.load_study(path)
    assert (
        library.load_study(study(data={"max_rows": 10**6})).to_dict()["data"]["max_rows"] == 10**6
    )
