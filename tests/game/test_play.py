"""The loop: what a trial is, what a run says, and what happens to bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus._random import child
from narcissus.attacks import (
    Fingerprint,
    FixedGuess,
    OwnAttack,
    ParityMembership,
    Posterior,
    Reencryption,
    ReleasedPlaces,
    ReleasedRow,
    Subtraction,
    SupersetMatching,
    TwoCandidates,
    TwoCandidatesCentred,
)
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, KnownRows, Rates, Told
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    NoisyAverage,
    Parity,
    PublicKey,
)
from narcissus.observer import SilentObserver
from narcissus.success import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Threshold,
)
from narcissus.success.relations import (
    AnyOf,
    FirstBit,
    Hamming,
    Isolates,
    Member,
    Own,
    Pinned,
    Prefix,
    RandomRow,
)
from narcissus.success.statements import Evidence, Scores, largest_refuted
from narcissus.worlds import Bits, Draw, Finite, Pairs, Tardos, Uniform


def scores(success, baseline, fresh=1, weight=None):
    s = np.asarray(success, dtype=bool)
    w = np.full(len(s), np.nan) if weight is None else np.asarray(weight, dtype=float)
    return Scores(s, np.asarray(baseline, dtype=float), fresh, w)


def test_the_same_seed_plays_the_same_run_whatever_the_number_of_trials():
    game = Game(Bits(20, 0.3), CountingQuery(), Pinned(1))
    first = play(game, Posterior(), trials=3000, stop=False, rng=7)
    again = play(game, Posterior(), trials=3000, stop=False, rng=7)
    longer = play(game, Posterior(), trials=9000, stop=False, rng=7)
    a, b, c = (run.attackers[0].scores for run in (first, again, longer))
    assert (a.success == b.success).all()
    assert (a.success[:2500] == c.success[:2500]).all()
    other = play(game, Posterior(), trials=3000, stop=False, rng=8).attackers[0].scores
    assert (a.success != other.success).any()


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
    exact = play(
        Game(world, Identity(), Pinned(2)), ReleasedPlaces(2), trials=4000, stop=False, rng=1
    ).attackers[0]
    assert exact.scores.fresh == 0

    class NoFormula(Pinned):
        def baseline(self, world, attempt):
            return None

    sampled = play(
        Game(world, Identity(), NoFormula(2)),
        ReleasedPlaces(2),
        trials=4000,
        fresh=3,
        stop=False,
        rng=1,
    ).attackers[0]
    assert sampled.scores.fresh == 3
    assert set(np.unique(sampled.scores.baseline * 3).round(6)) <= {0, 1, 2, 3}
    assert abs(sampled.baseline.value - exact.baseline.value) < 0.03


@pytest.mark.states("Cohen et al. 2024", "Definition A.2")
def test_pairs_compare_with_the_other_data_set():
    """003, Definition A.2: on a pair of two distinct strings the releaser is right or wrong."""
    game = Game(Pairs([[[0, 1], [1, 1]]]), Identity(), Prefix())
    run = play(game, ReleasedRow("all"), trials=400, stop=False, rng=1).attackers[0]
    assert run.scores.success.all()
    assert not run.scores.baseline.any()


def test_two_criteria_use_the_looser_relation_for_fresh_data():
    world = Uniform(3, 10)
    strict = Game(world, Identity(), Hamming(0.0), looser=Hamming(1.0))
    run = play(strict, ReleasedRow(), trials=200, stop=False, rng=1).attackers[0]
    assert run.baseline.value == 1


def test_surprisal_rules_out_what_was_told():
    world, side = Tardos(100, 400, 10), Candidates()
    plain = Game(world, NoisyAverage(0.5), Member(), side=side)
    with_surprisal = Game(world, NoisyAverage(0.5), Member(), side=side, surprisal=0.5)
    without = play(plain, TwoCandidates(), trials=100, stop=False, rng=1).attackers[0]
    within = play(with_surprisal, TwoCandidates(), trials=100, stop=False, rng=1).attackers[0]
    assert without.success.value > 0.8
    assert within.success.value == 0
    assert (without.scores.baseline == within.scores.baseline).all()
    for relation, other in ((Prefix(), "targeted"), (Member(), "surprisal is not known")):
        with pytest.raises(InputError, match=other):
            Game(Bits(4), Identity(), relation, side=KnownRows(1), surprisal=0.5)
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
    scores = play(game, OwnAttack(attack), trials=trials, stop=False, rng=1).attackers[0].scores
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


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    ("n", "d", "trials", "raw", "centred"),
    [(20, 5000, 4000, 0.872381, 0.914711), (100, 1000, 4000, 0.563958, 0.634016)],
)
def test_both_attackers_of_two_candidates_have_their_exact_success(n, d, trials, raw, centred):
    """Narcissus theory, additions B, noise .1: false alarm rate 1e-6 for all eight counts.

    The values hold for a second candidate outside the data set; in the game he is inside with
    chance n / N, and then any guess is right.
    """
    total = 100 * n
    game = Game(Tardos(total, d, n), NoisyAverage(0.1), Member(), side=Candidates())
    attacks = {"raw": TwoCandidates(), "centred": TwoCandidatesCentred()}
    run = play(game, attacks, trials=trials, stop=False, rng=2)
    for one, outside in zip(run.attackers, (raw, centred), strict=True):
        inside = n / total
        for hits, rate in (
            (one.scores.success, (1 - inside) * outside + inside),
            (one.scores.baseline, 0.5 + inside / 2),
        ):
            low, high = (
                stats.binom.ppf(1e-6 / 16, trials, rate),
                stats.binom.isf(1e-6 / 16, trials, rate),
            )
            assert low <= hits.sum() <= high, one.name


@pytest.mark.parametrize("attack", [TwoCandidates(), TwoCandidatesCentred()], ids=repr)
def test_attackers_of_candidates_need_candidates(attack):
    for side in (None, KnownRows(1), Hidden()):
        with pytest.raises(InputError, match="needs the side information `candidates`"):
            attack.prepare(Game(Tardos(5, 4, 2), Identity(), Member(), side=side))


def test_raw_and_centred_inner_products_by_hand():
    pair = np.array([[[1, 1, 1, 1], [1, 0, 0, 0]]], dtype=np.uint8)
    release, rng = np.array([[0.9, 0.4, 0.4, 0.4]]), np.random.default_rng(0)
    assert (TwoCandidates().attempt(release, pair, rng) == pair[:, 0]).all()
    assert (TwoCandidatesCentred().attempt(release, pair, rng) == pair[:, 1]).all()


def test_superset_matching_needs_a_list_of_rows():
    finite = Finite([[0, 1], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    for world, side in ((Tardos(5, 4, 2), Rates()), (finite, Hidden())):
        with pytest.raises(InputError, match="needs a list of rows"):
            SupersetMatching().prepare(Game(world, Parity(), Member(), side=side))
    whole = Game(Tardos(30, 40, 3), Parity(), Member(), side=Hidden())
    found = play(whole, SupersetMatching(), trials=100, stop=False, rng=1).attackers[0]
    assert found.success.value == 1  # who knows the population finds the rows by their parities
    assert found.baseline.value < 0.4


def test_subtraction_needs_all_rows_but_one():
    """With fewer rows it would divide by a wrong number, and say nothing of it."""
    for side in (KnownRows(2), Hidden(), Candidates()):
        with pytest.raises(InputError, match="all rows but one"):
            Subtraction().prepare(Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=side))
    game = Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=KnownRows(3))
    assert Subtraction().prepare(game) == Subtraction()


def test_interactive_mechanisms_talk_with_the_attacker():
    game = Game(Pairs([[[0], [1]]]), PublicKey("deterministic"), FirstBit())
    assert play(game, Reencryption(), trials=50, stop=False, rng=1).attackers[0].success.value == 1

    class Rude(Reencryption):
        def choose(self, scheme, key, rng):
            return b"short", b"longer"

    rude = play(game, Rude(), trials=20, stop=False, rng=1)
    assert rude.attackers[0].failed == 20
    assert "one length" in rude.remarks[0]


@pytest.mark.parametrize("kind", ["text", "array", "predicate", "bit"])
def test_attempts_at_an_interactive_mechanism_may_be_of_any_type(kind):
    """Three messages: a question, its answer, and an attempt that is no single integer."""

    class Asked:
        interactive = True

        def interact(self, data, player, rng):
            return player.answer(data[player.ask()], rng)

    class Curious:
        def ask(self):
            return 0

        def answer(self, bit, rng):
            bit = int(bit)
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
    attacked = play(game, Predicates(), trials=500, stop=False, rng=2).attackers[0]
    assert 0 < attacked.failed < 80
    assert attacked.success.value == pytest.approx(1 - attacked.failed / 500)


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


def test_a_relation_that_never_holds_is_remarked():
    game = Game(Bits(4), Identity(), Own(lambda s, z: False))
    run = play(game, ReleasedRow("all"), trials=10, rng=1)
    assert run.outcome == "no violation found"
    assert "never held" in run.remarks[0]


def test_attempts_that_do_not_fit_the_relation_are_one_error():
    with pytest.raises(InputError, match="relation Pinned cannot score"):
        play(Game(Bits(4), Identity(), Pinned(1)), FixedGuess(3.0), trials=10, rng=1)
    with pytest.raises(InputError, match="at least one attack"):
        play(Game(Bits(4), Identity(), Prefix()), {}, trials=10)
    for bad in ({"trials": 0}, {"fresh": 0}, {"confidence": 1.0}, {"rng": -1}):
        with pytest.raises(InputError):
            play(Game(Bits(4), Identity(), Prefix()), ReleasedRow("all"), **bad)

    class Shapeless:
        def holds(self, data, attempt, rng):
            return np.ones(3)

    with pytest.raises(InputError, match="one true or false for each trial"):
        play(Game(Bits(4), Identity(), Shapeless()), ReleasedRow("all"), trials=10)


def test_own_worlds_of_objects_are_played():
    class Words:
        def draw(self, trials, rng):
            return Draw([{"word": str(rng.integers(1000))} for _ in range(trials)])

        def fresh(self, draw, rng):
            return self.draw(draw.trials, rng).data

    game = Game(Words(), Identity(), Own(lambda s, z: s["word"] == z["word"]))
    run = play(game, OwnAttack(lambda release: release), Resilience(1.0), trials=300, rng=1)
    assert run.outcome == "violates"


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

    run = play(game, OwnAttack(attack), trials=500, stop=False, rng=1).attackers[0]
    assert run.success.value == 1
    assert run.baseline.value < 0.6


def test_stopping_ends_the_run_and_says_when():
    game = Game(Bits(8), Identity(), Prefix())
    run = play(game, ReleasedRow("all"), Resilience(1.0, 0.1), trials=100_000, rng=1)
    assert run.outcome == "violates"
    assert run.decided < run.trials < 1000
    assert run.refuted > 1.0
    assert run.capital >= -math.log(0.05)
    assert "violates" in str(run)
    heard = []

    class Listening(SilentObserver):
        def advance(self, steps=1):
            heard.append(steps)

    play(game, ReleasedRow("all"), trials=700, stop=False, rng=1, observer=Listening())
    assert sum(heard) == 700


def test_trying_more_attackers_costs_confidence():
    game = Game(Bits(8), Identity(), Prefix())
    good = {"good": ReleasedRow("all")}
    bad = {f"bad {i}": OwnAttack(lambda y: None) for i in range(9)}
    alone = play(game, good, Resilience(1.0, 0.1), trials=400, rng=1)
    among = play(game, {**good, **bad}, Resilience(1.0, 0.1), trials=400, rng=1)
    assert alone.decided < among.decided


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5")
@pytest.mark.states("Kaplan et al. 2025", "Definition 1.2")
def test_statements_by_hand():
    s = scores([1, 1, 0, 0], [0.5, 0.0, 1.0, 0.0])
    assert Resilience(math.log(2), 0.25).tests(s)[0].values == pytest.approx(
        [-0.25, 0.75, -2.25, -0.25]
    )
    assert FixedBaseline(0.0, 0.1, 0.2).tests(s)[0].values == pytest.approx([0.7, 0.7, -0.3, -0.3])
    exact = scores([1, 1, 0, 0], [0.5, 0.0, 1.0, 0.0], fresh=0)
    assert Threshold(0.25, 0.1).tests(exact)[0].values == pytest.approx([-0.25, 0.75, -0.25, -0.25])
    weighed = scores([1, 1, 0], [0, 0, 0], weight=[1e-3, 0.5, 1e-9])
    tests = SinglingOut(10, 0.1, points=1).tests(weighed)
    base = 10 * 0.1 * 0.9**9
    assert tests[0].values == pytest.approx([1 - base, -base, -base])
    pair = NotMemorizing(3, 4, 0.1).tests(s)
    assert pair[0].values == pytest.approx([0.25, 0.25, -0.75, -0.75])
    assert pair[1].values == pytest.approx([-0.4, 0.1, -0.9, 0.1])
    for test in [*tests, *pair, *Resilience(1.0, 0.3).tests(s)]:
        assert (test.values >= test.lowest - 1e-12).all()


def test_threshold_counts_a_sampled_baseline_only_if_it_is_surely_small():
    few = scores([1] * 3, [0.0] * 3, fresh=20)
    assert (Threshold(0.1, 0.1).tests(few)[0].values < 0).all()  # 0 of 20 is not surely below 10%
    many = scores([1] * 3, [0.0] * 3, fresh=200)
    assert (Threshold(0.1, 0.1).tests(many)[0].values > 0.8).all()


def test_singling_out_baseline_is_the_best_weight():
    statement = SinglingOut(20, 1.0)
    grid = np.linspace(0, 1, 20_001)
    chance = 20 * grid * (1 - grid) ** 19
    for w in (1e-4, 0.01, 0.05, 0.2, 1.0):
        assert statement.baseline(w) == pytest.approx(chance[grid <= w + 1e-12].max(), rel=1e-3)


@pytest.mark.states("Kaplan et al. 2025", "Definition 1.2")
def test_memorizing_needs_both_rates():
    many, strangers = [True] * 400, [0.0] * 400
    both = Evidence(NotMemorizing(3, 4, 0.1)).update(scores(many, strangers))[-1]
    one = Evidence(NotMemorizing(3, 4, 0.1)).update(scores(many, [0.5] * 400))[-1]
    assert both > 3
    assert one < 0


def test_largest_refuted_grows_with_evidence_and_rounds_up_baselines():
    hurdle = math.log(20)
    few = largest_refuted([scores([1] * 50, [0] * 50)], 0.0, hurdle)
    many = largest_refuted([scores([1] * 5000, [0] * 5000)], 0.0, hurdle)
    assert 0 < few < many < math.log(5000)
    assert largest_refuted([scores([0] * 50, [0] * 50)], 0.0, hurdle) is None
    rng = np.random.default_rng(1)
    fine = rng.random(9000) * 0.1
    packed = largest_refuted([scores([1] * 9000, fine, fresh=0)], 0.0, hurdle)
    coarse = largest_refuted([scores([1] * 9000, np.full(9000, fine.mean()))], 0.0, hurdle)
    assert packed == pytest.approx(coarse, abs=0.1)


def test_fingerprints_hold_their_false_positive_rate():
    """Members are called more often than strangers, strangers near the rate that was asked for."""
    game = Game(Tardos(1000, 500, 20), ExactAverage(), RandomRow())
    run = play(game, Fingerprint(0.05), trials=2000, stop=False, rng=3).attackers[0]
    # Fresh data share 2% of their rows, nearly all of which are called.
    assert 0.03 < run.baseline.value < 0.10
    assert run.success.value > 0.5


def test_isolating_predicates_of_a_user():
    game = Game(Uniform(5, 12), Identity(), Isolates())

    def attack(release):
        first = tuple(release[0].tolist())
        return lambda row: tuple(row.tolist()) == first

    run = play(game, OwnAttack(attack), Resilience(1.0, 0.1), trials=400, rng=1)
    assert run.outcome == "violates"
