"""An audit by plain arguments is the audit of a file that says the same."""

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.audits.of_table import SECTIONS, audit
from narcissus.errors import InputError, LongWorkError, StudyError
from narcissus.kinds.table.kind import KIND
from narcissus.observer import SilentObserver
from narcissus.priors import fit_independent
from narcissus.study import study_kind

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_arguments_and_a_file_give_the_same_numbers(tmp_path):
    """The affairs example, smaller: as a file that names the table, and as a data frame."""
    fair = (
        pytest.importorskip("statsmodels.datasets", reason="the extra `examples` is not installed")
        .fair.load_pandas()
        .data
    )
    text = (EXAMPLES / "affairs.toml").read_text(encoding="utf-8")
    for old, new in (
        (r"targets = 100\b", "targets = 12"),
        (r"epsilon = \[.*\]", "epsilon = [1, inf]"),
        (r"gibbs = .*\n", ""),
        (r"rap = .*", "rap = { trials = 1, steps = 20 }"),
        (r"rap-from-prior = .*\n", ""),
        (r"trials = 200", "trials = 3\nworkers = 1"),
    ):
        text, found = re.subn(f"^{old}", new, text, flags=re.M)
        assert found == 1, old
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    of_file = narcissus.run(narcissus.load_study(tmp_path / "s.toml"))
    of_frame = audit(
        fair,
        bins={"affairs": narcissus.Bins(above=0)},
        unknown=["affairs"],
        targets=12,
        prior="bayesian-network",
        k=3,
        noise="gaussian",
        epsilon=[1, math.inf],
        delta=1e-5,
        attacks={"prior": {}, "posterior": {}, "rap": {"trials": 1, "steps": 20}, "ceiling": {}},
        bounds=[0.95, 0.5],
        threshold={
            "advantage": 0.10,
            "at": 1,
            "reason": "An example: no attacker may close more than a tenth of the gap to "
            "certainty.",
            "origin": "the authors of this example, not a recommendation",
        },
        groups=["rate_marriage"],
        trials=3,
        workers=1,
        rng=1,
    )
    assert of_frame.results == of_file.results
    data = [found.record.provenance.digests["data"] for found in (of_file, of_frame)]
    assert data[0] == data[1]


def test_whatever_a_file_can_say_has_an_argument():
    """Each section is an argument, or each of its keys is; what is read and played by besides."""
    arguments = set(inspect.signature(audit).parameters)
    for section, field in study_kind("table").model.model_fields.items():
        if section not in SECTIONS:
            assert section in arguments, section
            continue
        if section == "mechanism":  # whose keys are those of its part
            assert {*SECTIONS[section], section} <= arguments
            continue
        besides = {"data": {"path", "table"}, "run": {"seed", "engine", "scheduler"}}
        taken = besides.get(section, set())
        keys = set(field.annotation.model_fields) - taken
        assert keys == set(SECTIONS[section])
        assert keys <= arguments


@pytest.mark.parametrize(
    ("arguments", "section", "says"),
    [
        ({"known": ["age", "job", "income"], "unknown": None}, "threat", {"unknown": None}),
        ({"people": "rows"}, "threat", {"people": "rows"}),
        ({"unknown": ["income"], "within": {"income": 10}}, "threat", {"within": {"income": 10}}),
        ({"unknown": ["ill", "age"], "at_least": 1}, "threat", {"at_least": 1}),
        ({"drop": ["income"]}, "data", {"drop": ["income"]}),
        ({"columns": ("ill", "age")}, "data", {"columns": ["ill", "age"]}),
        ({"bins": {"income": {"above": 20}}}, "data", {"drop": []}),
        ({"missing": "category"}, "data", {"missing": "category"}),
        ({"noise": "laplace"}, "mechanism", {"noise": "laplace"}),
        ({"epsilon": None, "mu": np.float64(0.5)}, "mechanism", {"mu": 0.5}),
        ({"epsilon": None, "scale": np.array([1.0, 4.0])}, "mechanism", {"scale": [1.0, 4.0]}),
        ({"epsilon": None, "k": None, "mechanism": {"k": 2, "epsilon": 1}}, "mechanism", {"k": 2}),
        ({"prior": "independent"}, "prior", {"smoothing": 0.0}),
        ({"bounds": 0.8}, "bounds", {"confidence": 0.8}),
        ({"groups": {"unusual": False}}, "groups", {"unusual": False}),
        ({"confidence": 0.9}, "run", {"confidence": 0.9}),
        ({"threshold": {"share": 0.9}}, "threshold", {"share": 0.9}),
    ],
)  # fmt: skip
@pytest.mark.one_in(4)
def test_an_argument_reaches_its_section(quick, arguments, section, says):
    found = quick(attacks=["prior", "ceiling"], **{"trials": 2, **arguments})
    told = found.record.study[section]
    assert {key: told[key] for key in says} == says
    assert found.record.study["attacks"].keys() == {"prior", "ceiling"}


