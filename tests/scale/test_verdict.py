"""What is said of a curve, and never more than it shows."""

import pytest

from narcissus.scale.fit import EVERYBODY, Known, SizeCurve
from narcissus.scale.verdict import headline, named, sentence, told


def curve(points, whose="x", quantity="gain", grade="sampled"):
    return SizeCurve(whose, quantity, tuple(points), grade)


def sampled(*limits):
    return [Known(n, (a + b) / 2, a, b) for n, (a, b) in enumerate(limits, start=1)]


def test_an_exact_law_is_named_with_its_exponent(exact):
    said = told(curve(exact(lambda n: 2.0**-n, range(1, 6)), EVERYBODY, grade="proved"))
    assert said.words == "falls like 2^-n (exponent 1)"
    assert said.grade == "approximate"
    assert said.is_told
    said = told(curve(exact(lambda n: 1 / n, (1, 2, 4, 8))))
    assert said.words == "falls like 1/n (exponent 1)"


def test_a_sampled_law_is_named_with_limits():
    points = [Known(n, 2.0**-n, 2.0**-n * 0.99, 2.0**-n * 1.01) for n in range(1, 9)]
    said = told(curve(points))
    assert said.words.startswith("falls like 2^-n (exponent 0.99")
    assert said.grade == "approximate"


def test_limits_are_rounded_outwards():
    points = [Known(n, 2.0**-n, 2.0**-n * 0.99, 2.0**-n * 1.01) for n in range(1, 9)]
    one = curve(points).exponents[0]
    low, high = told(curve(points)).words.rpartition("exponent ")[2].rstrip(")").split(" to ")
    assert float(low) <= one.low < one.high <= float(high)


@pytest.mark.parametrize(
    ("points", "words", "is_told"),
    [
        (sampled((0.2, 0.3), (0.6, 0.7)), "does not fall: it rises", True),
        (sampled((0.51, 0.53), (0.5, 0.52)), "does not fall: it stays between 0.5 and 0.53", True),
        (sampled((0.2, 0.5), (0.2, 0.4)), "cannot be told: the limits allow", False),
        (sampled((0, 0.1), (0, 0.2)), "cannot be told: nowhere certainly above 0, at most", False),
        (sampled((0.2, 0.5)), "cannot be told from one value", False),
        (sampled((0.4, 0.5), (0.1, 0.2)), "falls; 3 values or more tell by which law", True),
        (sampled((0.4, 0.5), (0.2, 0.3), (0.1, 0.2)), "falls, and these values cannot tell", True),
        (sampled((0.4, 0.5), (0, 0.01)), "falls, from 1 to 2 at least like 2^(-5.32 n)", True),
        (sampled((0.01, 0.1), (-0.2, -0.1)), "falls below 0", True),
    ],
)  # fmt: skip
def test_words_follow_what_is_certain(points, words, is_told):
    said = told(curve(points))
    assert said.words.startswith(words)
    assert said.is_told == is_told
    assert said.grade == "sampled"


def test_a_later_law_is_told_from_where_it_holds(exact):
    """Saturated at first: who tries 64 of 2^k inputs."""
    points = exact(lambda k: 1 - (1 - 2.0**-k) ** 64, (4, 6, 8, 10, 12, 14))
    said = told(curve(points))
    assert said.words.startswith("falls, from 8 on like 2^(-0.9")
    assert said.grade == "approximate"


def test_a_peak_is_named_and_what_comes_after(exact):
    said = told(curve(exact(lambda n: n * 2.0**-n if n > 1 else 0.1, range(1, 7))))
    assert said.words.startswith("goes up and down, with its largest value, 0.5, at 2; from there")


def test_neither_law_is_named_where_neither_fits(exact):
    said = told(curve(exact(lambda n: 0.5 + 2.0 ** -(n * n), range(1, 4))))
    assert said.words.startswith("falls, like neither law")
    assert said.grade == "sampled"


def test_a_zero_is_said_to_be_one_up_to_rounding(exact):
    said = told(curve(exact(lambda _: 0.0, (1, 2)), EVERYBODY, grade="proved"))
    assert said.words == "is zero, or below 1e-12, where rounding is lost"
    assert said.grade == "proved"


def test_the_exact_gain_is_the_verdict_where_it_is_known_often_enough(exact):
    few = curve(exact(lambda n: 2.0**-n, (1, 2)), EVERYBODY)
    many = curve(exact(lambda n: 2.0**-n, (1, 2, 3)), EVERYBODY)
    weak = curve(sampled(*[(0.1, 0.2)] * 5), "weak")
    strong = curve(sampled(*[(0.3, 0.4)] * 5), "strong")
    other = curve(sampled(*[(0.8, 0.9)] * 5), "strong", "success")
    assert headline([few, weak, strong, other]) is strong
    assert headline([many, weak, strong]) is many
    assert headline([few]) is few
    assert headline([other]) is None


def test_a_sentence_names_whose_and_the_values_drawn(exact):
    gain = curve(exact(lambda n: 2.0**-n, (2, 3, 4)), EVERYBODY)
    assert sentence(told(gain), "world.n") == (
        "For world.n = 2 to 4, the largest gain of any attacker falls like 2^-n (exponent 1)."
    )
    bound = SizeCurve("Lemma 1", "bound", gain.points, "proved", "success")
    form = SizeCurve("raw", "closed form", gain.points, "proved", "success")
    best = curve(gain.points, EVERYBODY, "success")
    assert [named(c) for c in (bound, form, best)] == [
        "the bound on success by Lemma 1",
        "the success of raw by its closed form",
        "the success of the attacker who gains most",
    ]
