"""One block: attempts are asked for, scored against the data and fresh data."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from narcissus import Game, play
from narcissus._random import child
from narcissus.attacks import (
    OwnAttack,
    ParityMembership,
    Reencryption,
    ReleasedPlaces,
    ReleasedRow,
    TwoCandidates,
)
from narcissus.attacks.base import Answers, Failure
from narcissus.attacks.table import Ceiling, MeanField, PriorGuess
from narcissus.errors import InputError
from narcissus.game.block import (
    JoinedPredicates,
    Scenario,
    Sources,
    ask,
    converse,
    exact_baseline,
    guarded,
    play_block,
    score,
    surprising,
    weight,
)
from narcissus.knowledge import Candidates, Hidden, KnownRows, OtherColumns, Rates, Told
from narcissus.mechanisms import (
    Constant,
    GaussianNoise,
    Identity,
    MarginalQueries,
    NoisyAverage,
    NoisyMarginals,
    Parity,
    PublicKey,
    RandomizedResponse,
)
from narcissus.success import (
    FixedBaseline,
    KeptSurprisal,
    NarcissusResilience,
    Resilience,
    exact_match,
)
from narcissus.success.relations import (
    AnyOf,
    FirstBit,
    Hamming,
    Member,
    Own,
    Pinned,
    Prefix,
    RandomRow,
)
from narcissus.success.relations.base import Attempts
from narcissus.success.table import EachPerson
from narcissus.worlds import Bits, Draw, Pairs, RealRows, Tardos, Uniform


def alone(game, attack, trials, rng=1, **how):
    """Play one attack to the end."""
    return play(game, attack, trials=trials, stop=False, rng=rng, **how).attackers[0]


class AllOfIt:
    """Knowledge of all the data, besides."""

    def __eq__(self, other):
        return type(other) is AllOfIt

    def __hash__(self):
        return 1

    def add(self, draw, known):
        return draw.data.copy()


def test_attackers_are_played_on_the_same_data_sets():
    game = Game(Bits(8), Identity(), Pinned(1))
    both = play(
        game, {"one": ReleasedPlaces(), "two": ReleasedPlaces()}, trials=500, stop=False, rng=1
    )
    one, two = both.attackers
    assert (one.scores.success == two.scores.success).all()
    assert one.success.confidence == pytest.approx(1 - 0.05 / 2 / 2)


def test_sampled_baseline_agrees_with_the_exact_one():
    class Unnamed(Bits):
        """The same world, for which no formula is known."""

    world = Bits(6, 0.3)
    exact = alone(Game(world, Identity(), Pinned(2)), ReleasedPlaces(2), 4000)
    assert exact.scores.fresh == 0

    class NoFormula(Pinned):
        def baseline(self, world, attempt):
            return None

    sampled = alone(Game(world, Identity(), NoFormula(2)), ReleasedPlaces(2), 4000, fresh=3)
    assert sampled.scores.fresh == 3
    assert set(np.unique(sampled.scores.baseline * 3).round(6)) <= {0, 1, 2, 3}
    assert abs(sampled.baseline.value - exact.baseline.value) < 0.03


@pytest.mark.states("Cohen et al. 2024", "Definition A.2")
def test_pairs_compare_with_the_other_data_set():
    """003, Definition A.2: on a pair of two distinct strings the releaser is right or wrong."""
    game = Game(Pairs([[[0, 1], [1, 1]]]), Identity(), Prefix())
    run = alone(game, ReleasedRow("all"), 400)
    assert run.scores.success.all()
    assert not run.scores.baseline.any()


def test_two_criteria_use_the_looser_relation_for_fresh_data():
    world = Uniform(3, 10)
    strict = Game(world, Identity(), Hamming(0.0), looser=Hamming(1.0))
    run = alone(strict, ReleasedRow(), 200)
    assert run.baseline.value == 1


@pytest.mark.parametrize("part", ["world", "mechanism"])
def test_a_world_or_mechanism_that_raises_is_one_error(part):
    class Broken(Bits, Identity):
        def draw(self, trials, rng):
            if part == "world":
                raise KeyError("lost")
            return super().draw(trials, rng)

        def release(self, data, rng):
            raise KeyError("lost")

    broken = Broken(4)
    with pytest.raises(InputError, match=f"the {part} Broken raised KeyError"):
        play(Game(broken, broken, Prefix()), ReleasedRow("all"), trials=10)


def test_own_worlds_of_objects_are_played():
    class Words:
        def draw(self, trials, rng):
            return Draw([{"word": str(rng.integers(1000))} for _ in range(trials)])

        def fresh(self, draw, rng):
            return self.draw(draw.trials, rng).data

    game = Game(Words(), Identity(), Own(lambda s, z: s["word"] == z["word"]))
    run = play(game, OwnAttack(lambda release: release), Resilience(1.0), trials=300, rng=1)
    assert run.outcome == "violates"


def one_stream(number, place):
    return Sources(
        child(1, number), child(2, number), lambda place, name: child(3, number, len(name), place)
    )


class Records:
    """Attacks that write down what they are told, and copy the release."""

    def __init__(self, error=None):
        self.told, self.error = [], error

    def attempt(self, release, known, rng):
        self.told.append((release, known, rng.integers(1000)))
        if self.error is not None:
            raise self.error
        return release


class Insider(Records):
    knows = AllOfIt()


def test_an_attack_is_told_more_where_it_asks_for_it_and_no_other_is():
    game = Game(Bits(6), Identity(), Prefix(), side=KnownRows(2))
    plain, insider = Records(), Insider()
    scenario = Scenario("", game, {"plain": plain, "insider": insider})
    played = play_block(scenario, 0, 0, size=5, streams=one_stream)
    [(_, known, _)], [(_, more, _)] = plain.told, insider.told
    np.testing.assert_array_equal(known, played.draw.data[:, :2])
    np.testing.assert_array_equal(more, played.draw.data)
    assert played.told(AllOfIt()) is more  # worked out once


def test_each_part_has_the_chance_that_it_is_given():
    game = Game(Bits(6), RandomizedResponse(1.0), Prefix())
    first, second = Records(), Records()
    scenario = Scenario("", game, {"a": first, "bb": second})
    played = play_block(scenario, 4, 0, size=50, streams=one_stream)
    draw = Bits(6).draw(50, child(1, 4)).data
    np.testing.assert_array_equal(played.draw.data, draw)
    expected = RandomizedResponse(1.0).release(draw, child(2, 4))
    np.testing.assert_array_equal(played.release, expected)
    scenario = Scenario("", game, {"a": first, "bb": second}, strict=True)
    play_block(scenario, 4, 0, size=50, streams=one_stream)
    # asked strictly, an attack has its generator as it is
    assert first.told[1][2] == child(3, 4, 1, 0).integers(1000)
    assert second.told[1][2] == child(3, 4, 2, 1).integers(1000)


def test_an_attack_may_take_part_in_the_first_blocks_only():
    scenario = Scenario(
        "", Game(Bits(6), Identity(), Prefix()), {"a": Records(), "b": Records()}, {"b": 2}
    )
    names = [
        list(play_block(scenario, n, 0, size=3, streams=one_stream).outcomes) for n in range(4)
    ]
    assert names == [["a", "b"], ["a", "b"], ["a"], ["a"]]


def test_where_an_attack_must_not_fail_its_error_ends_the_run():
    game = Game(Bits(6), Identity(), Prefix())
    forgiving = Scenario("", game, {"a": Records(KeyError("lost"))})
    outcome = play_block(forgiving, 0, 0, size=3, streams=one_stream).outcomes["a"]
    assert len(outcome.attempts.failures) == 3
    assert not outcome.success.any()
    strict = Scenario("", game, {"a": Records(KeyError("lost"))}, strict=True)
    with pytest.raises(KeyError, match="lost"):
        play_block(strict, 0, 0, size=3, streams=one_stream)


def test_other_data_are_released_to_those_who_know_no_more_than_the_game_tells():
    game = Game(Bits(6), Identity(), Prefix(), side=KnownRows(2))
    plain, insider = Records(), Insider()
    scenario = Scenario("", game, {"plain": plain, "insider": insider})
    played = play_block(scenario, 0, 0, size=5, streams=one_stream)
    other = 1 - played.draw.data
    made = played.again(other, one_stream(9, 0))
    assert set(made) == {"plain"}
    np.testing.assert_array_equal(made["plain"].values, other)
    release, known, _ = plain.told[1]
    np.testing.assert_array_equal(release, other)
    np.testing.assert_array_equal(known, played.known)
    assert len(insider.told) == 1


def test_people_are_scored_one_by_one_with_exact_chances():
    """Two games of a family with the same people and the same shape of noise."""
    queries = MarginalQueries((2, 2, 3), (2,), 2)
    table = np.random.default_rng(0).integers(0, (2, 2, 3), (60, 3)).astype(np.int32)
    success = exact_match((3,))

    class Prior:
        names, sizes = ("a", "b", "c"), (2, 2, 3)

        def conditional(self, codes, unknown):
            return np.tile([0.2, 0.3, 0.5], (len(codes), 1))

    def scenario(scale):
        game = Game(
            RealRows(table, 10),
            NoisyMarginals(queries, GaussianNoise(scale)),
            EachPerson((2,), success),
            OtherColumns(Prior(), queries, success),
        )
        attacks = {"prior": PriorGuess(), "mean field": MeanField(), "ceiling": Ceiling()}
        return Scenario(f"{scale:g}", game, attacks, strict=True)

    little, much = (play_block(scenario(s), 3, 0, size=2, streams=one_stream) for s in (1.0, 9.0))
    np.testing.assert_array_equal(little.draw.data, much.draw.data)
    for one, two, people in zip(little.release, much.release, little.draw.data, strict=True):
        counts = queries.counts(people)
        np.testing.assert_allclose(9 * (one.cells - counts), two.cells - counts)
    secrets = little.draw.data[..., 2]
    for played in (little, much):
        for outcome in played.outcomes.values():
            guess = outcome.attempts.values
            np.testing.assert_array_equal(outcome.success, guess == secrets)
            np.testing.assert_array_equal(outcome.baseline, np.array([0.2, 0.3, 0.5])[guess])
            assert outcome.fresh == 0
        assert (played.outcomes["prior"].attempts.values == 2).all()
    hits = {name: outcome.success.mean() for name, outcome in little.outcomes.items()}
    assert hits["ceiling"] > hits["prior"]
    with pytest.raises(InputError, match="audit the release with a table study"):
        play(little.scenario.game, PriorGuess(), trials=2)


def test_one_fresh_data_set_is_drawn_unless_more_are_asked_for():
    class NoFormula(Prefix):
        def baseline(self, world, attempt):
            return None

    scenario = Scenario("", Game(Bits(1), Identity(), NoFormula()), {"a": ReleasedRow("all")})
    one = play_block(scenario, 0, 0, size=40, streams=one_stream).outcomes["a"]
    assert (one.fresh, set(one.baseline)) == (1, {0.0, 1.0})
    three = play_block(scenario, 0, 0, size=400, streams=one_stream, fresh=3).outcomes["a"]
    assert (three.fresh, set((3 * three.baseline).round(9))) == (3, {0.0, 1.0, 2.0, 3.0})


def test_no_fresh_data_set_is_drawn_where_every_baseline_is_exact(monkeypatch):
    def refuse(self, draw, rng):
        raise AssertionError

    monkeypatch.setattr(Bits, "fresh", refuse)
    scenario = Scenario("", Game(Bits(3), Identity(), Prefix()), {"a": ReleasedRow("all")})
    outcome = play_block(scenario, 0, 0, size=5, streams=one_stream).outcomes["a"]
    assert outcome.baseline == pytest.approx([1 / 8] * 5)


def test_fresh_data_sets_are_those_that_fit_what_was_told():
    """The first two rows are told, and they are all that is asked."""
    told = Game(Bits(6), Identity(), Prefix(2), side=KnownRows(2))

    class Known:
        def attempt(self, release, known, rng):
            return known

    outcome = play_block(
        Scenario("", told, {"a": Known()}), 0, 0, size=50, streams=one_stream
    ).outcomes["a"]
    assert outcome.success.all()
    assert (outcome.baseline == 1).all()
    assert outcome.fresh == 1


def test_interactive_mechanisms_talk_with_the_attacker():
    game = Game(Pairs([[[0], [1]]]), PublicKey("deterministic"), FirstBit())
    assert alone(game, Reencryption(), 50).success.value == 1

    class Rude(Reencryption):
        def prepare(self, game):
            return self

        def converse(self, conversation, known, rng):
            return conversation.ask((b"short", b"longer"))

    rude = play(game, Rude(), trials=20, stop=False, rng=1)
    assert rude.attackers[0].failed == 20
    assert "one length" in rude.remarks[0]


@pytest.mark.parametrize("kind", ["text", "array", "predicate", "bit"])
def test_attempts_at_an_interactive_mechanism_may_be_of_any_type(kind):
    """Three messages: a question, its answer, and an attempt that is no single integer."""

    class Asked:
        interactive = True

        def answers(self, data, rng):
            yield data[(yield)]

    class Curious:
        def converse(self, conversation, known, rng):
            bit = int(conversation.ask(0))
            if rng.random() < 0.3:
                return None
            made = {
                "text": f"bit {bit}",
                "array": np.array([bit, 1 - bit]),
                "predicate": lambda row: row == bit,
                "bit": bit,
            }
            return made[kind]

    relations = {
        "text": Own(lambda data, attempt: attempt == f"bit {int(data[0])}"),
        "array": Own(lambda data, attempt: list(attempt) == [int(data[0]), 1 - int(data[0])]),
        "predicate": RandomRow(),
        "bit": FirstBit(),
    }
    game = Game(Bits(1), Asked(), relations[kind])
    run = play(game, Curious(), trials=400, stop=False, rng=2)
    one = run.attackers[0]
    assert one.failed == 0
    assert (one.scores.success == one.scores.made).all()
    assert 0.6 < one.success.value < 0.8


def test_own_functions_get_what_they_ask_for():
    game = Game(Bits(6), Identity(), Prefix(), side=Told(lambda s: int(s[0])))
    seen = []

    def attack(release, known, rng):
        seen.append((int(release[0]) == known, rng.random()))
        return release

    run = play(game, OwnAttack(attack), trials=30, stop=False, rng=1)
    assert all(right for right, _ in seen)
    assert len({draw for _, draw in seen}) == 30
    assert run.attackers[0].success.value == 1
    only = play(game, OwnAttack(lambda release: release), trials=5, stop=False, rng=1)
    assert only.attackers[0].success.value == 1
    none = play(game, OwnAttack(lambda release: None), trials=30, stop=False, rng=1)
    assert none.attackers[0].success.value == 0
    assert "no attempt" in none.remarks[0]


def test_an_attack_that_fails_now_and_then_is_reported_and_the_run_goes_on():
    """One release in some hundreds makes the attacker fail; the trial counts against it."""
    game = Game(Bits(8), Identity(), Prefix())

    def attack(release, known, rng):
        if release.all():
            raise ValueError("all ones")
        return release

    run = play(game, OwnAttack(attack), trials=3000, stop=False, rng=2)
    one = run.attackers[0]
    assert run.trials == 3000
    assert 0 < one.failed < 40
    assert one.success.value == pytest.approx(1 - one.failed / 3000)
    assert len(one.failures) == min(20, one.failed)
    first = one.failures[0]
    assert first.error == "ValueError: all ones"
    assert not one.scores.success[first.trial]
    assert str(first.seed) in run.remarks[0]
    assert f"failed on {one.failed} of 3000 trials" in run.remarks[0]


def test_an_attack_in_batches_loses_only_the_trials_at_which_it_fails():
    class Batchwise:
        def attempt(self, release, known, rng):
            if (release == 1).all(axis=1).any():
                raise RuntimeError("all ones")
            return release

    one = play(Game(Bits(8), Identity(), Prefix()), Batchwise(), trials=3000, stop=False, rng=2)
    attacked = one.attackers[0]
    assert 0 < attacked.failed < 40
    assert attacked.success.value == pytest.approx(1 - attacked.failed / 3000)

    class Predicates:
        def attempt(self, release, known, rng):
            if (release[:, 0] == 1).all(axis=1).any():
                raise RuntimeError("all ones")
            return ParityMembership().attempt(release, known, rng)

    game = Game(Uniform(2, 8), Parity(), RandomRow())
    attacked = alone(game, Predicates(), 500, rng=2)
    assert 0 < attacked.failed < 80
    assert attacked.success.value == pytest.approx(1 - attacked.failed / 500)


def test_a_trial_that_is_asked_again_has_a_seed_of_its_own():
    """An attack that must not see two releases at once, and makes no attempt at some."""
    seen = []

    class OneByOne:
        def attempt(self, release, known, rng):
            if len(release) > 1:
                raise RuntimeError("one at a time")
            assert known.tolist() == release[:, :1].tolist()
            seen.append(int(rng.integers(2**62)))
            if release[0].all():
                raise ValueError("all ones")
            return Attempts(release, np.array([not release[0, 0]]))

    release = np.random.default_rng(0).integers(0, 2, (200, 3))
    found = ask(OneByOne(), release, release[:, :1], 200, np.random.default_rng(1))
    assert len(set(seen)) == 200
    assert len({failure.seed for failure in found.failures}) == len(found.failures)
    full = release.all(axis=1)
    assert [failure.trial for failure in found.failures] == np.flatnonzero(full).tolist()
    np.testing.assert_array_equal(found.made, release[:, 0] == 0)
    for trial, value in enumerate(found.values):
        if full[trial]:
            assert value is None
        else:
            np.testing.assert_array_equal(value, release[trial])
    [first, *_] = found.failures
    again = np.random.default_rng(first.seed).integers(2**62)
    assert again == seen[first.trial]


def test_what_an_attack_gives_is_taken_as_it_is():
    class Gives:
        def __init__(self, answer):
            self.answer = answer

        def attempt(self, release, known, rng):
            return self.answer

    values, made = np.zeros((3, 2)), np.array([True, False, True])
    rng = np.random.default_rng(0)
    plain = ask(Gives(values), values, None, 3, rng)
    assert plain.values is values
    assert plain.made.tolist() == [True] * 3
    wrapped = ask(Gives(Attempts(values, made)), values, None, 3, rng)
    assert (wrapped.values is values, wrapped.made is made, wrapped.failures) == (True, True, [])
    answers = Answers(values, made, [Failure(1, 2, "x")])
    assert ask(Gives(answers), values, None, 3, rng) is answers


def test_predicates_of_single_trials_are_one_batch():
    """One that failed holds nowhere; those that know their weight tell it."""

    class Light:
        def __init__(self, value, weight):
            self.value, self.known = value, weight

        def __call__(self, rows):
            assert len(rows) == 1  # those of its own trial
            return (rows == self.value).astype(float)

        def weight(self, world):
            return None if self.known is None else np.array([self.known])

    parts = [Light(1, 0.5), None, Light(0, None), lambda rows: np.ones(rows.shape)]
    joined = JoinedPredicates(parts)
    rows = np.array([[0, 1], [0, 1], [0, 1], [0, 1]])
    assert joined(rows).tolist() == [[0, 1], [0, 0], [1, 0], [1, 1]]
    np.testing.assert_array_equal(joined.weight(None), [0.5, np.nan, np.nan, np.nan])
    assert len(joined) == 4
    assert joined.take(np.array([2, 0])).parts == [parts[2], parts[0]]
    assert joined.take(np.array([2, 0]))(rows[:2]).tolist() == [[1, 0], [0, 1]]


def test_an_error_in_a_part_names_it_and_ours_pass():
    def broken():
        raise KeyError("lost")

    def refused():
        raise InputError("as it was")

    with pytest.raises(InputError, match="the world list raised KeyError: 'lost'"):
        guarded("world", [], broken)
    with pytest.raises(InputError, match=r"^as it was$"):
        guarded("world", [], refused)
    assert guarded("world", [], lambda: 3) == 3


class Talks:
    """Says a number of its own, then repeats what it is asked."""

    interactive = True

    def answers(self, data, rng):
        question = yield int(rng.integers(2**62))
        while True:
            question = yield question


def conversed(mechanism, function, trials=4, known=None, kept=3):
    draw = Bits(1).draw(trials, np.random.default_rng(1))
    attack, rng = OwnAttack(function), np.random.default_rng(2)
    return converse(mechanism, draw, known, attack, rng, kept=kept)


def test_every_conversation_has_chance_of_its_own_on_both_sides():
    found = conversed(Talks(), lambda talk, known, rng: (talk.greeting, rng.integers(2**62)), 300)
    assert len({value for pair in found.values for value in pair}) == 600
    assert found.made.all()


def test_the_attacker_has_not_the_generator_of_the_mechanism():
    """Who had it would know the coins that come: no encryption would be secure."""

    class Coins(Talks):
        def answers(self, data, rng):
            yield
            yield rng.random()

    def looks_ahead(talk, known, rng):
        coin = copy.deepcopy(rng).random()
        return bool(talk.ask(0) != coin)

    assert all(conversed(Coins(), looks_ahead, 50).values)


def test_who_converses_hears_what_he_is_told():
    found = conversed(Talks(), lambda talk, known: talk.ask(known), known=[3, 1, 4, 1])
    assert found.values.tolist() == [3, 1, 4, 1]


def test_what_was_said_first_is_kept():
    def attack(talk):
        for number in range(20):
            talk.ask(number)
        if talk.greeting % 2:
            raise RuntimeError("odd")
        return "done"

    found = conversed(Talks(), attack, 6, kept=4)
    assert [one.trial for one in found.transcripts] == [0, 1, 2, 3]
    failed = {failure.trial for failure in found.failures}
    for one in found.transcripts:
        assert one.questions == 20
        assert one.exchanges == tuple((str(k), str(k)) for k in range(8))
        assert one.attempt == ("nothing" if one.trial in failed else "done")
        assert (int(one.greeting) % 2 == 1) == (one.trial in failed)
    assert failed


def test_an_error_of_the_mechanism_ends_the_run_and_a_refusal_does_not():
    class Strict(Talks):
        def answers(self, data, rng):
            question = yield
            if question < 0:
                raise ValueError("no negative numbers")
            yield 1 // question

    refused = conversed(Strict(), lambda talk: talk.ask(-1))
    assert refused.failures[0].error == "ValueError: no negative numbers"
    with pytest.raises(
        InputError, match="the mechanism raised ZeroDivisionError in a conversation"
    ):
        conversed(Strict(), lambda talk: talk.ask(0))


def test_attempts_that_are_not_made_do_not_spoil_the_others():
    found = conversed(Talks(), lambda talk, known, rng: None if rng.random() < 0.5 else 7, 40)
    assert 0 < found.made.sum() < 40
    assert isinstance(found.values, np.ndarray)
    assert conversed(Talks(), lambda talk: None).made.sum() == 0


def test_surprisal_rules_out_what_was_told():
    world, side = Tardos(100, 400, 10), Candidates()
    plain = Game(world, NoisyAverage(0.5), Member(), side=side)
    with_surprisal = Game(world, NoisyAverage(0.5), Member(), side=side, surprisal=0.5)
    without = alone(plain, TwoCandidates(), 100)
    within = alone(with_surprisal, TwoCandidates(), 100)
    assert without.success.value > 0.8
    assert within.success.value == 0
    assert (without.scores.baseline == within.scores.baseline).all()
    for side, relation, other in (
        (KnownRows(1), Prefix(), "targeted"),
        (Told(lambda data, rng: 1), Member(), "surprisal is not known"),
    ):
        with pytest.raises(InputError, match=other):
            Game(Bits(4), Identity(), relation, side=side, surprisal=0.5)
    with pytest.raises(InputError, match="`surprisal` needs side information"):
        Game(world, NoisyAverage(0.5), Member(), surprisal=0.5)


@pytest.mark.parametrize(
    "side", [KnownRows(1), KnownRows(2), Candidates(), Hidden(), Rates()], ids=repr
)
@pytest.mark.parametrize("relation", [Member(), Hamming(0.34)], ids=repr)
def test_surprisal_with_an_attacker_who_abstains(side, relation):
    """Scored trial by trial from the definition: some recovered row is surprising enough."""
    world, share = Tardos(6, 3, 3), 0.7
    seen = []

    def attack(release, known, rng):
        kind = rng.integers(0, 4)
        made = None if kind == 0 else release[rng.integers(0, 3)] if kind < 3 else np.ones(3)
        seen.append(made)
        return made

    game = Game(world, Identity(), relation, side=side, surprisal=share)
    trials = 300
    scores = alone(game, OwnAttack(attack), trials).scores
    assert 0 < sum(made is None for made in seen) < trials
    rng = child(1, 0, 0)
    draw = world.draw(trials, rng)  # the block's own draw: the first thing that it does
    known = side.reveal(world, draw, rng)
    count = 0
    for trial, made in enumerate(seen):
        expected = False
        for place in range(3) if made is not None else ():
            one, index = draw.take(np.array([trial])), np.array([place])
            bits = side.surprisal(world, one, known[[trial]], index)[0]
            near = (draw.data[trial, place] != made).sum() <= (1 if relation != Member() else 0)
            enough = bits >= share * world.surprisal(one, index)[0] - 1e-9
            expected |= bool(near and enough)
        assert scores.success[trial] == expected
        count += expected
    assert count > 0
    silent = play(game, OwnAttack(lambda release: None), trials=50, stop=False, rng=1)
    assert not silent.attackers[0].scores.success.any()


@pytest.mark.parametrize(
    ("relation", "match"),
    [
        (lambda s, z: 1 / 0, "raised ZeroDivisionError"),
        (lambda s, z: "yes", "must return true or false, got 'yes'"),
        (lambda s, z: 2, "must return true or false, got 2"),
        (lambda s, z: np.array([True, False]), "must return true or false"),
        (lambda s, z: None, "must return true or false"),
    ],
)
def test_bad_relations_end_the_run_with_one_error(relation, match):
    game = Game(Bits(4), Identity(), Own(relation))
    with pytest.raises(InputError, match=match):
        play(game, ReleasedRow("all"), trials=10, rng=1)


def test_lists_of_guesses():
    game = Game(Bits(3), Constant(), AnyOf(Prefix()))
    every = [[list(map(int, f"{i:03b}")) for i in range(8)]]
    run = play(game, OwnAttack(lambda y: np.asarray(every[0])), trials=50, stop=False, rng=1)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 1


def test_predicates_of_a_user_are_asked_row_by_row():
    game = Game(Uniform(4, 3), Identity(), RandomRow())

    def attack(release):
        rows = {tuple(row) for row in release.tolist()}
        return lambda row: tuple(row.tolist()) in rows

    run = alone(game, OwnAttack(attack), 500)
    assert run.success.value == 1
    assert run.baseline.value < 0.6


def test_an_attempt_that_is_not_made_has_no_exact_baseline():
    class Sometimes:
        def attempt(self, release, known, rng):
            values = np.zeros((len(release), 2, 1), dtype=np.int64)
            return Attempts(values, np.arange(len(release)) % 2 == 0)

    game = Game(Bits(4, 0.3), Identity(), Pinned(1))
    one = alone(game, Sometimes(), 6)
    assert one.scores.fresh == 0
    assert one.scores.baseline.tolist() == pytest.approx([0.7, 0] * 3)
    assert not one.scores.success[1::2].any()


class Scored:
    """A relation that gives what it is told to."""

    def __init__(self, held):
        self.held = held

    def holds(self, data, attempt, rng):
        return self.held


@pytest.mark.parametrize(
    "held", [np.ones(3, dtype=int), np.ones(4, dtype=bool), np.ones((3, 1), dtype=bool)]
)
def test_a_relation_gives_one_true_or_false_for_each_trial(held):
    attempts = Attempts(np.zeros((3, 2)), np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="must give one true or false for each trial"):
        score(Scored(held), np.zeros((3, 2)), attempts, np.random.default_rng(0))
    good = np.array([True, False, True])
    np.testing.assert_array_equal(
        score(Scored(good), np.zeros((3, 2)), attempts, np.random.default_rng(0)), good
    )


def test_only_attempts_that_were_made_are_scored():
    made = np.array([False, True, False, True])
    attempts = Attempts(np.array([[1], [0], [0], [0]]), made)
    data = np.array([[1], [0], [0], [1]])
    rng = np.random.default_rng(0)
    assert score(Prefix(), data, attempts, rng).tolist() == [False, True, False, False]
    none = Attempts(attempts.values, np.zeros(4, dtype=bool))
    assert score(Scored(None), data, none, rng).tolist() == [False] * 4
    as_list = Attempts([None, np.array([0]), None, np.array([1])], made)
    assert score(Prefix(), data, as_list, rng).tolist() == [False, True, False, True]


def test_formulas_of_a_shipped_world_are_not_those_of_one_that_is_derived_from_it():
    """All bits are one coin: zeros are right every other time, and not once in 64 times."""

    class OneCoin(Bits):
        def draw(self, trials, rng):
            return Draw(np.repeat(rng.integers(0, 2, (trials, 1)), self.n, axis=1))

    class Zeros:
        def attempt(self, release, known, rng):
            return np.zeros((len(release), 6), dtype=np.uint8)

    game = Game(OneCoin(6), Constant(), Prefix())
    run = play(game, Zeros(), NarcissusResilience(0.0, 0.1), trials=400, rng=1)
    assert run.outcome == "no violation found"
    assert run.attackers[0].baseline.low < 0.5 < run.attackers[0].baseline.high
    assert FixedBaseline().prepare(game).best is None
    assert FixedBaseline().prepare(replace(game, relation=Pinned(6))).best is None
    shipped = replace(game, world=Bits(6), relation=Pinned(6))
    assert FixedBaseline().prepare(shipped).best == 2**-6


def test_an_exact_baseline_is_there_where_a_formula_is_and_nothing_is_told():
    """Of the looser relation where there is one; of a user's predicates none, nor of lists."""
    game = Game(Bits(2, 0.25), Identity(), Prefix())
    ones = np.ones((3, 2), dtype=int)
    every = np.ones(3, dtype=bool)
    made = np.array([True, False, True])
    assert exact_baseline(game, None, Attempts(ones, made)) == pytest.approx([1 / 16, 0, 1 / 16])
    looser = Game(Bits(2, 0.25), Identity(), Prefix(), looser=Prefix(1))
    assert exact_baseline(looser, None, Attempts(ones[:, :1], every)) == pytest.approx([0.25] * 3)
    told = Game(Bits(2, 0.25), Identity(), Prefix(), side=KnownRows(1))
    assert exact_baseline(told, None, Attempts(ones, every)) is None
    own = Game(Bits(2), Identity(), Own(lambda s, z: True))
    assert exact_baseline(own, None, Attempts(ones, every)) is None
    assert exact_baseline(game, None, Attempts([ones[0], ones[1]], every[:2])) is None
    assert exact_baseline(game, None, Attempts([], every[:0])) is None
    other_world = Game(Uniform(2, 1), Identity(), Pinned(1))
    assert exact_baseline(other_world, None, Attempts(np.zeros((3, 2, 1)), every)) is None

    class Asked:
        def holds(self, data, attempt, rng):
            raise AssertionError

        def baseline(self, world, attempt):
            return np.array([one(world) for one in attempt])

    predicates = Attempts([lambda world: 0.5, lambda world: 0.25], every[:2])
    found = exact_baseline(Game(Bits(2), Identity(), Asked()), None, predicates)
    assert found == pytest.approx([0.5, 0.25])


