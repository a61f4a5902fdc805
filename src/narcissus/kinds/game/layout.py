"""Games as a page: the statement, who played, the exact profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from narcissus.judgement import StudyJudgement
from narcissus.kinds.game.blocks import conversations, results
from narcissus.kinds.game.glance import glance_of
from narcissus.kinds.game.judgement import JudgedGame, game_of
from narcissus.kinds.game.numbers import quoted
from narcissus.kinds.game.result import GameBound
from narcissus.kinds.game.words import (
    at_most,
    enough_words,
    theorem_of,
    verdict_words,
)
from narcissus.kinds.layout import Headings, Layout
from narcissus.report.about import Answered, EveryAttacker, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, number, percent
from narcissus.report.page import Block, Facts, Headline, Items, Section, Text
from narcissus.rows import StudyRow
from narcissus.study.record import Record


class GameLayout(Layout):
    """The words and the page of a game."""

    not_covered = ("side channels: running time, access patterns, errors",)

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title

    def subtitle(self, case: StudyJudgement) -> str:
        return case.result.statement.words

    def verdict(self, case: StudyJudgement) -> str:
        return verdict_words(game_of(case))

    def assessed(self, case: StudyJudgement) -> list[str]:
        game = game_of(case)
        lines = [
            *(f"{_who(bound)}, by {bound.theorem}" for bound in game.bounds),
            *(f"the attacker {one.name}, by {game.trials:,} trials" for one in game.attackers),
        ]
        if (exact := game.exact) is None:
            return lines
        sizes = f"{exact.data_sets:,} data sets, {exact.releases:,} releases"
        return [f"every attacker, exactly: {sizes}, {exact.guesses:,} guesses", *lines]

    def uncovered(self, case: StudyJudgement) -> list[str]:
        game = game_of(case)
        classes = "".join(f"{quoted(bound.against)} and " for bound in game.classes[:1])
        limited = game.exact is not None or game.universal
        return [
            "attackers who know more than the study says",
            f"distributions other than the study's ({game.result.statement.scope}), also where a "
            "definition asks for all",
            *self.not_covered,
            *([] if limited else [f"attackers other than {classes}the ones that were played"]),
        ]

    headings: ClassVar[Headings] = {
        ("fresh", ""): "The same attempts of {name} against fresh data",
        ("attack", "success"): "Success of the attack {name}",
        ("measure", "success"): "Success of the attacker with the largest gap",
        ("measure", ""): "{name}",
    }

    def deciding(self, case: StudyJudgement) -> Iterator[StudyRow]:
        game = game_of(case)
        for row in case.findings.rows:
            if row.role not in ("attack", "fresh") or row.about is game.decisive:
                yield row

    def glance(self, case: StudyJudgement) -> Glance:
        return glance_of(game_of(case))

    def where(self, case: StudyJudgement) -> str:
        """Return of which distribution of a family what was played is."""
        member = game_of(case).member
        return f"; what was played is for {member}" if member else ""

    def numbers(self, case: StudyJudgement) -> list[Headline]:
        game = game_of(case)
        rows = super().numbers(case)
        for bound in game.bounds:
            grade = bound.limit.grade
            label = f"{grade.capitalize()}: {bound.what}"
            rows.append((label, at_most(bound), theorem_of(bound), grade))
        return rows

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        game = game_of(case)
        talks = [block for one in game.attackers for block in conversations(one)]
        parts = (
            Section("Results", list(results(game))),
            Section("What was said in the first trials", talks),
        )
        return [_setting(record, game), *(part for part in parts if part.blocks)]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        game = game_of(case)
        limits, only = [_limit(bound) for bound in game.universal if bound.value < 1], ""
        if (exact := game.exact) is not None:
            grade, premises = exact.needed.grade, exact.needed.takes_as_given
            if game.holds and record.status == "met":
                limits.insert(0, EveryAttacker(enough_words(game, exact), grade, premises))
            if exact.largest < 1 and not game.looked_at:
                each = ""
                if exact.members > 1:
                    each = f", in each of {number(exact.members)} distributions"
                text = f"At most {percent(exact.largest, 'up')} of attempts fit the data{each}."
                limits.append(EveryAttacker(text, grade, premises))
        words = game.result.statement.words
        if game.classes and not limits:  # beside limits for all it would read as one of them
            limits, only = list(map(_limit, game.classes)), quoted(game.classes[0].against)
        return Subject(
            f"Nothing about real people. The statement that was tested: {words}.",
            limits=tuple(limits),
            against=only,
            no_ground="A game tests a statement in a world that is written down, not a release "
            "about people",
            accepted=f"the statement: {words}",
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        statement = case.result.statement
        if not statement.name.startswith("singling-out"):
            return {}
        outcome = game_of(case).outcome
        text = f"In the world of the game: {outcome}. {statement.words}"
        return {"singling out": Answered(text, record.grade)}


LAYOUT = GameLayout()


def _who(bound: GameBound) -> str:
    return quoted(bound.against) if bound.against else "every attacker"


def _limit(bound: GameBound) -> EveryAttacker:
    premises = bound.limit.takes_as_given
    return EveryAttacker(f"{bound.what}: {at_most(bound)}.", bound.limit.grade, premises)


def _part(part: Any) -> str:
    """Describe a section of the study, or a value in it, in one line."""
    if not isinstance(part, dict):
        return MISSING if part is None else str(part)
    values = {key: value for key, value in part.items() if value not in (None, [], {}, "")}
    name = str(values.pop("name", ""))
    texts = [f"{key} = {_short(_part(value))}" for key, value in values.items()]
    return f"{name}: {', '.join(texts)}" if texts else name


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _setting(record: Record, case: JudgedGame) -> Section:
    study, statement = record.study, case.result.statement
    world, family, side = (study.get(key) for key in ("world", "family", "side-information"))
    rows = [("World: who the data is about", _part(world))] if world or not family else []
    if family:  # it makes worlds, or varies the one of the study
        named = {**family, "name": family["kind"], "kind": None}
        rows.append(("Family: for each of", _part(named)))
    rows.append(("Mechanism: what is released", _part(study.get("mechanism"))))
    rows.append(("Success: what counts", _part(study.get("success"))))
    if study.get("looser"):
        rows.append(("What counts for fresh data", _part(study["looser"])))
    rows.append(("What the attacker is told besides", _part(side) if side else "nothing"))
    attacks = enumerate(study.get("attack", []), start=1)
    rows += [(f"Attacker {place}", _part(part)) for place, part in attacks]
    facts = {
        "Statement": f"{statement.name} ({statement.definition})",
        "In a formula": statement.words,
        "For": statement.scope,
        "Source of the study": study.get("source"),
        "Expected by the source": study.get("expected"),
    }
    rows += [(name, text) for name, text in facts.items() if text]
    blocks: list[Block] = [Text([study["about"]])] if study.get("about") else []
    blocks.append(Facts(rows))
    proving = [bound.limit for bound in case.bounds]
    proving += [] if case.exact is None else [case.exact.needed]
    if assumed := dict.fromkeys(text for limit in proving for text in limit.takes_as_given):
        title = "Assumed by what is proved if (tested as far as was played)"
        blocks.append(Items(title, list(assumed)))
    return Section("Threat model and statement", blocks)
