"""Releases of OpenDP, with the guarantee of its privacy map."""

import math

import cloudpickle
import numpy as np
import pandas as pd
import pytest

from narcissus._optional import optional
from narcissus.errors import InputError, MissingExtraError, NarcissusError
from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from narcissus.mechanisms import Columns, Counts, Microdata, OpenDPMeasurement, OpenDPSynthesizer
from narcissus.mechanisms.table.opendp import MadeBy, filled, guarantee_of


@pytest.fixture
def dp():
    found = pytest.importorskip("opendp.prelude", reason="the extra `opendp` is not installed")
    found.enable_features("contrib", "honest-but-curious")
    return found


class Said:
    """A measurement by what it says, to test what is made of it without OpenDP."""

    input_distance_type = "f64"

    def __init__(self, metric, measure, loss):
        self.input_metric, self.output_measure, self._loss = metric, measure, loss
        self.asked = []

    def map(self, distance):
        self.asked.append(distance)
        return self._loss(distance)


@pytest.mark.parametrize(
    ("metric", "distance"),
    [
        ("SymmetricDistance()", 2),
        ("InsertDeleteDistance()", 2),
        ("ChangeOneDistance()", 1),
        ("HammingDistance()", 1),
        ("L1Distance(f64)", 6.0),
        ("L2Distance(f64)", math.sqrt(6)),
    ],
)
def test_a_replaced_record_is_as_far_as_it_is(metric, distance):
    said = Said(metric, "MaxDivergence", lambda d: 0.5 * d)
    assert guarantee_of(said, tables=3).epsilon == pytest.approx(0.5 * distance, rel=1e-12)
    assert said.asked[0] >= distance
    assert said.asked[0] ** 2 >= 6 or not metric.startswith("L2")


def test_counts_of_whole_distances_are_rounded_up():
    said = Said("L2Distance(i32)", "MaxDivergence", float)
    said.input_distance_type = "i32"
    assert guarantee_of(said, tables=1).epsilon == 2.0


@pytest.mark.parametrize(
    ("metric", "measure", "said"),
    [
        ("DiscreteDistance()", "MaxDivergence", r"distance DiscreteDistance\(\) says nothing"),
        ("SymmetricDistance()", "Strange", "measure Strange is not known"),
    ],
)
def test_what_is_not_known_is_refused(metric, measure, said):
    with pytest.raises(InputError, match=said):
        guarantee_of(Said(metric, measure, float))


def test_a_map_that_refuses_is_said():
    def refuses(distance):
        raise OSError("distance too large")

    with pytest.raises(InputError, match="refuses a replaced record: distance too large"):
        guarantee_of(Said("SymmetricDistance()", "MaxDivergence", refuses))


EPSILONS = np.linspace(0, 6, 61)


@pytest.mark.parametrize(
    ("measure", "loss", "guarantee"),
    [
        ("MaxDivergence", 0.7, PureDP(0.7)),
        ("Approximate(MaxDivergence)", (0.7, 1e-6), ApproximateDP(0.7, 1e-6)),
        ("ZeroConcentratedDivergence", 0.125, ZeroConcentratedDP(0.125)),
        ("Approximate(ZeroConcentratedDivergence)", (0.125, 0.0), ZeroConcentratedDP(0.125)),
    ],
)
def test_measures_are_our_guarantees(measure, loss, guarantee):
    assert guarantee_of(Said("ChangeOneDistance()", measure, lambda _: loss)) == guarantee


def test_curves_are_limits_and_not_loose_ones():
    """The loss of N(0, 1) against N(1, 1), said in four ways; the exact profile is below all."""
    exact = GaussianDP(1.0).profile(EPSILONS)

    class Profile:
        def delta(self, epsilon):
            return float(GaussianDP(1.0).profile(epsilon))

    ways = {
        "ZeroConcentratedDivergence": (0.5, 30.0),
        "Approximate(ZeroConcentratedDivergence)": ((0.5, 1e-3), 30.0),
        "RenyiDivergence": (lambda alpha: alpha / 2, 30.0),
        "SmoothedMaxDivergence": (Profile(), 1.01),
    }
    for measure, (loss, factor) in ways.items():
        found = guarantee_of(Said("ChangeOneDistance()", measure, lambda _, x=loss: x))
        limit = found.profile(EPSILONS)
        assert (limit >= exact * (1 - 1e-9)).all(), measure
        assert (limit <= factor * exact + 2e-3).all(), measure
        assert found.adjacency == "replace-one"