def test_attempts_without_a_weight_have_none():
    game = Game(Bits(2), Identity(), Prefix())
    attempts = Attempts(np.zeros((3, 2)), np.ones(3, dtype=bool))
    assert np.isnan(weight(game, attempts)).tolist() == [True] * 3

    class Light:
        def __init__(self, known):
            self.known = known

        def weight(self, world):
            return np.full(3, 1 / 2**world.n) if self.known else None

    assert weight(game, Attempts(Light(True), attempts.made)) == pytest.approx([0.25] * 3)
    assert np.isnan(weight(game, Attempts(Light(False), attempts.made))).all()


@pytest.mark.parametrize(
    ("told", "held"), [(5.0, True), (5.0 - 1e-9, True), (5.0 - 3e-9, False), (9.0, True)]
)
def test_a_row_keeps_its_share_of_surprisal_up_to_rounding(told, held):
    """Half of 10 bits: of the two rows that are recovered one is enough."""

    class Told(Candidates):
        def check(self, world):
            pass

        def surprisal(self, world, draw, known, index):
            return np.where(index == 1, told, 1.0)

    class Known(Tardos):
        def surprisal(self, draw, index):
            return np.full(len(index), 10.0)

    game = Game(Known(6, 3, 3), Identity(), Member(), side=Told(), surprisal=0.5)
    data = np.array([[[1, 1, 1], [1, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]]])
    attempts = Attempts(np.ones((2, 3)), np.ones(2, dtype=bool))
    draw = Draw(data, np.zeros(2))
    found = surprising(game, game.relation, game.kept, draw, np.zeros(2), attempts)
    assert found.tolist() == [held, False]


