"""Refusals of unused options in a game's study, each with the reason and a remedy.

Options of the parts are refused where they are read (`narcissus.study.parts`). Here are the
sections on proofs, the exact answer and the run, whose use depends on the other sections.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from narcissus.errors import InputError
from narcissus.game import Game, play
from narcissus.game.rules import is_own
from narcissus.profiles.proofs import from_privacy
from narcissus.study.game.schema import GameStudy, Setup
from narcissus.success.relations import RandomRow
from narcissus.success.statements import NotMemorizing, Resilience
from narcissus.worlds.finite import Pairs, RandomNeighbours

PROFILE = ("limit", "epsilons", "abstain")
"""Keys of [exact] about the profile."""


def refuse_unused(study: GameStudy, setup: Setup) -> None:
    """Refuse options that the file alone shows to be unused.

    Raises InputError for a key of [exact] if nothing is written out, for [privacy] if no theorem
    takes it, and for a key of [run] if nothing is played.
    """
    for refusal in (*_exact(study, setup), *_privacy(study, setup), *_run(study, setup)):
        raise InputError(refusal)


def refuse_fresh(study: GameStudy, setup: Setup) -> None:
    """Refuse `run.fresh` if no attack on any distribution is scored on fresh data sets.

    One trial of each attack shows whether every baseline has a formula.
    """
    if "fresh" not in study.run.model_fields_set or not setup.attacks:
        return
    if not any(_asks_for_fresh(game, setup) for game in setup.game.members().values()):
        raise InputError(
            "`run.fresh` is not used: in this world the baseline of every attack has a formula, "
            "or the one fresh data set is the other of the pair: leave it out"
        )


def refuse_unwritten(study: GameStudy, reason: InputError) -> None:
    """Refuse options of the exact profile in a game that cannot be written out at any size."""
    for name in _given(study.exact, *PROFILE):
        if not (name == "limit" and study.exact.memorized):
            raise InputError(f"`exact.{name}` is not used: {reason}: leave it out") from reason


def _asks_for_fresh(game: Game, setup: Setup) -> bool:
    relation = game.looser or game.relation
    if isinstance(game.world, Pairs | RandomNeighbours) and game.side is None:
        inner = getattr(relation, "relation", relation)
        if not (is_own(relation) or isinstance(inner, RandomRow)):
            return False
    tried = play(game, setup.attacks, setup.statement, trials=1, stop=False, rng=0)
    return any(one.scores.fresh > 0 for one in tried.attackers)


def _given(section: BaseModel, *names: str) -> list[str]:
    """Return the keys that the file has, in the order of the schema."""
    return [name for name in names if name in section.model_fields_set]


def _exact(study: GameStudy, setup: Setup) -> Iterator[str]:
    exact = study.exact
    if isinstance(setup.statement, NotMemorizing):
        counted = exact.memorized  # which has the same limit
        for name in _given(exact, "when", "epsilons", "abstain", *(() if counted else ("limit",))):
            yield (
                f"`exact.{name}` is not used with the statement `memorizing`, which has no exact "
                "form: leave it out; of [exact] it takes `memorized`"
            )
    elif exact.when == "never":
        for name in _given(exact, *PROFILE, "memorized"):
            yield (
                f'`exact.{name}` is not used with `exact.when = "never"`, by which nothing is '
                f"written out: leave out `{name}`, or `when`"
            )


def _privacy(study: GameStudy, setup: Setup) -> Iterator[str]:
    if study.privacy is None:
        return
    unused = "[privacy] is not used: "
    if not isinstance(setup.statement, Resilience):
        yield (
            f"{unused}no theorem takes it to the statement `{study.statement.name}`, only to those "
            "with the attacker's own baseline: leave it out, or state `pairs`"
        )
    else:
        promise = (study.privacy.epsilon, study.privacy.delta)
        if from_privacy(setup.game, setup.statement.epsilon, promise) is None:
            yield (
                f"{unused}the theorems that take it are about data sets that differ in one record "
                "(Cohen et al. 2024, A.4 and E.1), with nothing told to the attacker and one "
                "relation: leave it out, or take a world such as `neighbours`"
            )


def _run(study: GameStudy, setup: Setup) -> Iterator[str]:
    if setup.attacks:
        return
    for name in _given(study.run, *type(study.run).model_fields):
        yield (
            f"`run.{name}` is not used: the study has no [[attack]], so nothing is played: leave "
            "it out, or add an attack"
        )
