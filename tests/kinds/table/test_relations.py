"""Secrets that several values tell together, the order of words, or rows far before: all found."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table import tested, trees
from narcissus.kinds.table.far_rows import far_features
from narcissus.kinds.table.held_out import LOOKUP, RELATED
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.lookup import lookup_chances
from narcissus.kinds.table.parities import best_parities, different_bits
from narcissus.kinds.table.relations import related_features
from narcissus.observer import SILENT
from narcissus.study import load_study

ROWS = 600


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Grow few trees: all that is said here is said as well by them."""
    monkeypatch.setattr(trees, "TREES", 4)


def people(seed):
    """Return a generator and people whose columns are independent."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.integers(0, 2, ROWS), "town": rng.integers(0, 4, ROWS)})
    return rng, frame


def nearly(rng, secret):
    """Return secrets of which 8 of 100 are turned round."""
    return (np.asarray(secret).astype(int) + (rng.random(len(secret)) < 0.08)) % 2


def examined(frame, *, bins=(), left_out=(), parents=2):
    """Return what the rows of a table say of its study, whose prior is fitted to them."""
    study = load_study({
        "data": {"frame": frame, "bins": {name: {"quantiles": 5} for name in bins},
                 "left_out": dict.fromkeys(left_out, "a code")},
        "threat": {"unknown": ["secret"]},
        "prior": {"name": "bayesian-network", "parents": parents},
        "mechanism": {"k": 2, "epsilon": 1.0},
        "attacks": {"prior": {}},
    })  # fmt: skip
    with study.code.in_use():
        experiment = prepare(study.settings, study.folder, 5, SILENT)
        return tested.tested_at(study.settings, study.folder, experiment, SILENT)


def subjects(found):
    return [one.subject for one in found.unaccounted]


def test_five_columns_that_tell_together_refute_the_prior():
    """The parity of 5 of 9 answers tells 90 of 100 secrets, and was *met* at 56."""
    rng, frame = people(1)
    answers = rng.integers(0, 2, (ROWS, 9))
    frame = frame.assign(**{f"q{k}": answer for k, answer in enumerate(answers.T)})
    found = examined(frame.assign(secret=nearly(rng, answers[:, [0, 1, 3, 5, 8]].sum(axis=1) % 2)))
    assert LOOKUP in [one.by for one in found.guesses if one.refutes]
    assert subjects(found) == []


def body(rng, frame):
    return frame.assign(height=rng.integers(150, 200, ROWS), weight=rng.integers(45, 120, ROWS))


@pytest.mark.parametrize("rule", ["parity", "band", "gap"])
def test_exact_values_that_tell_together_are_open(rule):
    """An index of body mass, neither high nor low, told 89 of 100 secrets, and was *met* at 76."""
    rng, frame = people(2)
    frame = body(rng, frame)
    index = frame.weight / (frame.height / 100) ** 2
    frame["secret"] = nearly(
        rng,
        {
            "parity": (frame.height + frame.weight) % 2,
            "band": (index > 23) & (index < 29),
            "gap": (frame.height - frame.weight - 90).abs() < 18,
        }[rule],
    )
    found = examined(frame, bins=["height", "weight"])
    assert subjects(found) == ["the exact values of `height` and `weight`"]
    assert not found.behind_bins


def band(values):
    low, high = np.quantile(values, (0.35, 0.65))
    return (low < values) & (values < high)


NUMBERS = {
    "sum of three": lambda a: band(a[0] + a[1] + a[2]),
    "gap": lambda a: np.abs(a[0] - a[1]) < 15,
    "area": lambda a: band(a[0] * a[1]),
    "volume": lambda a: band(a[0] * a[1] * a[2]),
    "ratio": lambda a: band(a[0] / a[1]),
    "index": lambda a: band(a[0] / a[1] ** 2),
    "share": lambda a: band(a[0] / (a[1] + a[2])),
    "change": lambda a: band((a[0] - a[1]) / a[2]),
    "ring": lambda a: band(np.hypot(a[0] - 40, a[1] - 40)),
    "ball": lambda a: band((a[0] - 40) ** 2 + (a[1] - 40) ** 2 + (a[2] - 40) ** 2),
    "hypotenuse": lambda a: band(np.hypot(a[0], a[1])),
    "distance": lambda a: np.hypot(a[0] - a[1], a[2] - a[3]) < 38,
    "wider": lambda a: np.abs(a[0] - a[1]) < a[2] - 18,
}
"""Secrets of one in two or three people, that up to four numbers of 10 to 69 tell together."""


def numbers_and_secret(rule, rows, others=0):
    """Return a generator, columns of numbers, and a secret that some of them tell for 92 of 100."""
    rng = np.random.default_rng(12)
    numbers = rng.integers(10, 70, (4 + others, rows)).astype(float)
    return rng, numbers, nearly(rng, NUMBERS[rule](numbers[others:]))


@pytest.mark.parametrize("others", [0, 9])
@pytest.mark.parametrize("rule", NUMBERS)
def test_relations_of_numbers_tell_of_other_rows(rule, others):
    """Also among columns that tell nothing: these come first."""
    rng, numbers, secret = numbers_and_secret(rule, 1200, others)
    features = np.column_stack(related_features(numbers.T, secret[:300])[:3])
    sizes = [int(one.max()) + 1 for one in features.T]
    of, asked = features[:300], features[300:]
    found = lookup_chances(of, secret[:300], asked, sizes, size=2, rng=rng)
    assert (found.argmax(axis=1) == secret[300:]).mean() > 0.8


@pytest.mark.one_in(6)
@pytest.mark.parametrize("rule", NUMBERS)
def test_known_numbers_that_tell_together_refute_the_prior(rule):
    """A band of the body-mass index told 87 of 100 secrets, and was *met* at 82."""
    rng, numbers, secret = numbers_and_secret(rule, 300)
    frame = pd.DataFrame({f"x{k}": column for k, column in enumerate(numbers)})
    found = examined(frame.assign(town=rng.integers(0, 4, 300), secret=secret))
    assert RELATED in [one.by for one in found.guesses if one.refutes]
    assert subjects(found) == []


@pytest.mark.repeats(1, 20)
def test_known_numbers_that_tell_nothing_stay(repeats):
    """Six guessers refute a right prior with chance .003."""
    refuted = 0
    for seed in range(repeats):
        rng = np.random.default_rng([13, seed])
        numbers = rng.integers(10, 70, (4, 300))
        frame = pd.DataFrame({f"x{k}": column for k, column in enumerate(numbers)})
        told = (rng.random(300) < 0.2 + 0.1 * (numbers[0] > 40)).astype(int)
        found = examined(frame.assign(secret=told))
        refuted += found.is_refuted or bool(found.unaccounted)
    assert refuted <= repeats // 20


def test_digits_of_three_codes_that_tell_together_are_open():
    rng, frame = people(3)
    codes = rng.integers(10**7, 10**8, (3, ROWS))
    frame = frame.assign(**{f"code{k}": code for k, code in enumerate(codes)})
    places = codes // np.array([[1000], [100], [10]]) % 10
    found = examined(
        frame.assign(secret=nearly(rng, places.sum(axis=0) % 2)),
        left_out=["code0", "code1", "code2"],
    )
    assert subjects(found) == ["columns `code0`, `code1` and `code2`"]


def test_the_order_of_words_is_read():
    rng, frame = people(4)
    told = rng.integers(0, 2, ROWS)
    ends = ["cancer not excluded; infection excluded", "infection not excluded; cancer excluded"]
    more = ["Seen on ward", "Family present", "Came alone", "Sleeps badly"]
    frame["note"] = [f"{rng.choice(more)}. {ends[one]}. {rng.choice(more)}." for one in told]
    found = examined(frame.assign(secret=nearly(rng, told)), left_out=["note"])
    assert subjects(found) == ["column `note`"]


@pytest.mark.parametrize("how", ["stacked", "mirrored", "three parts"])
def test_rows_far_before_are_an_order(how):
    """Two files one below the other: row i and row i + n/2 share a secret, and that was *met*."""
    rng, frame = people(5)
    part = rng.integers(0, 2, ROWS // (3 if how == "three parts" else 2))
    again = part[::-1] if how == "mirrored" else part
    secret = np.concatenate([part, *(nearly(rng, again) for _ in range(ROWS // len(part) - 1))])
    found = examined(frame.assign(secret=secret))
    assert subjects(found) == ["the order of the rows"]
    assert not found.order_examined


def test_what_columns_tell_is_no_order_and_no_exact_value():
    """Rows are independent; the prior misses what three columns tell, and that alone is said."""
    rng, frame = people(6)
    answers = rng.integers(0, 2, (ROWS, 3))
    frame = frame.assign(**{f"q{k}": answer for k, answer in enumerate(answers.T)})
    frame["age"] = rng.integers(20, 90, ROWS)
    found = examined(frame.assign(secret=nearly(rng, answers.sum(axis=1) % 2)), bins=["age"])
    assert found.is_refuted
    assert subjects(found) == []
    assert (found.behind_bins, found.order_examined) == (("age",), True)


def test_a_right_prior_stays():
    rng, frame = people(7)
    frame = body(rng, frame).assign(code=rng.permutation(10**5)[:ROWS])
    frame["secret"] = (rng.random(ROWS) < 0.2 + 0.15 * frame.town).astype(int)
    found = examined(frame, bins=["height", "weight"], left_out=["code"])
    assert not found.is_refuted
    assert subjects(found) == []
    assert (found.examined, found.behind_bins) == (("code",), ("height", "weight"))


# The parts


@pytest.mark.parametrize("columns", [(4,), (1, 8), (0, 3, 9), (2, 3, 5, 7), (0, 1, 5, 8, 9)])
def test_the_parity_that_tells_is_found(columns):
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2, (500, 10))
    secret = nearly(rng, bits[:, list(columns)].sum(axis=1) % 2)
    assert best_parities(bits, 2 * secret)[0] == columns
    assert best_parities(bits, np.where(rng.random(500) < 0.1, 2, secret))[0] == columns


def test_no_parity_is_found_where_there_is_nothing():
    nothing = np.zeros((50, 0), dtype=int)
    assert best_parities(nothing, np.arange(50) % 2) == ()
    assert different_bits([]).shape == (0, 0)
    assert different_bits([np.arange(6), 1 + np.arange(6), np.full(6, 3)]).shape == (6, 1)


def test_five_columns_are_looked_up_only_if_they_tell_clearly_more():
    rng = np.random.default_rng(9)
    x, sizes = rng.integers(0, 3, (4000, 7)), [3] * 7
    of_five = rng.integers(0, 2, 3**5)[x[:, :5] @ 3 ** np.arange(5)]
    of_two = (x[:, 0] + x[:, 1]) % 2

    def right(secret, *, wide):
        rows, asked = x[:3000], x[3000:]
        own = np.random.default_rng(1)
        found = lookup_chances(rows, secret[:3000], asked, sizes, size=2, rng=own, wide=wide)
        return (found.argmax(axis=1) == secret[3000:]).mean()

    assert right(of_five, wide=True) > 0.95 > 0.8 > right(of_five, wide=False)
    assert right(of_two, wide=True) == right(of_two, wide=False) == 1


def test_numbers_without_a_relation_have_no_features():
    numbers = np.column_stack([np.arange(40.0), np.full(40, np.nan), np.full(40, 3.0)])
    assert related_features(numbers, np.arange(30) % 2) == []


@pytest.mark.parametrize("lag", [1, 37, 150])
def test_every_lag_is_compared(lag):
    """The first feature is the secret so many rows before, and 0 where there is none."""
    rng = np.random.default_rng(10)
    secret = rng.integers(0, 3, 400)
    for row in range(lag, 400):
        secret[row] = secret[row - lag] if rng.random() < 0.9 else secret[row]
    features = list(far_features(secret, 300))
    assert any((one[:lag] == 0).all() and agrees(one[lag:], secret[:-lag]) for one in features)


def test_every_mirror_is_compared():
    rng = np.random.default_rng(11)
    secret = rng.integers(0, 2, 400)
    secret[181:361] = secret[:180][::-1]  # row i and row 360 - i
    features = list(far_features(secret, 300))
    rows = np.arange(400)
    behind = (rows > 180) & (rows <= 360)
    assert any(
        (one[~behind] == 0).all() and agrees(one[behind], secret[360 - rows[behind]])
        for one in features
    )


def agrees(feature, secret):
    """Whether a feature without 0 tells each of these secrets apart."""
    pairs = set(zip(feature.tolist(), secret.tolist(), strict=True))
    return feature.min() > 0 and len(pairs) == len(set(secret.tolist()))


SYMMETRIC = {
    "few different": lambda a: np.array([len(set(row)) <= 3 for row in a]),
    "two alike": lambda a: np.array([len(set(row[:3])) < 3 for row in a]),
    "the commonest": lambda a: np.array([np.bincount(row).argmax() % 2 for row in a]),
    "the middle": lambda a: np.median(a, axis=1) > 3,
    "wide": lambda a: np.ptp(a, axis=1) > 5,
}
"""Secrets that answers on one scale tell in any order."""


@pytest.mark.parametrize("as_texts", [False, True])
@pytest.mark.parametrize("rule", SYMMETRIC)
def test_answers_that_tell_in_any_order_refute_the_prior(rule, as_texts):
    """That five answers have at most three values told 92 of 100, and was *met* at 70."""
    rng = np.random.default_rng(3)
    answers = rng.integers(0, 8, (1000, 5))
    frame = pd.DataFrame(answers).add_prefix("q").astype(int)
    if as_texts:
        frame = frame.replace(dict(enumerate("abcdefgh")))
    found = examined(frame.assign(secret=nearly(rng, SYMMETRIC[rule](answers))))
    assert [guess.by for guess in found.guesses if guess.refutes]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("columns", "modulus"), [(5, 3), (7, 5), (8, 11), (12, 3), (12, 11)])
def test_remainders_of_a_sum_of_many_answers_refute_the_prior(columns, modulus):
    """The sum of seven numbers by five told 95 of 100 secrets, and was *met* at 60."""
    rng = np.random.default_rng(7)
    answers = rng.integers(0, 8, (2 * ROWS, columns))
    frame = pd.DataFrame({f"v{k}": answer for k, answer in enumerate(answers.T)})
    secret = (answers.sum(axis=1) + (rng.random(len(frame)) < 0.05)) % modulus
    found = examined(frame.assign(secret=secret.astype(str)))
    assert RELATED in [guess.by for guess in found.guesses if guess.refutes]
