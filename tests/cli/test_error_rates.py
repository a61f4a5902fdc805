"""Limits on error rates: options, keys and sentences."""

from __future__ import annotations

import pytest
from scipy import special

from narcissus.bounds import Limit
from narcissus.cli import error_rates
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP


def test_what_is_reached_is_said_with_its_theorem():
    both = Limit(tpr=0.5, fpr=0.1, precision=0.9, recall=0.2, base_rate=0.5)
    found = error_rates.reached(both, GaussianDP(1.0))
    assert found["tpr"] == pytest.approx(special.ndtr(special.ndtri(0.1) + 1))
    assert found["grade"] == "proved"
    assert "Dong" in found["theorem"]
    assert "4.8" in found["theorem"]
    lines = error_rates.text(found, "Then")
    assert lines[0].startswith("Then no test with a false positive rate of at most 0.1 has a true")
    assert lines[1].endswith("where the base rate is 0.5.")
    # beside another limit, its theorem is the one that is said
    assert set(error_rates.reached(Limit(0.1, tpr=0.5, fpr=0.1), GaussianDP(1.0))) == {"tpr", "fpr"}
    assert error_rates.reached(Limit(0.1), GaussianDP(1.0)) == {}
    assert error_rates.text({}, "Then") == []


def test_error_rates_alone_depend_on_no_prior():
    error_rates.alone({"--prior": None})
    with pytest.raises(InputError, match=r"`--prior` says nothing of `--tpr` and `--precision`"):
        error_rates.alone({"--prior": 0.5})


def test_protect_finds_what_keeps_error_rates(answer, call):
    line = "protect --tpr 0.05 --fpr 0.01"
    found = answer(line)
    assert found["tpr"] <= 0.05
    assert found["mu"] == pytest.approx(special.ndtri(0.05) - special.ndtri(0.01), rel=1e-6)
    assert found["epsilon"] == pytest.approx(1.609438, abs=1e-6)
    assert not {"prior", "success", "advantage"} & found.keys()
    assert {**found["membership"], "secret": 0, "question": 0} == {
        **{k: v for k, v in found.items() if k != "membership"}, "secret": 0, "question": 0,
    }  # fmt: skip
    said = call(line)[1]
    assert "has a true positive rate above 0.05." in said
    assert "right about one person" not in said
    added = answer(line + " --adjacency add-remove")
    assert added["membership"]["epsilon"] == pytest.approx(found["epsilon"])
    assert added["epsilon"] == pytest.approx(found["epsilon"] / 2)
    both = answer("protect --values 0.7,0.2,0.1 --success-at-most 0.71 --tpr 0.05 --fpr 0.01")
    assert both["success"] <= 0.71 + 1e-12
    assert both["epsilon"] < found["epsilon"]
    assert both["tpr"] < 0.05
    sure = answer("protect --secret membership --precision 0.2 --recall 0.1 --base-rate 0.01")
    assert sure["precision"] <= 0.2
    assert sure["secret"] == "membership"


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("protect --fpr 0.05", "--tpr"),
        ("protect --tpr 0.05", "--fpr"),
        ("protect --tpr 0.05 --fpr 0.1", "must be above `--fpr`"),
        ("protect --precision 0.5 --recall 0.1", "--base-rate"),
        ("protect --tpr 0.05 --fpr 0.01 --prior 0.5", "--prior"),
        ("protect --tpr 0.05 --fpr 0.01 --success exact", "--success"),
        ("protect --values 0.7,0.3 --success-at-most 0.6", "--success-at-most"),
    ],
)
def test_limits_that_say_nothing_are_refused(one_error, line, option):
    one_error(line, option)