def test_a_share_that_is_given_up_is_in_the_curve():
    """With probability .1 everything is told, else N(0, 1) against N(1, 1): that is exact."""
    measure = "Approximate(ZeroConcentratedDivergence)"
    limit = guarantee_of(Said("ChangeOneDistance()", measure, lambda _: (0.5, 0.1)))
    exact = 0.1 + 0.9 * GaussianDP(1.0).profile(EPSILONS)
    assert (limit.profile(EPSILONS) >= exact * (1 - 1e-9)).all()
    assert limit.profile(6.0) < 0.11


def test_every_order_of_a_renyi_curve_is_used():
    one = guarantee_of(Said("ChangeOneDistance()", "RenyiDivergence", lambda _: lambda a: 2.0))
    best = np.min([RenyiDP(a, 2.0).profile(EPSILONS) for a in (2.0, 4.0, 64.0)], axis=0)
    assert (one.profile(EPSILONS) <= best + 1e-3).all()

    def finite(order):
        return 2.0 if order < 3 else math.inf

    some = guarantee_of(Said("ChangeOneDistance()", "RenyiDivergence", lambda _: finite))
    assert (some.profile(EPSILONS) <= RenyiDP(2.0, 2.0).profile(EPSILONS) + 1e-3).all()
    never = Said("ChangeOneDistance()", "RenyiDivergence", lambda _: lambda a: math.inf)
    with pytest.raises(InputError, match="infinite at every order"):
        guarantee_of(never)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reads": "counts"}, "`scale` is needed"),
        ({"scale": 1.0}, "for nothing else"),
        ({"reads": "counts", "scale": 0.0}, "`scale` must be above 0"),
        ({"epsilon": 0.0}, "`epsilon` must be above 0"),
        ({"k": 0}, "`k` must be at least 1"),
    ],
)
def test_what_cannot_be_read_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        OpenDPMeasurement(lambda columns: None, **options)


def test_without_opendp_the_extra_is_named(columns):
    try:
        optional("opendp.prelude", extra="opendp", purpose="This test")
    except MissingExtraError:
        with pytest.raises(MissingExtraError, match=r"pip install .opendp"):
            OpenDPMeasurement(lambda columns: None).prepare(columns)
    else:
        pytest.skip("the extra `opendp` is installed")


def cells(dp, *, epsilon=None, scale=4.0):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    return dp.m.make_gaussian(*space, scale=scale if epsilon is None else 1 / epsilon)


def test_noisy_cells_are_read_as_counts(dp, columns, people):
    plan = OpenDPMeasurement(
        lambda columns: cells(dp), reads="counts", k=2, noise="gaussian", scale=4.0
    )
    prepared = plan.prepare(columns)
    tables = prepared.queries.tables
    exact = GaussianDP(math.sqrt(2 * tables) / 4.0)
    assert prepared.guarantee.rho == pytest.approx(exact.mu**2 / 2, rel=1e-9)
    assert (prepared.guarantee.profile(EPSILONS) >= exact.profile(EPSILONS) * (1 - 1e-9)).all()
    data = np.stack([people] * 20)
    found = prepared.release(data, np.random.default_rng(0))
    assert {type(one) for one in found} == {Counts} == {prepared.releases}
    error = np.stack([one.cells for one in found]) - prepared.queries.counts(people)
    assert np.std(error) == pytest.approx(4.0, rel=0.1)
    assert len(prepared.assumes) == 1
    again = cloudpickle.loads(cloudpickle.dumps(prepared))
    assert again.guarantee == prepared.guarantee
    assert len(again.release(data[:1], np.random.default_rng(0))) == 1


def test_the_level_and_options_reach_the_function(dp, columns):
    made = MadeBy(lambda columns, scale, epsilon: cells(dp, scale=scale / epsilon), scale=3.0)
    plans = [OpenDPMeasurement(made, epsilon=e) for e in (1.0, 3.0)]
    rhos = [plan.prepare(columns).guarantee.rho for plan in plans]
    assert rhos[1] == pytest.approx(9 * rhos[0])
    assert [plan.strength for plan in plans] == [1.0, pytest.approx(1 / 3)]
    assert plans[0].label == "ε = 1"


