"""A limit for a class of attackers: it holds for them, and no sentence says more."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from narcissus import Game, load_study, run
from narcissus.errors import NarcissusError
from narcissus.kinds.game.numbers import bound_of_class
from narcissus.kinds.game.schema import Assume
from narcissus.knowledge.base import KnownRows
from narcissus.mechanisms import RandomizedResponse
from narcissus.profiles.proofs import from_advantage
from narcissus.report import render_html, render_text
from narcissus.report.statement import answers, statement_markdown, statement_of
from narcissus.study.reading import read_record
from narcissus.success.relations import FirstBit, Prefix
from narcissus.worlds import Bits

from .conftest import case_of

GAME = Game(Bits(1), RandomizedResponse(1.0), FirstBit())


def total_variation(rows):
    return max(np.abs(one - other).sum() / 2 for one in rows for other in rows)


def uses_of(channel, uses):
    """Return the channel of independent uses for the same data set."""
    whole = channel
    for _ in range(uses - 1):
        whole = (whole[:, :, None] * channel[:, None, :]).reshape(len(channel), -1)
    return whole


def rates(attacker, prior, seen, holds, *, pair):
    """Return success and own baseline; of a pair, the other data set is the fresh one."""
    fresh = 1 - np.eye(2) if pair else np.tile(prior, (len(prior), 1))
    won = lost = 0.0
    for x, y in product(range(len(prior)), range(seen.shape[1])):
        if attacker[y] is not None:
            chance = prior[x] * seen[x, y]
            won += chance * holds[attacker[y], x]
            lost += chance * float(fresh[x] @ holds[attacker[y]])
    return won, lost


@pytest.mark.repeats(60, 600)
@pytest.mark.parametrize("ideal", [False, True])
def test_all_attackers_of_a_class_stay_below_and_others_do_not(repeats, ideal):
    """The class: who sees of each use only which half the release is in. Every one is tried."""
    rng, outsiders, nearest = np.random.default_rng(5), 0, 0.0
    for number in range(repeats):
        pair, uses, values = number % 3 == 0, 1 + number % 2, 2 if number % 3 == 0 else 3
        prior = np.full(2, 0.5) if pair else rng.dirichlet(np.ones(values))
        channel = rng.dirichlet(np.full(4, 0.4), size=values)
        holds = np.eye(values) if number % 4 else (rng.random((values, values)) < 0.5) * 1.0
        halves = channel.reshape(values, 2, 2).sum(axis=2)
        seen, middle = uses_of(halves, uses), halves.mean(axis=0)
        advantage = total_variation(halves)
        if ideal:
            advantage = max(np.abs(row - middle).sum() / 2 for row in halves)
        limit, fixed = (
            from_advantage(GAME, advantage, uses, ideal=ideal, fixed=one) for one in (False, True)
        )
        best = float((holds @ prior).max())
        gains = []
        for attacker in product([None, *range(values)], repeat=seen.shape[1]):
            won, lost = rates(attacker, prior, seen, holds, pair=pair)
            gains.append(won - lost)
            for epsilon in (0.0, 0.5):
                assert won - math.exp(epsilon) * lost <= limit + 1e-12
                assert won <= math.exp(epsilon) * best + fixed + 1e-12
        nearest = max(nearest, max(gains) / limit)
        if uses == 1:  # whoever sees the whole release is not of the class
            every = product([None, *range(values)], repeat=4)
            gaps = (rates(one, prior, channel, holds, pair=pair) for one in every)
            outsiders += max(won - lost for won, lost in gaps) > limit + 1e-9
    assert outsiders >= repeats / 10
    assert nearest > (0.95 if not ideal else 0.45)  # half of the limit would be too low


SURE = {"advantage": 1e-6, "against": "efficient attackers", "of": "the generator SHAKE-256"}


def stretched(seed_bits=8, *, delta=0.001, **assume):
    """Make the study of a bit that says whether a string is stretched; seeds may be tried."""
    return load_study({
        "kind": "game",
        "world": {"name": "pairs", "pairs": [[[0], [1]]]},
        "mechanism": {"name": "stretched", "seed_bits": seed_bits, "length": 256},
        "success": {"name": "first-bit"},
        "attack": [{"name": "seed-search", "budget": 256}],
        "statement": {"name": "pairs", "epsilon": 0.0, "delta": delta},
        "assume": {**SURE, **assume},
        "run": {"trials": 500},
    })  # fmt: skip


def small(delta=0.1, *, statement="narcissus", **more):
    """Make the study of a bit under noise, which is written out: an exact delta of .231."""
    return load_study({
        "kind": "game",
        "world": {"name": "bits", "n": 1},
        "mechanism": {"name": "randomized-response", "epsilon": 1.0},
        "success": {"name": "prefix"},
        "statement": {"name": statement, "epsilon": 0.0, "delta": delta}
        if isinstance(statement, str)
        else statement,
        "assume": {"advantage": 0.05, "against": "hasty attackers", "of": "the coin"},
        **more,
    })  # fmt: skip


UNIVERSAL = re.compile(
    r"\b(nobody|no attacker|no one|every attacker|any attacker|all attackers|each attacker|"
    r"whoever|everybody|anyone|everyone)\b",
    re.IGNORECASE,
)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


@pytest.mark.parametrize(
    ("study", "status", "grade"),
    [
        (stretched(128), "met", "proved if"),
        (stretched(outside=["seed-search"]), "met", "proved if"),
        (stretched(), "inconclusive", "sampled"),
        (stretched(128, delta=1e-7), "inconclusive", "sampled"),
    ],
)
def test_no_sentence_speaks_of_all_attackers(study, status, grade):
    audit = run(study, rng=1)
    record = audit.record
    assert (record.status, record.grade) == (status, grade)
    page = re.sub(r"<style.*?</style>", "", render_html(record), flags=re.DOTALL)
    texts = [
        audit.verdict, str(audit), page, statement_markdown(statement_of(record)),
        render_text(record), *strings(record.to_dict()),
        *(one.text for one in answers(record).values()),
    ]  # fmt: skip
    for text in texts:
        plain = " ".join(re.sub(r"<[^>]*>", " ", text).split())
        assert not UNIVERSAL.search(plain), plain[UNIVERSAL.search(plain).start() - 80 :][:200]
    if status == "met":
        assert "against “efficient attackers”" in audit.verdict
        assert "an advantage of at most 1e-06" in record.assumptions[0]
        assert "program that runs one of “efficient attackers”" in record.assumptions[1]
        assert "efficient attackers" in " ".join(record.assessed)
        assert "Only “efficient attackers” are limited" in texts[3]


def test_an_attacker_outside_of_the_class_is_no_contradiction():
    audit = run(stretched(), rng=1)
    assert case_of(audit).undeclared == ("seed-search",)
    assert not audit.record.contradictions
    assert "it is outside of this class, or an assumption is false" in audit.verdict
    audit = run(stretched(outside=["seed-search"]), rng=1)
    assert not audit.record.contradictions
    assert "The attack seed-search is outside of it, and gained more" in audit.verdict


@pytest.mark.parametrize(
    ("study", "status", "grade", "said"),
    [
        # 1/2 tanh(1/2) is .231: with unlimited effort more than the class gets
        (small(), "met", "proved if", "With unlimited effort an attacker outside of it gains more"),
        (small(statement="fixed-baseline"), "met", "proved if", "against “hasty attackers”"),
        (small(0.3), "met", "proved", "against every attacker"),
        (small(0.01), "exceeded", "proved", "does better than allowed"),
        (
            small(attack=[{"name": "bayes"}], run={"trials": 2000}),
            "inconclusive", "not assessed", "The attack bayes exceeds the limit for “hasty",
        ),
        (
            small(privacy={"epsilon": 1.0}, world={"name": "pairs", "pairs": [[[0], [1]]]},
                  statement="pairs", delta=0.5),
            "met", "proved", "against every attacker",
        ),
    ],
)  # fmt: skip
def test_what_is_about_every_attacker_comes_first(study, status, grade, said):
    audit = run(study, rng=1)
    assert (audit.record.status, audit.record.grade) == (status, grade)
    assert said in audit.verdict
    assert not audit.record.contradictions
    if grade == "proved if":
        first = render_text(audit.record).partition("What the verdict rests on")[0]
        assert not UNIVERSAL.search(first)


def test_uses_add_up_and_the_record_is_read_again(tmp_path):
    audit = run(stretched(128, uses=3), rng=1)
    [row] = case_of(audit).classes
    assert row.value == pytest.approx(3e-6)
    [twice] = case_of(run(stretched(128, uses=3, ideal=True), rng=1)).classes
    assert twice.value == pytest.approx(6e-6)
    (tmp_path / "r.json").write_text(audit.record.to_json(), encoding="utf-8")
    read = read_record(tmp_path / "r.json")
    assert read.status == "met"
    assert "against “efficient attackers”" in read.verdict


@pytest.mark.parametrize(
    ("assume", "said"),
    [
        ({"advantage": 1.5}, "advantage"),
        ({"uses": 0}, "uses"),
        ({"against": ""}, "assume.against"),
        ({"against": " \t  \n "}, "assume.against"),
        ({"against": "efficient attackers\nRESILIENT"}, "assume.against.*one line"),
        ({"of": "the \u202ecipher"}, "assume.of.*one line"),
        ({"of": "x" * 101}, "assume.of"),
        ({"outside": ["key-search"]}, "`assume.outside` names `key-search`"),
    ],
)
def test_a_bad_assumption_is_refused(assume, said):
    with pytest.raises(NarcissusError, match=said):
        run(stretched(**assume), rng=1)


@pytest.mark.parametrize(
    "more",
    [
        {"looser": {"name": "prefix"}, "statement": {"name": "two-criteria", "delta": 0.1}},
        {"statement": {"name": "threshold", "epsilon": 0.5, "tau": 0.4}},
    ],
)
def test_a_game_without_such_a_limit_refuses_it(more):
    with pytest.raises(NarcissusError, match=r"\[assume\] is not used"):
        run(small(**more), rng=1)


@pytest.mark.parametrize("against", ["the whole world", "everyone", "attackers with a phone"])
def test_the_words_for_a_class_are_the_users_and_nothing_more(against):
    """No list of words tells a class from all attackers: they stand in quotation marks."""
    audit = run(stretched(128, against=against), rng=1)
    record = audit.record
    assert (record.status, record.grade) == ("met", "proved if")
    first = render_text(record).partition("What the verdict rests on")[0]
    for text in (audit.verdict, first, *record.assumptions[:2]):
        plain = " ".join(text.split())
        assert f"“{against}”" in plain
        assert against not in plain.replace(f"“{against}”", "")


def two_bits(**more):
    """Two uniform bits, released both flipped or neither: each released bit is fair."""
    return load_study({
        "kind": "game",
        "world": {"name": "bits", "n": 2},
        "mechanism": {"name": f"{__name__}:FlipBoth"},
        "success": {"name": "prefix", "length": 2},
        "statement": {"name": "narcissus", "epsilon": 0.0, "delta": 0.01},
        "assume": {
            "advantage": 0.0, "against": "attackers who look at one bit", "of": "the coin",
        },
        **more,
    }, allow_code=True)  # fmt: skip


class FlipBoth:
    """Flip both bits of the data set, or neither, by one fair coin."""

    def release(self, data, rng):
        return data ^ rng.integers(0, 2, (len(data), 1))


class BitByBit:
    """Copy each released bit: every bit of the attempt looks at one bit of the release."""

    def attempt(self, release, known, rng):
        return release


def test_the_advantage_of_whoever_sees_a_part_limits_no_attempt_made_of_parts():
    """Enumerated: 0 for whoever decides from one bit, 1/2 against 1/4 for the copy.

    So the theorem needs the advantage of the program that runs the attacker and checks the
    attempt, here 1/2; that is named, and the attack shows that it is no 0.
    """
    sets = list(product((0, 1), repeat=2))

    def chance(yes, data):
        return Fraction(sum(yes(tuple(b ^ coin for b in data)) for coin in (0, 1)), 2)

    deciders = [
        lambda y, place=place, says=says: says[y[place]]
        for place in (0, 1)
        for says in product((0, 1), repeat=2)
    ]
    assert all(chance(yes, s) == chance(yes, t) for yes in deciders for s in sets for t in sets)
    pairs = [(s, t) for s in sets for t in sets]
    success = sum(chance(lambda y, s=s: y == s, s) for s in sets) / 4
    own = sum(chance(lambda y, t=t: y == t, s) for s, t in pairs) / 16
    assert (success, own) == (Fraction(1, 2), Fraction(1, 4))
    composed = max(abs(chance(lambda y: y == s, s) - chance(lambda y: y == s, t)) for s, t in pairs)
    assert success - own <= composed == Fraction(1, 2)

    [_, closure] = run(two_bits(), rng=1).record.assumptions
    assert "runs one of “attackers who look at one bit” and checks the attempt" in closure
    played = run(two_bits(attack=[{"name": f"{__name__}:BitByBit"}]), rng=1)
    assert played.record.status == "inconclusive"
    assert "or an assumption is false" in played.verdict
    [row] = case_of(run(two_bits(assume={
        "advantage": 0.5, "against": "attackers who look at one bit and their checker",
        "of": "the coin",
    }), rng=1)).classes  # fmt: skip
    assert success - own <= row.value


@pytest.mark.parametrize("played", [False, True])
def test_a_fixed_guess_that_is_given_is_an_assumption(played):
    """A guess has 1/2: what is given as .1 is false, and no attacker of the class is at fault."""
    low = {"name": "fixed-baseline", "epsilon": 0.0, "delta": 0.1, "best": 0.1}
    more = {"exact": {"when": "never"}, "attack": [{"name": "fixed-guess", "guess": [0]}]}
    assume = {**SURE, "outside": ["fixed-guess"] if played else []}
    unplayable = {"mechanism": {"name": "stretched", "seed_bits": 64, "length": 256}}
    study = small(statement=low, assume=assume, run={"trials": 200}, **more)
    if not played:
        study = small(statement=low, assume=assume, **unplayable)
    record = run(study, rng=1).record
    assert (record.status, record.grade) == ("met", "proved if")
    guess = "the best fixed guess succeeds with chance at most 0.1, as [statement] says"
    assert guess in record.assumptions
    assert guess in render_text(record).replace("\n", " ").replace("    ", "")


@pytest.mark.parametrize("best", [None, 0.5])
@pytest.mark.parametrize("statement", ["narcissus", "fixed-baseline"])
def test_each_attack_beyond_the_limit_is_named_beside_a_stronger_one(statement, best):
    """Of two attacks that exceed the limit one is said to be outside; the other one is not."""
    said = {"name": statement, "epsilon": 0.0, "delta": 0.1}
    if statement == "fixed-baseline" and best is not None:
        said["best"] = best
    study = small(
        statement=said, attack=[{"name": "bayes"}, {"name": "bayes"}],
        mechanism={"name": "randomized-response", "epsilon": 3.0}, run={"trials": 1000},
        assume={**SURE, "outside": ["bayes"]},
    )  # fmt: skip
    audit = run(study, rng=1)
    assert audit.record.status == "inconclusive"
    assert "The attack bayes (2) exceeds the limit" in audit.verdict


def test_an_attack_on_a_member_of_a_family_is_compared_with_its_best_fixed_guess():
    parts = [{"name": "bits", "n": 1, "rate": 0.2}, {"name": "bits", "n": 1, "rate": 0.5}]
    study = small(
        statement="fixed-baseline", world={"name": "family", "parts": parts},
        attack=[{"name": "bayes"}], run={"trials": 1000},
    )  # fmt: skip
    audit = run(study, rng=1)
    assert audit.record.status == "inconclusive"
    assert "The attack bayes exceeds the limit" in audit.verdict


def test_the_users_side_information_is_assumed_to_draw_fresh_data_alike():
    class Told:
        def check(self, world):
            pass

        def reveal(self, world, draw, rng):
            return list(draw.data[:, 0])

        def fresh(self, world, draw, known, rng):
            return np.zeros_like(draw.data)

    more = {"exact": {"when": "never"}, "attack": [{"name": "fixed-guess", "guess": [0]}]}
    for side, own in ((Told(), True), ({"name": "rows", "rows": 1}, False)):
        record = run(small(**{"side-information": side}, run={"trials": 20}, **more), rng=1).record
        assert ("draws fresh data sets" in " ".join(record.assumptions)) == own


def test_a_fixed_guess_is_not_told_what_the_attacker_is():
    told = Game(Bits(2), RandomizedResponse(1.0), Prefix(), side=KnownRows(1))
    assert from_advantage(told, 0.1, fixed=True) is None
    assert from_advantage(told, 0.1) == 0.1


def test_a_world_of_the_users_own_is_assumed_to_draw_fresh_data_alike():
    given = bound_of_class(0.1, Assume(**SURE), own=True).limit.takes_as_given
    assert (
        given[2]
        == "the user's part draws fresh data sets as the data are drawn, given what is told"
    )
    assert len(bound_of_class(0.1, Assume(**SURE), own=False).limit.takes_as_given) == 2
