"""What a page shows of a game's results: attackers, the exact profile, what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from narcissus._outwards import lower, upper
from narcissus.kinds.game.judgement import JudgedGame
from narcissus.kinds.game.result import ExactAnswer, GameAttacker, IsolationPoint, PlayedGame
from narcissus.kinds.game.words import among, theorem_of
from narcissus.kinds.layout import table
from narcissus.profiles.write_out import ROUNDING
from narcissus.report.format import limits, number, percent
from narcissus.report.page import Block, Facts, Figure, Items

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

LOST = f"<{ROUNDING:g}"
"""A delta of 0 that may be lost to rounding."""


ENDED = {
    "decided": "when the verdict was decided",
    "below": "when each attacker was shown to gain no more than is allowed",
    "budget": "when its time was spent",
    "most": "after the most trials that are played",
}


def results(case: JudgedGame) -> Iterator[Block]:
    if case.play is not None:
        yield from _attackers(case, case.play)
    if case.exact is not None:
        yield _largest(case, case.exact)
        if case.exact.member:
            where = f"{case.exact.member}{among(case)}"
            yield Facts([(f"No more is needed, of the {case.exact.name}, than at", where)])
        yield _profile(case, case.exact)
    if case.bounds:
        yield table(
            "Limits by theorems",
            case.bounds,
            {
                "Of": "what",
                "At most": lambda bound: upper(bound.value, 3),
                "By": theorem_of,
            },
            graded=[bound.limit.grade for bound in case.bounds],
        )
    if case.play is not None and case.play.curve:
        yield _curve(case, case.play.curve)
    if (memorized := case.result.memorized) is not None:
        words = f"{memorized.value:.6g} bits (proved)"
        yield Facts([("Memorized information I(S; release | Nature)", words)])


def _attackers(case: JudgedGame, play: PlayedGame) -> Iterator[Block]:
    several = len(play.attackers)
    where = f"; the limits of all {several} attackers hold jointly" if several > 1 else ""
    if case.result.near:
        where = f" at {play.member}{where}"
    elif play.member:
        where = (
            f" of {play.member}, the one of {number(case.result.members)} distributions with the "
            f"strongest evidence; the limits hold jointly for all of them{where}"
        )
    yield table(
        f"Success and own baseline in {number(play.trials)} trials{where}",
        [attacker.row for attacker in play.attackers],
        {
            "attacker": "name",
            "success": "value",
            "limits": "limits",
            "own baseline": "baseline",
            "its limits": lambda row: limits(row.about.fresh.low, row.about.fresh.high),
            "gain beyond e^epsilon x baseline": lambda row: _gap(row.about),
            "failures": lambda row: row.about.failed,
        },
        percent=("success", "own baseline"),
    ).where_known("gain beyond e^epsilon x baseline")
    if case.refuted is not None:
        all_ = "these" if case.classes else "all"
        words = f"{lower(case.refuted, places=2)}, by {all_} attackers together (estimated)"
        yield Facts([("Largest epsilon refuted at the statement's delta", words)])
    if case.decided is not None:
        level = f"{100 * case.result.confidence:g}%"
        words = f"certain after {number(case.decided)} trials, with {level} confidence"
        yield Facts([("That the statement is broken", words)])
    if (end := play.end) is not None:
        words = f"{ENDED[end.ended]}, at look {end.look}; the limits hold whenever a run ends"
        yield Facts([("The run ended", words)])
    if play.remarks:
        yield Items("Remarks", play.remarks, "warning")


def _gap(attacker: GameAttacker) -> str:
    """Return what an attacker gains at most; "" of one who failed, or fitted nothing at all."""
    gap = attacker.gap
    if gap is None or gap.high is None or not attacker.attempts or attacker.failed:
        return ""
    is_seen = attacker.success.value or attacker.fresh.value
    return f"at most {upper(gap.high, 3)}" if is_seen else ""


def _largest(case: JudgedGame, exact: ExactAnswer) -> Block:
    """Show the attacker with the largest gap, the largest success, and the delta that is enough."""
    where = f"at epsilon {exact.epsilon:g}"
    gap = where + (f", for {exact.gap_member}" if exact.gap_member else "")
    if exact.success == exact.baseline == 0:
        gap += f": no attempt gains {ROUNDING:g} or more"
    lines = [
        ("Baseline of the attacker with the largest gap", percent(exact.baseline), gap),
        ("Success of the attacker with the largest gap", percent(exact.success), gap),
        (
            "Largest success of any attacker",
            percent(exact.largest),
            f"at any baseline, also one as large{among(case)}",
        ),
    ]
    enough = f"at most {upper(exact.enough, 3)}"
    if (cover := case.result.cover) is not None:
        label = f"Delta that is enough for every rate from {cover.low:g} to {cover.high:g}"
        text = f"at epsilon {cover.epsilon:g}; rate {cover.rate:g} needs {cover.least:.4g}"
        lines.append((label, enough, text))
    elif case.result.near:
        lines.append((f"Delta that is enough for {case.result.near}", enough, where))
    columns = {"What": itemgetter(0), "Value": itemgetter(1), "Where": itemgetter(2)}
    return table("What is exact of every attacker", lines, columns, graded=exact.needed.grade)


def conversations(attacker: GameAttacker) -> Iterator[Block]:
    """Show what was said in the first trials with a mechanism that is talked with."""
    for talk in attacker.transcripts:
        greeting = f" The mechanism begins: {talk.greeting}." if talk.greeting else ""
        shown = len(talk.exchanges)
        first = f", the first {shown} of them here" if shown < talk.questions else ""
        count = "1 question" if talk.questions == 1 else f"{number(talk.questions)} questions"
        fits = "fits the data" if talk.success else "does not fit the data"
        caption = (
            f"{attacker.name} in trial {talk.trial + 1}: {count}{first}.{greeting} It came to "
            f"{talk.attempt}, which {fits}; the same against fresh data: {percent(talk.baseline)}"
        )
        columns = {"question": itemgetter(0), "answer": itemgetter(1)}
        yield table(caption, talk.exchanges, columns, graded=False)


def _profile(case: JudgedGame, exact: ExactAnswer) -> Block:
    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        epsilon = [point.epsilon for point in exact.profile]
        deltas = [point.delta for point in exact.profile]
        axes.plot(epsilon, deltas, marker="o", markersize=3, color=BLUE)
        allowed = case.result.statement.delta or 0.0
        axes.axhline(allowed, linestyle="--", linewidth=1, color=QUIET)
        axes.set(xlabel="epsilon", ylabel="delta", ylim=(0, None))

    first = exact.profile[0]
    among = f", the largest of the {case.looked_at} written out" if case.looked_at else ""
    delta = f"{first.delta:.4g}" if first.delta else LOST
    return Figure(
        title=f"The best attacker gains {delta} at epsilon {first.epsilon:g}",
        description="A falling curve: the least delta with which the mechanism is resilient, "
        "against every attacker, for each epsilon. The dashed line is the delta of the statement.",
        draw=draw,
        table=table(
            f"The exact profile{among}",
            case.findings.select(of="delta"),
            {"epsilon": "epsilon", "delta": lambda row: row.value or LOST},
        ),
        name="profile",
    )


def _curve(case: JudgedGame, points: Sequence[IsolationPoint]) -> Block:
    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        weights = [point.weight for point in points]
        success = [point.success for point in points]
        axes.plot(weights, success, color=BLUE, label="with the release")
        baseline = [point.baseline for point in points]
        axes.plot(weights, baseline, "--", color=QUIET, label="best without it")
        axes.set(
            xscale="log", xlabel="weight of the predicate, at most", ylabel="chance to isolate"
        )
        axes.legend()

    return Figure(
        title="A light predicate that isolates is the worse attack",
        description="Two curves over the largest weight of a predicate: how often the attacker "
        "isolated one row with one that light, and the best chance without the release.",
        draw=draw,
        table=table(
            "Isolating with light predicates",
            case.findings.select(of="isolated"),
            {
                "weight at most": "weight",
                "with the release": "value",
                "best without it": "baseline",
            },
        ),
        name="predicates",
    )
