"""Priors of a secret: what they are by hand, files of names, what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.priors import Zipf
from narcissus.priors.secrets import (
    SecretPrior,
    harmonic,
    listed_secret,
    names_secret,
    pii_secret,
    read_values,
    uniform_secret,
    zipf_secret,
)


def test_priors_by_hand():
    assert uniform_secret(4).chances == (0.25,) * 4
    zipf = zipf_secret(1.0, 3)
    assert zipf.chances == pytest.approx((6 / 11, 3 / 11, 2 / 11), abs=1e-15)
    assert (zipf.guess, zipf.words) == (zipf.chances[0], "Zipf over 3, s = 1")
    assert zipf_secret().guess == pytest.approx(1 / sum(k**-1.1 for k in range(1, 11)))
    assert pii_secret().guess == 0.525
    assert math.fsum(pii_secret().chances) == pytest.approx(1, abs=1e-15)
    assert listed_secret([0.3, 0.7], ["a", "b"]).guess == 0.7
    assert (uniform_secret(4).weights == np.full(4, 0.25)).all()


def test_the_shipped_names_are_those_of_the_census():
    names = names_secret()
    assert len(names.chances) == 100
    # James 3.318% of men, Mary 2.629% of women: the ratio of the two stays
    by_name = dict(zip(names.values, names.chances, strict=True))
    assert by_name["James"] / by_name["Mary"] == pytest.approx(3.318 / 2.629)
    assert names.values[0] == "James"
    ten = names_secret(n=10)
    assert ten.values == names.values[:10]
    assert ten.chances == pytest.approx(np.array(names.chances[:10]) / sum(names.chances[:10]))


def test_names_from_a_file_count_as_often_as_they_stand_there(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nAda\nEve\n\nBob\n", encoding="utf-8")
    found = names_secret("names.txt", folder=str(tmp_path))
    assert dict(zip(found.values, found.chances, strict=True)) == {
        "Eve": 0.5, "Ada": 0.25, "Bob": 0.25,
    }  # fmt: skip
    (tmp_path / "weights.csv").write_text('name,share\nEve,1\n"Day, Ada",3\n', encoding="utf-8")
    assert read_values(tmp_path / "weights.csv") == [("Eve", 1.0), ("Day, Ada", 3.0)]
    found = names_secret("weights.csv", folder=str(tmp_path))
    assert (found.values, found.chances) == (("Day, Ada", "Eve"), (0.75, 0.25))
    assert found.words == "2 names of weights.csv"


@pytest.mark.parametrize("text", ["Eve,1\nAda,-1\n", "Eve,1,2\n", "Eve,1\nAda,x\n", "Eve,inf\n"])
def test_files_that_are_no_lists(tmp_path, text):
    (tmp_path / "names.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="weight above 0"):
        names_secret("names.txt", folder=str(tmp_path))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: names_secret("none.txt"), "no such file"),
        (lambda: names_secret(n=1), "`n` must be at least 2"),
        (lambda: uniform_secret(10_001), "at most 10000"),
        (lambda: zipf_secret(-1.0), "`s` must be"),
        (lambda: listed_secret([0.5, 0.4]), "sum to 1"),
        (lambda: listed_secret([0.5, 0.5], ["a"]), "2 different texts"),
        (lambda: listed_secret([0.5, 0.5], ["a", "a"]), "2 different texts"),
        (lambda: SecretPrior((1.0,)), "number of values"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_one_name_is_no_secret(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nEve\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 different names"):
        names_secret("names.txt", folder=str(tmp_path))


HERE = pytest.mark.states("Narcissus theory", "4.11")


@HERE
@pytest.mark.parametrize("s", [0.0, 0.5, 0.999999, 1.0, 1.000001, 1.1, 2.0, 3.5])
@pytest.mark.parametrize("n", [0, 1, 5, 23, 24, 25, 1000, 20_000])
def test_harmonic_numbers_are_the_sums(n, s):
    plain = math.fsum(float(k) ** -s for k in range(1, n + 1))
    assert harmonic(n, s) == pytest.approx(plain, rel=4e-15)


@HERE
def test_harmonic_numbers_at_a_billion():
    assert harmonic(10**9, 1.1) == pytest.approx(9.32552305321959, rel=2e-15)
    assert harmonic(10**9, 1.2) == pytest.approx(5.51233778156262, rel=2e-15)
    gamma = 0.5772156649015329
    exact = math.log(10**9) + gamma + 0.5e-9 - 1e-18 / 12
    assert harmonic(10**9, 1.0) == pytest.approx(exact, rel=1e-15)
    thirds = sum(Fraction(1, k * k) for k in range(1, 60))
    assert harmonic(59, 2.0) == pytest.approx(float(thirds), rel=1e-15)


@HERE
def test_ranks_and_shares_of_passwords():
    law = Zipf(1.2, 10**9)
    assert law.probability(1) == pytest.approx(0.181411234149102, rel=1e-13)
    assert law.probability(law.percentile(0.5)) == pytest.approx(6.60541598e-12, rel=1e-8)
    assert law.probability(17) == pytest.approx(0.00605516, rel=1e-6)
    assert law.percentile(0.0) == 10**9
    assert law.percentile(1.0) == 1
    assert law.head(10**9) == 1.0
    assert law.head(0) == 0.0


@HERE
def test_small_laws_are_what_they_list():
    mass = np.arange(1, 51) ** -1.3
    mass /= mass.sum()
    law = Zipf(1.3, 50)
    assert [law.probability(k) for k in range(1, 51)] == pytest.approx(mass.tolist(), rel=1e-12)
    heads = np.cumsum(mass)
    assert [law.head(k) for k in range(1, 51)] == pytest.approx(heads.tolist(), rel=1e-12)


def test_what_is_no_law_is_refused():
    with pytest.raises(InputError, match="`s`"):
        Zipf(-1.0, 10)
    with pytest.raises(InputError, match="`n`"):
        Zipf(1.0, 0)
    with pytest.raises(InputError, match="`n`"):
        Zipf(1.0, 10**16)
    with pytest.raises(InputError, match="`rank`"):
        Zipf(1.0, 5).probability(6)


@pytest.mark.parametrize("s", [0.0, 0.7, 1.0, 2.5])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_two_draws_collide_as_often_as_the_masses_say(s, n):
    law = Zipf(s, n)
    exact = math.fsum(law.probability(k) ** 2 for k in range(1, n + 1))
    assert law.collision() == pytest.approx(exact, rel=1e-12)


def test_a_number_of_values_may_be_written_as_a_float():
    assert Zipf.of(1.1, 1e9) == Zipf(1.1, 10**9)
    assert Zipf.of(1.1, 1e9).describe() == "Zipf's law with exponent 1.1 over 1,000,000,000 values"
    with pytest.raises(InputError, match="whole"):
        Zipf.of(1.1, 2.5)
    with pytest.raises(InputError, match="`n`"):
        Zipf.of(1.1, float("inf"))


def test_a_law_of_one_value_is_no_secret():
    assert Zipf.of(1.1, 1).probability(1) == 1.0