def test_a_pair_of_a_measurement_and_what_it_takes(dp, columns, people):
    def made(columns):
        count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
        return count >> dp.m.then_laplace(4.0), lambda frame: list(
            range((frame["ill"] == "yes").sum())
        )

    prepared = OpenDPMeasurement(made).prepare(columns)
    # OpenDP counts by |n - n'|: two changed records are two, where a replaced one is one.
    assert prepared.guarantee.epsilon == pytest.approx(0.5)
    found = prepared.release(np.stack([people] * 300), np.random.default_rng(0))
    assert np.mean(found) == pytest.approx((people[:, 2] == 1).sum(), abs=1.5)
    assert prepared.releases is object
    assert "gives to its measurement no farther" in prepared.assumes[1]


def test_a_query_of_a_context_on_a_frame(dp, columns, people):
    polars = pytest.importorskip("polars", reason="the extra `opendp` is not installed")

    def query(columns):
        nobody = polars.LazyFrame(schema=dict.fromkeys(columns.names, polars.String))
        context = dp.Context.compositor(
            data=nobody,
            privacy_unit=dp.unit_of(contributions=2),
            privacy_loss=dp.loss_of(epsilon=3.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["ill"], invariant="keys")],
        )
        return context.query().group_by("ill").agg(dp.len(signed=True))

    prepared = OpenDPMeasurement(query).prepare(columns)
    assert isinstance(prepared.guarantee, PureDP)
    assert prepared.guarantee.epsilon == pytest.approx(3.0)
    (found,) = prepared.release(people[None], np.random.default_rng(0))
    counts = dict(found.iter_rows())
    assert set(counts) == {"no", "yes"}
    assert abs(counts["yes"] - (people[:, 2] == 1).sum()) < 20


def test_released_rows_are_microdata(dp, columns, people):
    def made(columns):
        return dp.m.make_user_measurement(
            dp.vector_domain(dp.atom_domain(T=int)),
            dp.symmetric_distance(),
            dp.max_divergence(),
            function=lambda given: {"age": ["young"], "job": ["1"], "ill": ["yes"]},
            privacy_map=lambda d: 0.0,
            TO="ExtrinsicObject",
        ), lambda frame: [1, 2]

    prepared = OpenDPMeasurement(made, reads="rows").prepare(columns)
    (found,) = prepared.release(people[None], np.random.default_rng(0))
    assert isinstance(found, Microdata)
    assert found.rows.tolist() == [[0, 1, 1]]
    assert prepared.guarantee == PureDP(0.0)


def test_what_is_no_measurement_is_said(dp, columns, people):
    with pytest.raises(InputError, match="must give a Measurement, got DataFrame"):
        OpenDPMeasurement(lambda columns: pd.DataFrame()).prepare(columns)
    with pytest.raises(InputError, match="raised ZeroDivisionError"):
        OpenDPMeasurement(lambda columns: 1 / 0).prepare(columns)
    with pytest.raises(InputError, match="give a pair"):
        OpenDPMeasurement(
            lambda columns: (
                dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
                >> dp.m.then_laplace(4.0)
            )
        ).prepare(columns)
    wrong = OpenDPMeasurement(lambda columns: (cells(dp), lambda frame: "text")).prepare(columns)
    with pytest.raises(NarcissusError, match="OpenDP made no release"):
        wrong.release(people[None], np.random.default_rng(0))
    short = OpenDPMeasurement(
        lambda columns: (cells(dp), lambda frame: [1, 2]), reads="counts", scale=4.0
    ).prepare(columns)
    with pytest.raises(InputError, match="must release the 24 cells"):
        short.release(people[None], np.random.default_rng(0))


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


def test_without_opendp_the_extra_is_named_s(columns):
    try:
        optional("mbi", extra="opendp-synthesizer", purpose="This test")
    except MissingExtraError:
        with pytest.raises(MissingExtraError, match=r"pip install .*opendp"):
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
