"""The examples stand on their own: no path leads out of the project."""

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus.kinds.table.kind import KIND

ROOT = Path(__file__).resolve().parents[1]
# templates of parts run their own code, in tests of theirs (tests/test_extending.py)
TEMPLATES = ROOT / "examples" / "extending"
STUDIES = sorted(path for path in (ROOT / "examples").rglob("*.toml") if path.parent != TEMPLATES)
STUDIES += sorted(ROOT.glob("packages/*/examples/*/*.toml"))
# what is trained with PyTorch is loaded where that is there (tests/test_model_examples.py)
TORCH = ('name = "transformer"', 'name = "unet"')
READY = [p for p in STUDIES if not any(one in p.read_text(encoding="utf-8") for one in TORCH)]


def named(path):
    return (
        path.stem if path.is_relative_to(ROOT / "examples") else f"{path.parent.name}-{path.stem}"
    )


def texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("path", STUDIES, ids=named)
def test_no_path_of_an_example_leads_out_of_the_repository(path):
    for text in texts(tomllib.loads(path.read_text(encoding="utf-8"))):
        if "\n" in text or len(text) > 200:
            continue
        place = (path.parent / text).resolve()
        assert not Path(text).is_absolute(), text
        if ".." in Path(text).parts or place.exists():
            assert place.is_relative_to(ROOT), text


@pytest.mark.parametrize("path", READY, ids=named)
def test_every_example_is_ready_to_be_played(path):
    narcissus.load_study(path)


def test_the_shadow_models_are_what_the_program_trains(tmp_path):
    program = ROOT / "examples" / "membership" / "train.py"
    command = [sys.executable, str(program), str(tmp_path / "two.npz"), "--models", "2"]
    subprocess.run(command, check=True)
    with np.load(tmp_path / "two.npz") as made, np.load(program.with_name("shadows.npz")) as kept:
        assert kept["scores"].shape == kept["members"].shape == (64, 800)
        assert (made["members"] == kept["members"][:2]).all()
        assert (made["priors"] == kept["priors"]).all()
        # the last digits of a long training depend on the machine
        assert np.abs(made["scores"] - kept["scores"][:2]).max() < 1e-3


def test_every_table_is_described():
    described = (ROOT / "examples" / "data" / "README.md").read_text(encoding="utf-8")
    for table in (ROOT / "examples" / "data").iterdir():
        assert table.name == "README.md" or f"`{table.name}`" in described


def test_the_invented_people_are_as_their_program_makes_them():
    made = runpy.run_path(str(ROOT / "examples" / "data" / "invented_people.py"))
    assert made["table"]() == made["TARGET"].read_text(encoding="utf-8")


def played(name, **changes):
    """Play a shipped study of a release, of few people in few trials; give its settings."""
    study = tomllib.loads((ROOT / f"examples/releases/{name}.toml").read_text(encoding="utf-8"))
    data, threat = study["data"], {**study["threat"], "targets": 60, **changes}
    audit = narcissus.audit(
        data.pop("table"),
        **data,
        **threat,
        mechanism=study["mechanism"],
        attacks=study["attacks"],
        trials=6,
        training=2,
        workers=1,
        rng=study["run"]["seed"],
    )
    return KIND.judged(audit.record).each


@pytest.fixture(scope="module")
def rounded():
    return played("rounded")


@pytest.mark.parametrize("people", ["prior", "rows"])
@pytest.mark.one_in(2)
def test_rounding_gives_far_more_than_the_guess_and_than_fresh_people_or_a_decoy(rounded, people):
    five, ten = rounded if people == "prior" else played("rounded", people=people)
    found = five.result.attacks["posterior"]
    assert found.baseline_exact == (people == "prior")
    assert found.share > five.result.guess.share + 0.15
    assert found.baseline < found.share - 0.15
    assert ten.result.attacks["posterior"].share < found.share
    assert five.result.ceiling.share >= found.share - 1e-12
    assert five.result.share_bound is None