def test_attempts_at_data_that_are_no_array_stay_a_list():
    seen = []

    class Looks:
        def holds(self, data, attempt, rng):
            seen.append(attempt)
            return np.ones(len(attempt), dtype=bool)

    attempts = Attempts([np.zeros(2), np.ones(2)], np.ones(2, dtype=bool))
    rng = np.random.default_rng(0)
    assert score(Looks(), [{}, {}], attempts, rng).all()
    assert seen[0] is attempts.values
    score(Looks(), np.zeros((2, 2)), attempts, rng)
    assert seen[1].shape == (2, 2)


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
@pytest.mark.parametrize("looser", [None, Hamming(0.34)], ids=repr)
def test_fresh_rows_count_where_they_keep_their_share(looser):
    """Scored trial by trial: some row of the fresh data is recovered and surprising enough."""
    world, side, trials = Tardos(6, 3, 3), Candidates(), 300
    game = Game(
        world, Identity(), Member(), side=side, looser=looser,
        surprisal=KeptSurprisal(0.3, fresh_share=0.8),
    )  # fmt: skip
    seen = []

    class Watched(Candidates):
        def fresh(self, world, draw, known, rng):
            data = super().fresh(world, draw, known, rng)
            seen.append((data, known))
            return data

    game = replace(game, side=Watched())
    made = []

    def attack(release, known, rng):
        made.append(known[rng.integers(0, 2)])
        return made[-1]

    scores = alone(game, OwnAttack(attack), trials).scores
    [(data, known)] = seen
    places = 0 if looser is None else 1
    for trial, attempt in enumerate(made):
        expected = False
        for place in range(3):
            one, index = Draw(data[[trial]]), np.array([place])
            bits = side.surprisal(world, one, known[[trial]], index)[0]
            near = (data[trial, place] != attempt).sum() <= places
            expected |= bool(near and bits >= 0.8 * world.surprisal(one, index)[0] - 1e-9)
        assert scores.baseline[trial] == expected
    assert 0 < scores.baseline.mean() < 1
    plain = play(replace(game, surprisal=0.3), OwnAttack(attack), trials=trials, stop=False, rng=1)
    assert (plain.attackers[0].scores.success == scores.success).all()
    assert plain.attackers[0].scores.baseline.sum() > scores.baseline.sum()


@pytest.mark.parametrize(
    ("relation", "shape"),
    [(Pinned(1), (2, 1)), (Pinned(2), (2, 2)), (Prefix(2), (2,)), (Member(), (3,))],
    ids=str,
)
def test_attempts_of_another_shape_are_refused_by_their_shapes(relation, shape):
    data = np.array([[0, 1, 1, 0], [1, 1, 0, 0]])
    data = data if not isinstance(relation, Member) else data[:, :3, None] * np.ones(3, dtype=int)
    attempts = np.zeros((2, 7), dtype=np.uint8)
    made = Attempts(attempts, np.ones(2, dtype=bool))
    with pytest.raises(InputError) as refused:
        score(relation, data, made, np.random.default_rng(0))
    assert f"takes attempts of shape {shape}" in str(refused.value)
    assert "made one of shape (7,)" in str(refused.value)
    assert "axis" not in str(refused.value)