def test_a_frame_a_table_and_a_file_are_the_same_people(frame, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("people.csv", index=False)
    of_frame = quick()
    assert quick(narcissus.read_table(frame)).results == of_frame.results
    assert quick("people.csv").results == of_frame.results == quick(Path("people.csv")).results
    assert quick(narcissus.read_table(frame), drop=["job"]).results == quick(drop=["job"]).results
    with pytest.raises(InputError, match="no column `jbo`; did you mean `job`"):
        quick(narcissus.read_table(frame), drop=["jbo"])
    with pytest.raises(InputError, match="`bins` and `read_as` say how to read a file"):
        quick(narcissus.read_table(frame), bins={"income": {"above": 1}})


class Mine:
    """The best guess from the prior, or always the first value."""

    title, uses, informed = "mine", "prior", False

    def __init__(self, *, best=True):
        self.best = best

    def guess(self, view, *, rng):
        beliefs = view.targets.prior
        return beliefs.argmax(axis=1) if self.best else np.zeros(len(beliefs), dtype=int)


def test_own_attacks_and_priors_are_given_as_objects(frame, quick, tmp_path):
    given = {"prior": {}, "mine": Mine(), "first": {"name": Mine(best=False)}}
    own = quick(attacks=given, folder=tmp_path)
    [one] = KIND.judged(own.record).each
    shares = {name: attack.share for name, attack in one.result.attacks.items()}
    assert shares["mine"] == shares["prior"] != shares["first"]
    assert "python:attacks.mine" in own.record.study["attacks"]["mine"].values()
    digests = own.record.provenance.digests
    assert digests["object attacks.mine"] != digests["object attacks.first"]
    by_name = quick(prior="independent").results
    assert quick(prior=fit_independent(narcissus.read_table(frame))).results == by_name
    assert quick(prior=fit_independent).results == by_name


def test_own_objects_are_played_by_worker_processes(quick):
    attacks = {"mine": Mine(best=False), "ceiling": {}}
    alone, together = (quick(attacks=attacks, workers=workers) for workers in (1, 2))
    assert alone.results == together.results


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unkown": ["ill"]}, "no argument `unkown`; did you mean `unknown`"),
        ({"advantage": 0.1}, r"`advantage` belongs to `threshold`: write threshold=\{'adv"),
        ({"parents": 3}, r"option of `bayesian-network`: write prior=\{'name': 'bayes.*'parents'"),
        ({"sweeps": 3}, r"option of `gibbs`: write attacks=\{'gibbs': \{'sweeps': ...\}\}"),
        ({"seed": 3}, "the seed is `rng`"),
        ({"unknown": ["il"]}, "no column `il`; did you mean `ill`"),
        ({"unknown": "il"}, "no column `il`; did you mean `ill`"),
        ({"unknown": b"ill"}, "`unknown` must be a list of names, got b'ill'"),
        ({"targets": -1}, "`threat.targets`: must be above 0, got -1"),
        ({"targets": True}, "`threat.targets`: must be a whole number, got True"),
        ({"groups": "jo"}, "no column `jo`"),
        ({"groups": object()}, "`groups` must be a list of names"),
        ({"attacks": ["posterio"]}, "posterio.*did you mean `posterior`"),
        ({"prior": {"name": "empirical", "parents": 3}}, "`(prior.)?parents`.*empirical"),
        ({"k": None, "epsilon": None, "mechanism": [{"name": "rounding", "base": 5}]},
         "`mechanism` is one mechanism, got a list"),
        ({"mechanism": {"epsilon": 1.0}}, "give `mechanism` or `k`, not both"),
        ({"attacks": {"mine": object()}}, "has no `guess`"),
        ({"rng": -1}, "`rng` must be"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_the_argument(quick, arguments, message):
    with pytest.raises(InputError, match=message):
        quick(**arguments)


def test_data_that_is_none_is_refused():
    with pytest.raises(InputError, match=r"`data` must be a data frame.*got list"):
        audit([1, 2], unknown=["ill"], epsilon=1.0)
    with pytest.raises(StudyError, match="give exactly one of `unknown` and `known`"):
        audit(pd.DataFrame({"ill": [1, 2]}), epsilon=1.0)


def test_a_policy_is_read_from_the_current_folder(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text("[threshold]\nshare = 0.999\n")
    assert quick(policy="policy.toml").record.criteria[0].at_most == 0.999
    with pytest.raises(StudyError, match=r"policy\.tml"):
        quick(policy="policy.tml")


def test_code_by_name_needs_a_permission(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "class Mine:\n    title, uses, informed = 'mine', 'prior', False\n"
        "    def guess(self, view, *, rng):\n        return view.targets.prior.argmax(axis=1)\n"
    )
    Path("mine.py").write_text(text)
    attacks = {"prior": {}, "mine": {"name": "mine:Mine"}}
    with pytest.raises(InputError, match="runs its own code: mine:Mine"):
        quick(attacks=attacks)
    found = KIND.judged(quick(attacks=attacks, allow_code=True).record).each[0].result.attacks
    assert found["mine"].share == found["prior"].share


def test_a_run_continues_only_with_the_same_data_and_objects(frame, quick, tmp_path):
    attacks = {"mine": Mine(), "ceiling": {}}
    first = quick(folder=tmp_path / "out", attacks=attacks)
    assert quick(folder=tmp_path / "out", attacks=attacks).results == first.results
    with pytest.raises(narcissus.NarcissusError, match="another"):
        quick(folder=tmp_path / "out", attacks=attacks | {"mine": Mine(best=False)})
    with pytest.raises(narcissus.NarcissusError, match="another"):
        quick(frame.iloc[1:], folder=tmp_path / "out", attacks=attacks)


def test_the_options_of_a_run_are_passed_on(quick, tmp_path):
    heard = []

    class Hears(SilentObserver):
        def note(self, text):
            heard.append(text)

    out = tmp_path / "out"
    quick(folder=out, observer=Hears())
    assert heard
    with pytest.raises(narcissus.NarcissusError, match="another"):
        quick(folder=out, targets=5)
    assert quick(folder=out, targets=5, restart=True).record.study["threat"]["targets"] == 5
    quick(internal=tmp_path / "people.csv")
    assert (tmp_path / "people.csv").read_text().count("\n") > 12
    with pytest.raises(LongWorkError):
        quick(trials=100_000, hours=1e-6)