@pytest.mark.nightly
def test_suppression_gives_less_than_rounding(rounded):
    for found in played("suppressed"):
        assert found.result.best_attack.share < rounded[0].result.best_attack.share - 0.1
        assert found.result.ceiling is None
        assert found.result.share_bound is None


@pytest.mark.nightly
def test_few_swaps_hide_little():
    few, many = played("swapped")
    for attack in ("posterior", "nearest"):
        assert few.result.attacks[attack].share > few.result.guess.share + 0.15
        assert few.result.attacks[attack].baseline < few.result.attacks[attack].share - 0.15
        assert many.result.attacks[attack].share < few.result.attacks[attack].share


def test_a_copula_gives_little_away(rounded):
    [found] = played("copula")
    assert found.result.best_attack.share < rounded[0].result.best_attack.share - 0.1
    assert found.result.share_bound is None


@pytest.mark.nightly
def test_attacks_on_private_synthetic_rows_stay_below_what_is_proved():
    one, ten = played("private_synthetic")
    assert one.result.share_bound.at_most < ten.result.share_bound.at_most < 1
    for found in (one, ten):
        assert found.result.share_bound.grade == "proved"
        assert all(
            a.share <= found.result.share_bound.at_most for a in found.result.attacks.values()
        )


@pytest.fixture(scope="module")
def many_columns():
    """Play the shipped study of eight unknown columns, of few people in few trials."""
    path = ROOT / "examples" / "affairs_many_columns.toml"
    study = tomllib.loads(path.read_text(encoding="utf-8"))
    data, threat = study["data"], {**study["threat"], "targets": 20}
    audit = narcissus.audit(
        data.pop("table"),
        **data,
        **threat,
        mechanism=study["mechanism"],
        attacks=study["attacks"],
        threshold=study["threshold"],
        groups=study["groups"],
        trials=4,
        workers=1,
        rng=study["run"]["seed"],
    )
    return audit.record


@pytest.mark.nightly
def test_eight_unknown_columns_are_played_without_their_joint_values(many_columns):
    low, high = KIND.judged(many_columns).each
    assert len(high.result.attacks["posterior"].columns) == 8
    for setting in (low, high):
        assert not setting.result.guess.is_best_found  # five of eight: by branch and bound
        assert set(setting.result.guess.columns) == set(setting.result.attacks["prior"].columns)
        assert setting.result.ceiling.is_estimated
        assert setting.result.share_bound.at_most >= setting.result.attacks["posterior"].share
        # what everybody's guess of each column gets by the prior, the prior attack gets nearly
        prior = setting.result.attacks["prior"]
        for name, column in prior.columns.items():
            assert column.baseline <= setting.result.guess.columns[name] + 1e-12
    # sampled, 80 people: a share may be off by six standard errors, .33
    assert high.result.attacks["posterior"].share > high.result.attacks["prior"].share - 0.33
    for setting in (low, high):
        [columns] = [b for b in setting.result.bounds if b.id == "column-shares"]
        assert columns.for_comparison  # a share of columns: no verdict on people rests on it
        assert columns.at_most > np.mean(list(setting.result.guess.columns.values()))
    assert many_columns.status != "met" or all(e.role != "ceiling" for e in low.result.excesses)


@pytest.mark.nightly
def test_an_estimated_ceiling_is_said_to_be_one_and_no_verdict_rests_on_it(many_columns):
    low, high = KIND.judged(many_columns).each
    for setting in (low, high):
        estimated = [e for e in setting.result.excesses if e.role == "ceiling"]
        assert estimated
        assert all(e.kind == "approximate" and e.high is None for e in estimated)
        [finding] = [f for f in setting.statements if f.source == "the ceiling"]
        assert finding.high is None
    reasons = {one.quantity for one in many_columns.not_assessed}
    assert "the exact ceiling" in reasons
    assert "the best guess without the release" not in reasons
