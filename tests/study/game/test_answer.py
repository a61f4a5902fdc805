"""A game's findings in the record: whose numbers, which proofs suffice, the curve of weights."""

import numpy as np
import pytest

from narcissus import Game, load_study, play
from narcissus.attacks import OwnAttack, ReleasedRow
from narcissus.attacks.base import Failure
from narcissus.mechanisms import Identity
from narcissus.results import Bound, Estimate
from narcissus.study.game.kind import answer
from narcissus.study.game.verdict import Ground, Judged, Proof
from narcissus.success import Resilience, SinglingOut
from narcissus.success.relations import Isolates, Prefix
from narcissus.worlds import Bits, Records

STUDY = """
kind = "game"
about = "One sentence."
source = "A paper"
expected = "violates"
[world]
name = "bits"
n = 3
[mechanism]
name = "identity"
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[statement]
name = "narcissus"
epsilon = 0.5
delta = 0.2
[run]
confidence = 0.9
"""
STATEMENT = Resilience(0.5, 0.2)
JUDGED = Judged("violates", "exceeded", "words", "sampled")


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    return load_study(path).settings


def answered(study, run, proofs=(), gaps=None, statement=STATEMENT):
    ground = Ground(statement, "this one world", None, proofs, run, gaps or {})
    return answer(study, ground, JUDGED, played=run, members=1, memorized=None)


def test_without_a_run_there_are_no_attackers(study):
    found = answered(study, None)
    assert (found.trials, found.decided, found.member, found.members) == (0, None, None, 1)
    assert (found.attackers, found.curve, found.remarks) == ((), (), ())
    assert found.largest_epsilon_refuted is None
    assert (found.about, found.source, found.expected) == ("One sentence.", "A paper", "violates")
    assert (found.outcome, found.confidence) == ("violates", 0.9)
    said = found.statement
    assert (said.name, said.epsilon, said.delta) == ("narcissus", 0.5, 0.2)
    assert (said.words, said.scope) == (STATEMENT.words(), "this one world")


def test_every_attacker_of_the_run_stands_in_it_with_what_failed(study):
    def failing(release, known, rng):
        if release[0]:
            raise ValueError("a one")
        return None if release[1] else release

    game = Game(Bits(3), Identity(), Prefix())
    attacks = {"all": ReleasedRow("all"), "some": OwnAttack(failing)}
    run = play(game, attacks, STATEMENT, trials=60, rng=1)
    found = answered(study, run, gaps={"all": Estimate(0.5, 0.1, 0.9, 0.9, 60)})
    assert (found.trials, found.decided) == (run.trials, run.decided)
    assert found.largest_epsilon_refuted == run.refuted
    assert found.remarks == tuple(run.remarks)
    for one, told in zip(run.attackers, found.attackers, strict=True):
        assert (told.name, told.attempts, told.failed) == (one.name, one.attempts, one.failed)
        assert (told.success.value, told.success.low) == (one.success.value, one.success.low)
        assert (told.baseline.value, told.baseline.high) == (one.baseline.value, one.baseline.high)
        back = [Failure(f.trial, int(f.seed), f.error) for f in told.failures]
        assert back == one.failures
    every, some = found.attackers
    assert (every.gap.value, every.gap.low, every.gap.high) == (0.5, 0.1, 0.9)
    assert some.gap is None
    assert every.baseline_exact_per_attempt
    assert some.failed > 0


def test_proofs_say_whether_they_suffice(study):
    enough = Bound(0.15, "delta", "T 1", ("it is so",))
    much = Bound(0.25, "delta", "T 2")
    found = answered(study, None, [Proof(enough, "delta"), Proof(much, "success")])
    one, other = found.proofs
    assert (one.theorem, one.limits, one.value, one.grade) == ("T 1", "delta", 0.15, "proved if")
    assert (one.sufficient, one.assumptions) == (True, ("it is so",))
    assert (other.limits, other.grade, other.sufficient) == ("success", "proved", False)
    assert (other.quantity, other.at_most) == ("delta", "at most 0.25")


def test_the_curve_has_the_best_attacker_at_each_weight(study):
    """Two attackers: one isolates with weight 1/4 always, the other with 1/2 in half the trials."""
    world = Records(2, [0.25] * 4)
    statement = SinglingOut(2, 0.5).prepare(Game(world, Identity(), Isolates()))

    def light(release):
        return lambda row: row == release[0]

    run = play(Game(world, Identity(), Isolates()), {"a": OwnAttack(light), "b": OwnAttack(light)},
               statement, trials=40, stop=False, rng=1)  # fmt: skip
    a, b = (one.scores for one in run.attackers)
    for scores, success, weight in (
        (a, np.arange(40) < 10, np.full(40, 0.25 * (1 + 1e-13))),
        (b, np.arange(40) < 20, np.where(np.arange(40) < 35, 0.5, np.nan)),
    ):
        scores.success[:], scores.weight[:] = success, weight
    found = answered(study, run, statement=statement).curve
    assert [point.w for point in found] == [0.25, 0.5]
    assert [point.success for point in found] == [10 / 40, 20 / 40]
    assert [point.baseline for point in found] == pytest.approx([2 * 0.25 * 0.75, 0.5])
