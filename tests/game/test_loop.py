"""Runs of a game against a statement, and the results of a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus._random import child
from narcissus.attacks import BayesGuess, FixedGuess, OwnAttack, Posterior, ReleasedRow
from narcissus.channels import channel
from narcissus.errors import InputError
from narcissus.evidence import anytime_limits, clopper_pearson, mean_limits
from narcissus.evidence.betting import log_mean
from narcissus.game.block import Scenario, Sources, play_block
from narcissus.game.loop import (
    BlockPlayer,
    BlockScores,
    OneStream,
    Play,
    Tally,
    gap_limits,
    named_right,
    packed,
    plan,
    remarks,
    scenarios_of,
    summary,
    unpacked,
)
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    Identity,
    PublicKey,
    RandomizedResponse,
    ThroughChannel,
)
from narcissus.observer import SilentObserver
from narcissus.success import FixedBaseline, Resilience
from narcissus.success.relations import Isolates, NamesSecret, Own, Pinned, Prefix
from narcissus.success.statements import Evidence, Scores
from narcissus.worlds import Bits, Draw, Pairs, Secret, Uniform


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
    for bad in ({"trials": 0}, {"fresh": 0}, {"rng": -1}):
        with pytest.raises(InputError):
            play(Game(Bits(4), Identity(), Prefix()), ReleasedRow("all"), **bad)
    for level in (0.0, 1.0, -1, 2):
        with pytest.raises(InputError, match="`confidence` must be in"):
            play(Game(Bits(4), Identity(), Prefix()), ReleasedRow("all"), confidence=level)

    class Shapeless:
        def holds(self, data, attempt, rng):
            return np.ones(3)

    with pytest.raises(InputError, match="one true or false for each trial"):
        play(Game(Bits(4), Identity(), Shapeless()), ReleasedRow("all"), trials=10)


def test_stopping_ends_the_run_and_says_when():
    game = Game(Bits(8), Identity(), Prefix())
    run = play(game, ReleasedRow("all"), Resilience(1.0, 0.1), trials=100_000, rng=1)
    assert run.outcome == "violates"
    assert run.decided < run.trials < 1000
    assert run.refuted > 1.0
    assert run.capital >= -math.log(0.05)
    assert "violates" in str(run)


def test_trying_more_attackers_costs_confidence():
    game = Game(Bits(8), Identity(), Prefix())
    good = {"good": ReleasedRow("all")}
    bad = {f"bad {i}": OwnAttack(lambda y: None) for i in range(9)}
    alone = play(game, good, Resilience(1.0, 0.1), trials=400, rng=1)
    among = play(game, {**good, **bad}, Resilience(1.0, 0.1), trials=400, rng=1)
    assert alone.decided < among.decided


def test_isolating_predicates_of_a_user():
    game = Game(Uniform(5, 12), Identity(), Isolates())

    def attack(release):
        first = tuple(release[0].tolist())
        return lambda row: tuple(row.tolist()) == first

    run = play(game, OwnAttack(attack), Resilience(1.0, 0.1), trials=400, rng=1)
    assert run.outcome == "violates"


@pytest.mark.parametrize("stop", [True, False])
def test_an_observer_hears_of_every_trial_and_of_the_end(stop):
    heard = []

    class Hears:
        def start(self, what, total, done=0):
            heard.append((what, total))

        def advance(self, steps=1):
            heard.append(steps)

        def finish(self):
            heard.append("end")

        def note(self, message):
            raise AssertionError(message)

    game = Game(Bits(5), Identity(), Prefix())
    run = play(game, ReleasedRow("all"), trials=3_000, stop=stop, rng=1, observer=Hears())
    assert heard[0] == ("trials", 3_000)
    assert heard[-1] == "end"
    assert sum(heard[1:-1]) == run.trials == (500 if stop else 3_000)


def test_the_run_ends_with_the_block_in_which_the_statement_falls():
    """The trial is the first at which the capital is e^(1 / alpha); more blocks change nothing."""
    game = Game(Bits(5), Identity(), Prefix())
    short = play(game, ReleasedRow("all"), Resilience(0.0, 0.9), trials=9_000, rng=1)
    whole = play(game, ReleasedRow("all"), Resilience(0.0, 0.9), trials=9_000, rng=1, stop=False)
    assert short.decided == whole.decided
    assert short.trials == 500
    assert whole.trials == 9_000
    assert short.refuted is not None
    assert short.refuted < whole.refuted
    other = play(game, ReleasedRow("all"), FixedBaseline(0.0, 0.5), trials=500, rng=1)
    assert other.refuted is None


@pytest.mark.parametrize("left_out", [0, 2])
def test_blocks_that_do_not_come_end_the_run(left_out):
    def some(player, keys):
        yield from map(player, keys[:left_out])

    game = Game(Bits(5), Identity(), Prefix())
    with pytest.raises(ValueError, match="shorter"):
        play(game, ReleasedRow("all"), trials=9_000, stop=False, through=some)


def test_what_is_not_said_is_ten_thousand_trials_at_95_percent():
    heard = []

    class Hears(SilentObserver):
        def start(self, what, total, done=0):
            heard.append(total)

    run = play(Game(Bits(5), Identity(), Prefix()), ReleasedRow("all"), observer=Hears())
    assert heard == [10_000]
    assert (run.confidence, run.outcome) == (0.95, "violates")
    assert (run.statement.epsilon, run.statement.delta) == (0, 0)


class Fading:
    """Knows the data set at the first trials, and nothing later."""

    def __init__(self, good):
        self.left = good

    def attempt(self, release, known, rng):
        knows = np.arange(len(release)) < self.left
        self.left = max(0, self.left - len(release))
        return np.where(knows[:, None], release, 1 - release)


@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_what_is_violated_is_refuted_whatever_comes_later(epsilon):
    """The bet is won after some trials; all of them together would not even tell epsilon 0."""
    game = Game(Bits(3), Identity(), Prefix(3))
    run = play(game, Fading(40), Resilience(epsilon), trials=5000, stop=False, rng=1)
    assert run.decided < 40
    assert run.attackers[0].success.value < run.attackers[0].baseline.value
    assert (run.outcome, run.refuted) == ("violates", epsilon)
    early = play(game, Fading(40), Resilience(epsilon), trials=40, stop=False, rng=1)
    assert early.refuted > epsilon
    never = play(game, Fading(0), Resilience(epsilon), trials=5000, stop=False, rng=1)
    assert (never.outcome, never.refuted) == ("no violation found", None)


SCENARIO = Scenario(
    "", Game(Bits(5), Identity(), Prefix()), {"a": ReleasedRow(), "b": ReleasedRow()}
)
GOOD, BAD = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)


def kept(*wins):
    arrays = {}
    for place, success in enumerate(wins):
        parts = {
            "success": success,
            "baseline": np.zeros(len(success)),
            "fresh": np.array(1),
            "weight": np.full(len(success), np.nan),
            "made": np.ones(len(success), dtype=bool),
            "failed": np.array(0),
            "failures": np.frombuffer(b"[]", dtype=np.uint8),
        }
        arrays |= {f"{place}/{name}": array for name, array in parts.items()}
    return arrays


def test_all_attacks_bet_together_and_the_first_crossing_counts():
    claim, hurdle = Resilience(0.0, 0.5), math.log(20)
    tally = Tally(SCENARIO, claim, hurdle)
    tally.add(40, kept(BAD, BAD))
    assert tally.decided is None
    tally.add(40, kept(GOOD, BAD))
    tally.add(40, kept(GOOD, BAD))
    paths = []
    for wins in ([BAD, GOOD, GOOD], [BAD, BAD, BAD]):
        s = np.concatenate(wins)
        scores = Scores(s, np.zeros(120), 1, np.full(120, np.nan))
        paths.append(Evidence(claim).update(scores))
    capital = log_mean(np.stack(paths))
    assert tally.capital == pytest.approx(capital.max(), abs=1e-9)
    assert tally.done == 120
    assert tally.decided == int(np.argmax(capital >= hurdle)) + 1
    assert 40 < tally.decided < 120
    assert [len(blocks) for blocks in tally.collected.values()] == [3, 3]


def test_failures_are_counted_from_the_start_of_the_run():
    tally = Tally(SCENARIO, Resilience(0.0, 0.5), math.log(20))
    told = np.frombuffer(b'[[3, 17, "ValueError: no"]]', dtype=np.uint8)
    for _ in range(2):
        tally.add(40, {**kept(BAD, BAD), "1/failed": np.array(1), "1/failures": told})
    trials = [failure.trial for block in tally.collected["b"] for failure in block.failures]
    assert trials == [3, 43]


def test_the_hurdle_is_reached_where_it_is_touched():
    claim = Resilience(0.0, 0.5)
    free = Tally(SCENARIO, claim, math.inf)
    free.add(40, kept(GOOD, GOOD))
    assert free.decided is None
    touched = Tally(SCENARIO, claim, free.capital)
    touched.add(40, kept(GOOD, GOOD))
    assert touched.decided == 40
    touched.add(40, kept(GOOD, GOOD))
    assert touched.decided == 40  # the first time counts
    assert touched.capital > free.capital


def test_capital_that_was_lost_again_was_there():
    tally = Tally(SCENARIO, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(GOOD, GOOD))
    most = tally.capital
    for _ in range(5):
        tally.add(40, kept(BAD, BAD))
    assert tally.capital == most


@pytest.mark.parametrize(("wins", "named"), [((GOOD, BAD), "a"), ((BAD, GOOD), "b")])
def test_who_decides_is_who_has_the_largest_capital_when_it_falls(wins, named):
    tally = Tally(SCENARIO, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(*wins))
    assert tally.decided is not None
    assert tally.decides == named
    tally.add(40, kept(*wins[::-1]))
    assert tally.decides == named  # what comes later decides nothing


def test_of_two_who_say_the_same_the_first_decides():
    tally = Tally(SCENARIO, Resilience(0.0, 0.5), math.log(20))
    tally.add(40, kept(BAD, BAD))
    assert (tally.decided, tally.decides) == (None, "a")


def test_each_attacker_is_limited_at_the_level_asked_for():
    game = Game(Secret([0.75, 0.25]), Constant(), NamesSecret(2))
    attacks = {"first": FixedGuess(0), "second": FixedGuess(1)}
    wins, baselines, remarks = named_right(game, attacks, trials=700, confidence=0.9, rng=1)
    assert baselines == {"first": pytest.approx(0.75), "second": pytest.approx(0.25)}
    hits = round(wins["first"].value * 700)
    assert wins["second"].value == pytest.approx(1 - hits / 700)
    by_itself = clopper_pearson(hits, 700, confidence=0.9)
    assert (wins["first"].low, wins["first"].high) == (by_itself.low, by_itself.high)
    assert wins["first"].quantity == "success of the first"
    assert remarks == ()


def test_a_plain_violation_does_not_end_the_run():
    """Every secret is given away: all are named, though a fresh one is guessed half of the time."""
    game = Game(Secret([0.5, 0.5]), ThroughChannel(channel(np.eye(2))), NamesSecret(2))
    wins, baselines, _ = named_right(
        game, {"best": BayesGuess()}, trials=3000, confidence=0.95, rng=1
    )
    assert (wins["best"].value, wins["best"].trials) == (1.0, 3000)
    assert baselines == {"best": pytest.approx(0.5)}


SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_play_names_the_member_that_is_violated():
    """One pair of three is told apart by its first record; the others never are."""

    def relation(data, attempt):
        return int(data[0]) == attempt

    def first(release):
        return int(release[0])

    game = Game(Pairs(SPLIT), Identity(), Own(relation))
    run = play(game, OwnAttack(first), Resilience(0.0, 0.2), trials=900, rng=5)
    assert run.outcome == "violates"
    assert run.members == 3
    assert run.member == "pair 2, [1, 1] and [0, 1]"
    assert run.member in str(run)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 0
    # three distributions share the level of each limit, and both rates halve it
    assert run.attackers[0].success.confidence == pytest.approx(1 - 0.05 / 3 / 2)


def test_trials_are_shared_and_workers_would_see_the_same_blocks():
    game = Game(Pairs(SPLIT), Constant(), Prefix())
    run = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=100, stop=False, rng=1)
    assert run.trials in (33, 34)
    few = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=1, stop=False, rng=1)
    assert few.trials == 1


def test_members_of_a_family_have_random_numbers_of_their_own():
    pair = SPLIT[0]
    game = Game(Pairs([pair, pair]), RandomizedResponse(1.0), Prefix())
    seen = {}

    def keep(player, keys):
        for key in keys:
            seen[key] = player(key)
            yield seen[key]

    play(game, ReleasedRow("all"), Resilience(0, 1), trials=200, stop=False, rng=3, through=keep)
    one, other = seen["batch/0/100/0"], seen["batch/0/100/1"]
    assert (one["0/success"] != other["0/success"]).any()


@pytest.mark.coverage_claim
@pytest.mark.repeats(80, 300)
def test_a_family_of_true_statements_is_refuted_no_more_often_than_said(repeats):
    """20 pairs at the edge of the statement, runs at 70%; false-alarm rate 1e-6.

    Each pair is a fair coin for the attacker, success and baseline alike, so the statement at
    epsilon 0 and delta 0 is true with equality. Without the level shared among the pairs most
    runs would call it violated.
    """
    pairs = [[[0, k], [1, k]] for k in range(20)]
    game = Game(Pairs(pairs), Constant(), Prefix(1))
    wrong = sum(
        play(game, FixedGuess([0]), Resilience(), trials=20 * 60, confidence=0.7, rng=seed).outcome
        == "violates"
        for seed in range(repeats)
    )
    assert wrong <= stats.binom.ppf(1 - 1e-6, repeats, 0.3)


class Sized:
    """A world whose data and what is behind it are of so many bytes, without holding them."""

    def __init__(self, data, nature=0):
        self.data, self.nature = data, nature

    def draw(self, trials, rng):
        nature = zeros(self.nature) if self.nature else None
        return Draw(zeros(self.data, trials) if self.data else np.zeros(trials), nature)

    def fresh(self, draw, rng):
        return draw.data


def zeros(count, *before):
    return np.broadcast_to(np.zeros(1, dtype=np.uint8), (*before, count))


class Tells:
    def __init__(self, told):
        self.told = told

    def check(self, world):
        pass

    def reveal(self, world, draw, rng):
        return zeros(self.told) if self.told else "a word"


def sizes(scenarios, trials):
    found = {}
    for block in plan(scenarios, trials):
        found.setdefault(block.place, []).append(block.size)
    return list(found.values())


@pytest.mark.parametrize(
    ("data", "nature", "told", "block"),
    [
        (32_000_000, 0, None, 1),
        (3_200_000, 0, None, 10),
        (900_000_000, 0, None, 1),
        (7_000_000, 0, None, 4),
        (1_000_000, 15_000_000, None, 2),
        (1_000_000, 1_000_000, 6_000_000, 4),
        (16_000, 0, 16_000, 500),  # a user's own parts: blocks stay small
        (100_000, 0, 0, 320),
    ],
)
def test_a_block_holds_some_32_megabytes(data, nature, told, block):
    """Of the data, of what is behind it and of what is told: each may be the largest."""
    side = None if told is None else Tells(told)
    game = Game(Sized(data, nature), Constant(), Prefix(), side=side)
    scenario = Scenario("", game, {"a": ReleasedRow()})
    assert sizes([scenario], 3 * block + 1) == [[block, block, block, 1]]


def test_first_blocks_are_small_and_then_grow_unless_a_trial_may_take_long():
    """So that a plain violation is seen at once; an interrupted run loses the blocks in flight."""
    quick = Scenario("", Game(Bits(5), Identity(), Prefix()), {"a": ReleasedRow()})
    assert sizes([quick], 33_000) == [[500, 2_000, 8_000, 10_000, 10_000, 2_500]]
    own = OwnAttack(lambda release: release)
    for slow in (
        Scenario("", quick.game, {"a": ReleasedRow(), "b": own}),
        Scenario("", Game(Bits(5), Identity(), Prefix(), looser=Own(lambda s, z: True)), {}),
        Scenario("", Game(Bits(5), Identity(), Own(lambda s, z: True)), {}),
        Scenario("", Game(Bits(5), PublicKey("deterministic"), Prefix()), {}),
    ):
        assert sizes([slow], 1_700) == [[500, 500, 500, 200]]
    wide = Scenario("", Game(Bits(16_000), Identity(), Prefix()), {"a": ReleasedRow()})
    assert sizes([wide], 5_000) == [[500, 2_000, 2_000, 500]]


@pytest.mark.parametrize(
    ("trials", "shares"), [(1, [1, 1, 1]), (3, [1, 1, 1]), (10, [4, 3, 3]), (11, [4, 4, 3])]
)
def test_trials_are_shared_evenly_and_blocks_come_in_turn(trials, shares):
    scenarios = scenarios_of(Game(Pairs(SPLIT), Identity(), Prefix()), ReleasedRow("all"))
    assert [sum(blocks) for blocks in sizes(scenarios, trials)] == shares
    many = plan(scenarios, 3 * 3_000)
    assert [(block.number, block.place) for block in many] == [
        (n, p) for n in range(3) for p in range(3)
    ]
    assert [block.key for block in many[:4]] == [
        "batch/0/500/0",
        "batch/0/500/1",
        "batch/0/500/2",
        "batch/1/2000/0",
    ]
    [first, *_] = plan(scenarios[:1], 3_000)
    assert first.key == "batch/0/500"


def test_generators_are_alone_unless_the_block_and_the_scenario_are_the_same():
    """Of 200 blocks of 200 scenarios, and of attacks in each, no two begin with the same number."""
    streams = OneStream(7, alone=False)
    begun = {}
    for number, place in [*((0, p) for p in range(200)), *((n, 0) for n in range(1, 200))]:
        sources = streams(number, place)
        assert sources.world is sources.release
        begun[number, place, "world"] = sources.world.integers(2**63)
        for outcome in range(2):
            own = sources.attack(outcome, "whoever")
            begun[number, place, outcome] = own.integers(2**63)
    assert len(set(begun.values())) == len(begun)
    again = OneStream(7, alone=False)(3, 0)
    assert again.world.integers(2**63) == begun[3, 0, "world"]
    assert again.attack(1, "by its place").integers(2**63) == begun[3, 0, 1]
    alone = OneStream(7)(3, 0)
    assert alone.world.integers(2**63) != begun[3, 0, "world"]


def test_a_block_is_played_by_its_key():
    scenarios = scenarios_of(Game(Pairs(SPLIT), Identity(), Prefix()), ReleasedRow("all"))
    player = BlockPlayer(scenarios, OneStream(5, alone=False), 1, lambda played: played)
    played = player("batch/2/30/1")
    assert (played.number, played.place, played.draw.trials) == (2, 1, 30)
    assert played.scenario is scenarios[1]
    first = BlockPlayer(scenarios[:1], OneStream(5), 1, lambda played: played)("batch/2/30")
    assert (first.number, first.place, first.draw.trials) == (2, 0, 30)
    with pytest.raises(InputError, match="at least one attack"):
        scenarios_of(scenarios[0].game, {})


def test_who_reads_releases_does_not_talk_and_the_contrary():
    class Asks:
        def converse(self, conversation, known, rng):
            return 0

    talks = Game(Pairs([[[0], [1]]]), PublicKey(), Prefix())
    quiet = Game(Pairs([[[0], [1]]]), Identity(), Prefix())
    assert scenarios_of(talks, Asks())
    assert scenarios_of(quiet, ReleasedRow("all"))
    with pytest.raises(InputError, match=r"reads a release.*converse\(conversation, known, rng\)"):
        scenarios_of(talks, {"row": ReleasedRow("all")})
    with pytest.raises(
        InputError, match=r"the attack own asks questions, and .*Identity answers none"
    ):
        scenarios_of(quiet, {"own": Asks()})
    assert scenarios_of(talks, OwnAttack(lambda talk: 0))
    assert scenarios_of(quiet, OwnAttack(lambda release: 0))


def streams(number, place):
    return Sources(child(1, number), child(2, number), lambda place, name: child(3, number, place))


def failing(release, known, rng):
    if release[0]:
        raise ValueError("a one")
    return release


@pytest.fixture
def block():
    attacks = {"all": ReleasedRow("all"), "some": OwnAttack(failing)}
    return play_block(
        Scenario("", Game(Bits(5), Identity(), Prefix()), attacks), 0, 0, size=80, streams=streams
    )


def test_scores_survive_the_store(block):
    arrays = packed(block)
    assert all(not array.dtype.hasobject for array in arrays.values())
    for place, outcome in enumerate(block.outcomes.values()):
        back = unpacked(arrays, place)
        np.testing.assert_array_equal(back.scores.success, outcome.success)
        np.testing.assert_array_equal(back.scores.baseline, outcome.baseline)
        np.testing.assert_array_equal(back.scores.made, outcome.attempts.made)
        assert back.scores.fresh == outcome.fresh
        assert np.isnan(back.scores.weight).all()
        assert back.failed == len(outcome.attempts.failures)
        assert back.failures == outcome.attempts.failures[:20]
    assert unpacked(arrays, 1).failed > 20


def test_blocks_are_put_together_with_failures_counted_from_the_start(block):
    one = unpacked(packed(block), 1)
    both = summary("some", [one, one.moved(80)], 0.9, stopped=False)
    assert both.failed == 2 * one.failed
    assert both.success.trials == 160
    assert both.success.confidence == pytest.approx(0.95)
    assert both.success.value == one.scores.success.mean()
    assert both.attempts == 2 * int(one.scores.made.sum())
    assert [f.trial for f in one.moved(80).failures] == [f.trial + 80 for f in one.failures]
    assert f"failed on {both.failed} of 160 trials" in remarks([both])[0]
    assert remarks([summary("all", [unpacked(packed(block), 0)], 0.9, stopped=False)]) == []


def attacked(success, baseline, made=None, name="one", stopped=False, fresh=1):
    count = len(success)
    scores = Scores(
        np.asarray(success, dtype=bool),
        np.asarray(baseline, dtype=float),
        fresh,
        np.full(count, np.nan),
        None if made is None else np.asarray(made, dtype=bool),
    )
    return summary(name, [BlockScores(scores, 0, [])], 0.8, stopped=stopped)


def test_a_relation_that_never_held_is_remarked_if_it_held_for_nobody():
    nothing, won = attacked([0, 0], [0, 0]), attacked([1, 0], [0, 0])
    by_chance = attacked([0, 0], [0, 0.5], fresh=0)
    assert "the relation never held" in remarks([nothing])[0]
    assert "the relation never held" in remarks([nothing, nothing])[0]
    for others in ([won], [by_chance], [nothing, won], [by_chance, nothing]):
        assert remarks(others) == []
    silent = attacked([0, 0], [0, 0], made=[0, 0], name="silent")
    assert remarks([won, silent]) == ["silent made no attempt in any trial"]
    assert (silent.attempts, won.attempts) == (0, 2)


@pytest.mark.parametrize("stopped", [True, False])
def test_each_rate_has_half_of_the_error_and_the_method_that_allows_for_stopping(stopped):
    rng = np.random.default_rng(1)
    success = rng.random(200) < 0.7
    for fresh, baseline in ((0, rng.random(200) / 2), (1, rng.random(200) < 0.3)):
        found = attacked(success, baseline, stopped=stopped, fresh=fresh)
        for rate, seen in ((found.success, success), (found.baseline, baseline)):
            values = np.asarray(seen, dtype=float)
            if stopped:
                expected = anytime_limits(values, confidence=0.9)
            elif rate is found.success or fresh == 1:
                expected = clopper_pearson(int(values.sum()), 200, confidence=0.9)
            else:
                expected = mean_limits(values, confidence=0.9)
            assert (rate.low, rate.high) == (expected.low, expected.high)
            assert rate.value == pytest.approx(values.mean())
            assert rate.confidence == pytest.approx(0.9)


def test_no_more_than_twenty_failures_are_kept(block):
    one = unpacked(packed(block), 1)
    assert len(one.failures) == 20
    both = summary("some", [one, one.moved(80)], 0.9, stopped=False)
    assert both.failures == one.failures


def test_a_run_is_told_in_a_line_and_in_full():
    run = Play("violates", Resilience(0.0, 0.5), 0.95, 100, 7, 3.0, 0.25, [attacked([1], [0])], 1,
               ["a remark"], "pair 2", 3)  # fmt: skip
    assert repr(run) == "Play('violates', trials=100, refuted=0.25)"
    lines = str(run).splitlines()
    assert run.statement.words() in lines[0]
    assert "of 3 distributions, the numbers are those of pair 2" in lines[1]
    assert lines[-1] == "a remark"
    for rate in (run.attackers[0].success, run.attackers[0].baseline):
        assert f"one: {rate}" in lines
    alone = Play("violates", Resilience(0.0, 0.5), 0.95, 100, 7, 3.0, 0.25, [], 1)
    assert "distributions" not in str(alone)
    assert alone.members == 1


def test_what_was_said_survives_the_store_and_is_that_of_the_first_block():
    class Echo:
        interactive = True

        def answers(self, data, rng):
            question = yield "hello"
            while True:
                question = yield (question, int(data[0]))

    def attack(talk, known, rng):
        if rng.random() < 0.5:
            raise ValueError("no")
        return [talk.ask(b"bit")[1], talk.ask(None)[1]]

    scenario = Scenario("", Game(Bits(2), Echo(), Prefix()), {"own": OwnAttack(attack)})
    first, second = (play_block(scenario, k, 0, size=20, streams=streams) for k in (0, 1))
    told = first.outcomes["own"].attempts.transcripts
    assert [one.trial for one in told] == [0, 1, 2]
    assert unpacked(packed(first), 0).transcripts == told
    assert "0/transcripts" not in packed(second)
    assert unpacked(packed(second), 0).transcripts == []
    blocks = [unpacked(packed(one), 0) for one in (first, second)]
    blocks = [blocks[0].moved(0), blocks[1].moved(20)]
    assert summary("own", blocks, 0.95, stopped=False).transcripts == told


def scores(success, baseline):
    none = np.full(len(success), np.nan)
    return Scores(np.asarray(success, dtype=bool), np.asarray(baseline, dtype=float), 0, none)


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
def test_the_gap_is_success_less_so_many_times_the_baseline(epsilon, stopped):
    """Limits on the scale [-e^epsilon, 1], by the method that allows for stopping or not."""
    rng = np.random.default_rng(2)
    success, baseline = rng.random(300) < 0.6, rng.random(300) * 0.2
    found = gap_limits(scores(success, baseline), epsilon, confidence=0.9, stopped=stopped)
    factor = math.e**epsilon
    gain = success - factor * baseline
    assert found.value == pytest.approx(gain.mean())
    assert (found.trials, found.confidence) == (300, 0.9)
    method = anytime_limits if stopped else mean_limits
    limits = method((gain + factor) / (1 + factor), confidence=0.9)
    assert found.low == pytest.approx(limits.low * (1 + factor) - factor)
    assert found.high == pytest.approx(limits.high * (1 + factor) - factor)
    assert found.method == limits.method
    assert -factor <= found.low < found.value < found.high <= 1
    assert f"e^{epsilon:g}" in found.quantity


@pytest.mark.coverage_claim
def test_limits_cover_as_often_as_they_say():
    """Success .5 and baseline .3 at epsilon ln 2: a gap of -.1; 200 runs at 80%, alarm 1e-6."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        drawn = scores(rng.random(60) < 0.5, rng.random(60) < 0.3)
        found = gap_limits(drawn, math.log(2), confidence=0.8, stopped=False)
        missed += not found.low <= -0.1 <= found.high
    assert missed <= stats.binom.isf(1e-6, 200, 0.2)


def test_an_epsilon_too_large_for_limits_to_say_anything_has_none():
    drawn = scores([True] * 5, [0.0] * 5)
    assert gap_limits(drawn, math.log(99_000), confidence=0.9, stopped=False) is not None
    for epsilon in (math.log(101_000), 100.0, 1e4):
        assert gap_limits(drawn, epsilon, confidence=0.9, stopped=False) is None


def test_a_baseline_above_one_by_rounding_is_no_error():
    found = gap_limits(scores([False] * 9, [1 + 1e-12] * 9), 1.0, confidence=0.9, stopped=False)
    assert found.low == pytest.approx(-math.e)
