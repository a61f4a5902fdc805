"""OpenDP's synthesizers: their level, their rows, and what is said where they are missing."""

import cloudpickle
import numpy as np
import pytest

from narcissus._optional import optional
from narcissus.errors import InputError, MissingExtraError
from narcissus.guarantees import PureDP, ZeroConcentratedDP
from narcissus.mechanisms import Columns, Microdata, OpenDPSynthesizer
from narcissus.mechanisms.table.opendp_synthesizer import filled

FIXED = {"algorithm": "Fixed", "sets": [["age", "ill"], ["job"]]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "exactly one of epsilon and rho"),
        ({"epsilon": 1.0, "rho": 1.0}, "exactly one of epsilon and rho"),
        ({"epsilon": 0.0}, "`epsilon` must be above 0"),
        ({"rho": float("inf")}, "finite"),
        ({"rho": 1.0, "algorithm": "Fixed"}, "`sets` are needed"),
        ({"rho": 1.0, "sets": [["age"]]}, "by no other"),
        ({"rho": 1.0, **FIXED, "sets": [[]]}, "at least one column each"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        OpenDPSynthesizer(**options)


def test_the_level_is_about_a_replaced_record():
    assert OpenDPSynthesizer(epsilon=2.0).guarantee == PureDP(2.0)
    assert OpenDPSynthesizer(rho=0.5).guarantee == ZeroConcentratedDP(0.5)
    made = [OpenDPSynthesizer(rho=r) for r in (0.5, 2.0)]
    assert [(one.label, one.strength) for one in made] == [("ρ = 0.5", 2.0), ("ρ = 2", 0.5)]
    assert OpenDPSynthesizer(epsilon=2.0, algorithm="AIM").title == "Rows of OpenDP's AIM"


def test_without_opendp_the_extra_is_named(columns):
    try:
        optional("mbi", extra="opendp-synthesizer", purpose="This test")
    except MissingExtraError:
        with pytest.raises(MissingExtraError, match=r"narcissus\[opendp-synthesizer\]"):
            OpenDPSynthesizer(rho=1.0).prepare(columns)
    else:
        pytest.skip("the extra `opendp-synthesizer` is installed")


def test_empty_cells_are_filled_with_what_the_column_holds():
    rows = np.array([[0, -1], [2, -1], [-1, -1]] * 200)
    whole = filled(rows, (9, 3), np.random.default_rng(0))
    assert (whole[rows[:, 0] >= 0, 0] == rows[rows[:, 0] >= 0, 0]).all()
    shares = np.bincount(whole[2::3, 0], minlength=9) / 200
    assert shares[[0, 2]] == pytest.approx([0.5, 0.5], abs=0.15)
    assert set(whole[:, 1]) == {0, 1, 2}


@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("options", [FIXED, {"algorithm": "MST"}])
def test_rows_keep_what_was_measured(options):
    pytest.importorskip("mbi", reason="the extra `opendp-synthesizer` is not installed")
    columns = Columns(
        ("age", "job", "ill"), (("a", "b", "c"), ("0", "1"), ("no", "yes")), (True,) * 3, (2,)
    )
    rng = np.random.default_rng(1)
    age = rng.integers(3, size=400)
    people = np.stack([age, rng.random(400) < 0.2, (age == 2) ^ (rng.random(400) < 0.1)], 1)
    prepared = OpenDPSynthesizer(rho=20.0, **options).prepare(columns)
    assert "keeps zero-concentrated DP with rho 20 (replace-one" in prepared.assumes[0]
    prepared = cloudpickle.loads(cloudpickle.dumps(prepared))
    (release,) = prepared.release(people[None].astype(np.int32), rng)
    assert isinstance(release, Microdata)
    assert release.rows.shape == (400, 3)
    assert ((release.rows >= 0) & (release.rows < [3, 2, 2])).all()
    linked = [((rows[:, 0] == 2) == rows[:, 2]).mean() for rows in (people, release.rows)]
    assert linked[1] == pytest.approx(linked[0], abs=0.08)
    assert release.rows[:, 1].mean() == pytest.approx(0.2, abs=0.1)
    cloudpickle.loads(cloudpickle.dumps(prepared))  # also once it was used


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", [{"rho": 10.0}, {"epsilon": 1.0}])
def test_a_tree_of_many_columns_fits_its_budget(level):
    """OpenDP's own sums of its parts miss it by a rounding error."""
    pytest.importorskip("mbi", reason="the extra `opendp-synthesizer` is not installed")
    names = tuple("abcdefghi")
    columns = Columns(names, (("0", "1"),) * 9, (True,) * 9, (8,))
    rng = np.random.default_rng(1)
    prepared = OpenDPSynthesizer(**level).prepare(columns)
    (release,) = prepared.release(rng.integers(0, 2, (1, 200, 9), dtype=np.int32), rng)
    assert release.rows.shape == (200, 9)


@pytest.mark.filterwarnings("ignore")
def test_unknown_columns_are_named(columns):
    pytest.importorskip("mbi", reason="the extra `opendp-synthesizer` is not installed")
    with pytest.raises(InputError, match="no columns of the table: size"):
        OpenDPSynthesizer(rho=1.0, algorithm="Fixed", sets=[["age", "size"]]).prepare(columns)
