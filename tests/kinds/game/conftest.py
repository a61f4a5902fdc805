"""Games made up of rows, and what follows from those of a run."""

import json

import numpy as np
import pytest

from narcissus import load_study, run
from narcissus.errors import NarcissusError
from narcissus.game import Attacked, Play
from narcissus.judgement import StudyJudgement
from narcissus.kinds.game.judgement import game_of
from narcissus.kinds.game.kind import KIND, played_game
from narcissus.kinds.game.layout import LAYOUT
from narcissus.kinds.game.numbers import (
    bound_of,
    criterion_of,
    fixed_guess,
    has_epsilon,
    proved,
)
from narcissus.kinds.game.result import ExactAnswer, GameResult, GameStatement, GapAtEpsilon
from narcissus.results import Bound, Estimate
from narcissus.rows import Quantity
from narcissus.success.statements import Resilience, Scores

STATEMENT = Resilience(0.5, 0.2)


def case_of(audit):
    """Give what follows from a run's record."""
    return game_of(KIND.judged(audit.record))


def verdict_of(case):
    """Give the words of what follows from a game."""
    return LAYOUT.verdict(StudyJudgement(case.findings, (case,)))


def estimate(value, low=None, high=None):
    return Estimate(value, low, high, 0.975, 100)


def played(outcome="no violation found", attackers=(("a", 0.3),), statement=STATEMENT, **more):
    """Make up a run of attackers, each with the lower limit of its success."""
    scores = Scores(np.ones(2, dtype=bool), np.zeros(2), 0, np.full(2, np.nan))
    every = [
        Attacked(name, estimate(0.9, low, 1.0), estimate(0.1, 0.0, 0.2), scores, 0, [])
        for name, low in attackers
    ]
    told = {"confidence": 0.95, "trials": 100, "decided": None, "capital": 0.0, "refuted": None}
    told["decides"] = attackers[0][0]
    return Play(
        outcome=outcome, statement=statement, attackers=every, entropy=1, **{**told, **more}
    )


def exact(least, given=(), *, enough=None, best=0.7, fixed=None):
    """Make up an exact answer; ``enough`` is for all rates of a family, -1 where none is known."""
    high = None if enough == -1 else least if enough is None else enough
    return ExactAnswer(
        needed=proved(least, given, low=least, high=high),
        name="in numbers", epsilon=0.5, success=0.7, baseline=0.1, largest=best, fixed=fixed,
        data_sets=2, releases=2, guesses=2, members=1,
        profile=(GapAtEpsilon(epsilon=0.5, delta=least),),
    )  # fmt: skip


def proof(value, given=(), limits="delta", theorem="T", **more):
    return bound_of(Bound(value, "delta", theorem, tuple(given), **more), limits)


def with_gap(attacker, gaps):
    gap = gaps.get(attacker.name)
    return attacker.model_copy(update={"gap": gap and Quantity.of(gap)})


def judged(exact=None, proofs=(), run=None, *, gaps=None, best=None, statement=STATEMENT, **result):
    """Judge made-up numbers on a statement."""
    epsilon = statement.epsilon if has_epsilon(statement) else None
    said = {"name": "narcissus", "words": statement.words(), "definition": statement.definition}
    said |= {"scope": "this one world", "epsilon": epsilon, "delta": statement.delta}
    play = None if run is None else played_game(None, run, stopped=False)
    attackers = () if play is None else play.attackers
    found = GameResult(
        statement=GameStatement(**said),
        confidence=0.95 if run is None else run.confidence,
        play=play
        and play.model_copy(
            update={"attackers": tuple(with_gap(one, gaps or {}) for one in attackers)}
        ),
        exact=exact,
        bounds=tuple(proofs),
        fixed_guess=fixed_guess(best, None),
        **{"members": 1, **result},
    )
    return game_of(KIND.conclude(KIND.found((criterion_of(statement),), found)))


class Keys:
    """Plays games that differ in one key, to see whether any is ignored."""

    def outcome(self, sections, section=None, key=None, value=None):
        """Give what comes out of a game, with another value of a key if one is named."""
        other = {"kind": "game", **sections}
        if section is not None:
            needed = {"epsilon": 0.4} if section == "privacy" else {}
            other[section] = {**needed, **sections.get(section, {}), key: value}
        audit = run(load_study(other))
        found = audit.results
        found["result"]["statement"] = found["result"]["statement"]["words"]
        left = [str(remark) for remark in audit.record.not_assessed]
        said = [audit.status, audit.verdict, audit.record.assumptions, left, found]
        return json.dumps(said, default=str)

    def is_used_or_refused(self, sections, section, key, value):
        """Say whether a key changes what comes out, or is refused by its name."""
        before = self.outcome(sections)
        try:
            if (section, key) == ("privacy", "delta"):
                before = self.outcome(sections, section, "epsilon", 0.4)
            return self.outcome(sections, section, key, value) != before
        except NarcissusError as error:
            return key in str(error) or section in str(error)


@pytest.fixture
def keys():
    return Keys()
