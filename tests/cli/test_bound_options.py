"""What three commands read and say alike: guarantees from options, errors, lists, words."""

import json
import math

import pytest

from narcissus.bounds import threat
from narcissus.cli import bound_options as options
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP, RenyiDP
from narcissus.results import Bound

NONE = dict.fromkeys(
    ("epsilon", "mu", "rho", "renyi", "dp_sgd", "bayes_security", "profile", "pld")
)


def made(delta=None, adjacency="replace-one", **given):
    return options.make_guarantee({**NONE, **given}, delta=delta, adjacency=adjacency)


@pytest.mark.parametrize(
    ("given", "guarantee"),
    [
        ({"epsilon": 2.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 0.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 1e-5}, ApproximateDP(2.0, 1e-5)),
        ({"mu": 0.5}, GaussianDP(0.5)),
        ({"renyi": "4:0.5"}, RenyiDP(4, 0.5)),
        ({"bayes_security": 0.9}, BayesSecurity(0.9)),
    ],
)
def test_each_option_makes_its_guarantee(given, guarantee):
    assert made(**given) == guarantee


@pytest.mark.parametrize(
    ("given", "guarantee"),
    [
        ({"epsilon": 1.0}, PureDP(2.0)),
        ({"epsilon": 1.0, "delta": 1e-5}, ApproximateDP(2.0, 1e-5 * (1 + math.e))),
        ({"mu": 0.5}, GaussianDP(1.0)),
        ({"bayes_security": 0.9}, BayesSecurity(0.8)),
    ],
)
def test_what_is_known_of_added_records_is_converted_and_said_to_be(given, guarantee):
    found = made(adjacency="add-remove", **given)
    assert found.profile(0.3) == pytest.approx(float(guarantee.profile(0.3)), rel=1e-12)
    said = options.of_guarantee(found)["converted_from"]
    assert said in found.describe()
    assert said.endswith("(add-remove neighbours)")
    assert "one removed and one added" in found.describe()
    assert options.of_guarantee(made(**given)) == {}


def test_zero_concentration_is_gaussian_noise_at_its_worst():
    """rho = mu^2 / 2 of the Gaussian mechanism, whose own profile is below."""
    loose, exact = made(rho=0.5), GaussianDP(1.0)
    for epsilon in (0.0, 0.5, 2.0):
        assert float(loose.profile(epsilon)) >= float(exact.profile(epsilon))


def test_a_coarse_interval_of_dp_sgd_is_above_a_fine_one():
    setting = "noise=4,rate=0.1,steps=2,interval="
    coarse, fine = made(dp_sgd=setting + "0.1"), made(dp_sgd=setting + "1e-3")
    given = made(dp_sgd=" steps=2, noise=4,rate=0.1")
    assert float(given.profile(0.0)) == float(fine.profile(0.0))
    assert 0.01 < float(fine.profile(0.0)) < float(coarse.profile(0.0))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "exactly one guarantee must be given .*--dp-sgd.*got none"),
        ({"mu": 1.0, "bayes_security": 0.5}, "got --mu and --bayes-security"),
        ({"mu": 1.0, "delta": 0.0}, "`--delta` goes with `--epsilon` only, not with `--mu`"),
        ({"renyi": "4"}, "ALPHA:GAMMA"),
        ({"renyi": "4:a"}, "numbers separated by commas"),
        ({"dp_sgd": "noise=1,rate=0.1"}, "lacks steps"),
        ({"dp_sgd": "noise=1,noise=1,rate=0.1,steps=1"}, "each once"),
        ({"dp_sgd": "noise=1,rate=0.1,stpes=1"}, "each once, such as"),
        ({"dp_sgd": "noise=x,rate=0.1,steps=1"}, "--dp-sgd noise"),
        ({"epsilon": 1.0, "adjacency": "add-remov"}, "did you mean `add-remove`"),
        (
            {"dp_sgd": "noise=1,rate=0.1,steps=1", "adjacency": "add-remove"},
            "what is asked.*; drop it",
        ),
    ],
)
def test_what_makes_no_guarantee_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        made(**given)


def test_arguments_in_errors_are_turned_into_options():
    with pytest.raises(InputError, match=r"^`--mu` is wrong, not `other`$"), options.option_names():
        raise InputError("`mu` is wrong, not `other`")
    with pytest.raises(InputError, match=r"^`--top` is wrong"), options.option_names(mu="--top"):
        raise InputError("`mu` is wrong")


def test_success_goes_with_the_prior_alone():
    assert options.exact_match("exact", known="--prior")
    assert not options.exact_match("any", known="--prior")
    assert not options.exact_match(None, known="--values")
    with pytest.raises(InputError, match="`--values` a guess must name"):
        options.exact_match("any", known="--values")
    with pytest.raises(InputError, match="--success"):
        options.exact_match("near", known="--prior")


@pytest.mark.parametrize(
    ("danger", "criterion", "notes"),
    [
        (threat(prior=0.5), "any", ["--success exact helps", "--values"]),
        (threat(prior=0.5, exact_match=True), "exact match", ["--values"]),
        (threat(values=[0.5, 0.5]), "exact match", []),
        (threat(values=[0.25] * 4, within=1), "near match", []),
    ],
)
def test_what_counts_and_what_would_prove_more(danger, criterion, notes):
    assert options.criterion(danger) == criterion
    told = options.more_provable(danger, "helps")
    assert len(told) == len(notes)
    assert all(word in note for word, note in zip(notes, told, strict=True))
    assert len(options.more_provable(danger, None)) == len([n for n in notes if "helps" not in n])
    assert options.criterion_text(danger).endswith(".")


def test_other_bounds_stand_tightest_first_and_the_invalid_ones_last():
    def bound(name, value, valid=True):
        return Bound(value, "success", name, valid=valid)

    chosen = bound("a", 0.3)
    rows = options.others(
        [bound("b", 0.9), bound("c", 0.1, False), chosen, bound("d", 0.5)], chosen
    )
    assert [row["name"] for row in rows] == ["d", "b", "c"]
    lines = options.others_text(rows)
    assert lines[0] == "Other bounds, for comparison:"
    assert ["NOT A BOUND" in line for line in lines[1:]] == [False, False, True]
    assert options.others_text([]) == []


def test_numbers_percentages_and_json(capsys):
    assert options.numbers("--values", "0.5, 0.25,1e-3") == [0.5, 0.25, 0.001]
    with pytest.raises(InputError, match=r"`--values` must be numbers.*'0.5,,1'"):
        options.numbers("--values", "0.5,,1")
    assert [options.percent(p) for p in (0.5, 0.0095, 0.0094, 1e-7, 0.0)] == [
        "50 of 100", "0.95 of 100", "0.0094", "1e-07", "0",
    ]  # fmt: skip
    options.print_json({"a": 0.1 + 0.2, "b": math.inf, "c": [math.nan, 1]})
    assert json.loads(capsys.readouterr().out) == {"a": 0.1 + 0.2, "b": None, "c": [None, 1]}


def test_a_picture_that_could_not_be_written_is_refused_before_any_work(tmp_path):
    options.check_plot(None)
    options.check_plot(tmp_path / "a.svg")
    with pytest.raises(InputError, match=r"must end in \.svg"):
        options.check_plot(tmp_path / "a.txt")
    with pytest.raises(InputError, match="does not exist"):
        options.check_plot(tmp_path / "none" / "a.svg")
