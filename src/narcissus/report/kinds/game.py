"""Games, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from narcissus._outwards import lower, upper
from narcissus.report.format import MISSING, limits, number, percent, theorem_of
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.base import SampledShare
from narcissus.study.results.game import AttackerResult, ExactGame, GameResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

Headline = tuple[str, str, str, Grade]

_STRIKING = 0.05
"""A gain that is shown though its limits still allow none."""


def _gain(one: AttackerResult) -> float:
    return one.success.value - one.baseline.value


def _sampled(label: str, estimate: SampledShare, where: str) -> Headline:
    level = f"{100 * estimate.confidence:g}% limits"
    text = f"{level} {limits(estimate.low, estimate.high)}{where}"
    return label, percent(estimate.value), text, estimate.grade


def _numbers(results: GameResults) -> list[Headline]:
    rows: list[Headline] = []
    best, exact = results.decisive, results.exact
    if best is not None:
        where = f", for {results.member}" if results.member else ""
        rows += [
            _sampled("The same attempts against fresh data (own baseline)", best.baseline, where),
            _sampled(f"Success of the attack {best.name}", best.success, where),
        ]
    if exact is not None:
        top = exact.best_attacker
        where = f"at epsilon {top.at_epsilon:g}"
        if top.success == top.baseline == 0 and exact.rounding is not None:
            where += f": no attempt gains {exact.rounding:g} or more"
        if exact.member:
            where += f", for {top.member}"
        any_baseline = f"at any baseline, also one as large{_among(exact)}"
        for label, value, said in (
            ("Baseline of the attacker with the largest gap", top.baseline, where),
            ("Success of the attacker with the largest gap", top.success, where),
            ("Largest success of any attacker", exact.best_success, any_baseline),
        ):
            grade: Grade = "not assessed" if value is None else exact.grade
            rows.append((label, percent(value), said, grade))
        if exact.cover is not None:
            cover = exact.cover
            label = f"Delta that is enough for every rate from {cover.low:g} to {cover.high:g}"
            said = f"at epsilon {cover.epsilon:g}; rate {cover.rate:g} needs {cover.least:.4g}"
            rows.append((label, f"at most {upper(cover.at_most, 3)}", said, exact.grade))
    for bound in results.proofs:
        label = f"{bound.grade.capitalize()}: {bound.quantity}"
        rows.append((label, bound.at_most, theorem_of(bound), bound.grade))
    return rows


def _against(results: GameResults) -> list[str]:
    """Describe what speaks against the release."""
    said: list[str] = []
    exact = results.exact
    if exact is not None and not exact.holds:
        said.append(f"exact: {exact.words} ({exact.grade})")
    confidence = percent(results.confidence)
    if results.decided is not None:
        said.append(
            f"the attackers broke the statement; certain after {results.decided} trials, at "
            f"{confidence} confidence (sampled)"
        )
        if results.largest_epsilon_refuted is not None:
            refuted = results.largest_epsilon_refuted
            said.append(f"refuted up to epsilon {lower(refuted, places=2)} at this delta (sampled)")
    for one in results.attackers:
        won, lost = one.success, one.baseline
        if won.low is not None and lost.high is not None and won.low > lost.high:
            said.append(
                f"the attack {one.name} succeeds in {percent(won.value)} of trials, the same "
                f"attempts against fresh data in {percent(lost.value)}: at least "
                f"{percent(won.low, 'down')} against at most {percent(lost.high, 'up')} "
                "(sampled)"
            )
        elif _gain(one) > _STRIKING:
            said.append(
                f"the attack {one.name} succeeded in {percent(won.value)} of "
                f"{number(won.trials)} trials, the same attempts against fresh data in "
                f"{percent(lost.value)}; too few trials to be sure that it gains (sampled)"
            )
    return said


def _for(results: GameResults) -> list[str]:
    """Describe what speaks for the release: what is proved or limited below what is allowed."""
    said: list[str] = []
    exact = results.exact
    if exact is not None and exact.holds:
        said.append(f"exact: {exact.words} ({exact.grade})")
    said += [
        f"{bound.quantity} is {bound.at_most}, by {theorem_of(bound)} ({bound.grade})"
        for bound in results.proofs
        if bound.sufficient and bound.value < 1
    ]
    allowed = results.statement.delta or 0.0
    for one in results.attackers:
        # Attempts that fit no data set at all, fresh ones included, show nothing about the release.
        hits = one.success.value > 0 or one.baseline.value > 0
        if one.gap is None or not hits or not one.attempts or one.failed:
            continue
        if one.gap.high is not None and one.gap.high < min(allowed, 1.0):
            said.append(
                f"the attack {one.name} gains at most {upper(one.gap.high, 3)} over "
                f"e^{results.statement.epsilon or 0:g} times the own baseline, below the "
                f"{allowed:g} that is allowed ({100 * one.gap.confidence:g}% limit, sampled); "
                "other attackers may gain more"
            )
    return said


def _evidence(results: GameResults) -> tuple[list[str], list[str]]:
    """Get what speaks for the release, and what against it; numbers at odds speak for nothing."""
    if results.outcome == "contradicted":
        return [], _against(results)
    return _for(results), _against(results)


def _verdict(record: Record, results: GameResults) -> Verdict:
    good, bad = _evidence(results)
    best = results.decisive
    odds: tuple[str, Grade] | None = None
    if best is not None:
        hits, base = best.success.value * 100, best.baseline.value * 100
        where = f" for {results.member}" if results.member else ""
        odds = (
            f"Of 100 attempts of {best.name}{where}, {hits:.3g} fit the data that was "
            f"released, and {base:.3g} would have fitted fresh data as well.",
            best.success.grade,
        )
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=_hurt_most(results),
        odds=odds,
        evidence_for=good,
        evidence_against=bad,
        numbers=_numbers(results),
    )


def _among(exact: ExactGame) -> str:
    """Describe of numbers of a family of rates that they are not about those between."""
    return "" if exact.cover is None else ", of the rates looked at"


def _hurt_most(results: GameResults) -> tuple[str, Grade] | None:
    """Name the distribution of a family whose data are hit most; elsewhere there is only one."""
    exact, best = results.exact, results.decisive
    if exact is not None and exact.member:
        top, grade = exact.best_attacker, exact.grade
        member, won, lost = f"{exact.member}{_among(exact)}", top.success, top.baseline
    elif results.member and best is not None:
        grade, member = "sampled", results.member
        won, lost = best.success.value, best.baseline.value
    else:
        return None
    words = f"data of {member}: the best attempts fit them in {percent(won)} of cases"
    return f"{words}, and fresh data in {percent(lost)}.", grade


def _part(part: Any) -> str:
    """Describe a section of the study in one line."""
    if not isinstance(part, dict):
        return MISSING if part is None else str(part)
    keys = [k for k in part if k != "name" and part[k] not in (None, [], {}, "")]
    values = ", ".join(f"{key} = {_short(part[key])}" for key in keys)
    return f"{part.get('name', '')}: {values}" if values else str(part.get("name", ""))


def _short(value: Any) -> str:
    text = _part(value) if isinstance(value, dict) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _worlds(study: dict[str, Any]) -> list[tuple[str, str]]:
    """Describe who the data is about; a family makes worlds, or varies the one of the study."""
    world, family = study.get("world"), study.get("family")
    rows = [("World: who the data is about", _part(world))] if world or not family else []
    if family:
        keys = [k for k in family if k != "kind" and family[k] is not None]
        values = ", ".join(f"{key} = {_short(family[key])}" for key in keys)
        rows.append(("Family: for each of", f"{family['kind']}: {values}"))
    return rows


def _setting(record: Record, results: GameResults) -> Section:
    study, statement = record.study, results.statement
    rows = [
        *_worlds(study),
        ("Mechanism: what is released", _part(study.get("mechanism"))),
        ("Success: what counts", _part(study.get("success"))),
    ]
    if study.get("looser"):
        rows.append(("What counts for fresh data", _part(study["looser"])))
    side = study.get("side-information")
    rows.append(("What the attacker is told besides", "nothing" if not side else _part(side)))
    rows += [
        (f"Attacker {n}", _part(part)) for n, part in enumerate(study.get("attack", []), start=1)
    ]
    rows += [
        ("Statement", f"{statement.name} ({statement.definition})"),
        ("In a formula", statement.words),
    ]
    if statement.scope:
        rows.append(("For", statement.scope))
    if results.source:
        rows.append(("Source of the study", results.source))
    if results.expected:
        rows.append(("Expected by the source", results.expected))
    blocks: list[Block] = [Text([results.about])] if results.about else []
    blocks.append(Facts(rows))
    assumed = [text for bound in results.proofs for text in bound.assumptions]
    assumed += results.exact.assumptions if results.exact is not None else []
    if assumed:
        title = "Taken as given by what is proved if (assumptions; tested as far as was played)"
        blocks.append(Items(title, list(dict.fromkeys(assumed))))
    return Section("Threat model and statement", blocks)


def _attackers(results: GameResults) -> list[Block]:
    rows: list[list[Any]] = []
    grades: list[Grade] = []
    for one in results.attackers:
        won, lost = one.success, one.baseline
        rows.append([
            one.name, won.value, limits(won.low, won.high), lost.value,
            limits(lost.low, lost.high), one.failed,
        ])  # fmt: skip
        grades.append("sampled")
    if not rows:
        return []
    columns = ["attacker", "success", "limits", "own baseline", "its limits", "failures"]
    where = (
        f" of {results.member}, the one of {number(results.members)} distributions with the "
        "strongest evidence; the limits hold for all of them at once"
        if results.member
        else ""
    )
    if len(rows) > 1:
        where += f"; the limits of all {len(rows)} attackers hold at once"
    blocks: list[Block] = [
        Grid(
            f"Success and own baseline in {number(results.trials)} trials{where}",
            columns,
            rows,
            grades,
            percent=("success", "own baseline"),
        )
    ]
    refuted = results.largest_epsilon_refuted
    if refuted is not None:
        words = f"{lower(refuted, places=2)}, by all attackers together (sampled)"
        blocks.append(Facts([("Largest epsilon refuted at the statement's delta", words)]))
    if results.remarks:
        blocks.append(Items("Remarks", results.remarks, "warning"))
    return blocks


def _conversations(results: GameResults) -> list[Block]:
    """Show what was said in the first trials with a mechanism that is talked with."""
    blocks: list[Block] = []
    for one in results.attackers:
        for said in one.transcripts or ():
            greeting = f" The mechanism begins: {said.greeting}." if said.greeting else ""
            shown = len(said.exchanges)
            first = f", the first {shown} of them here" if shown < said.questions else ""
            asked = "1 question" if said.questions == 1 else f"{number(said.questions)} questions"
            fits = "fits the data" if said.success else "does not fit the data"
            caption = (
                f"{one.name} in trial {said.trial + 1}: {asked}{first}.{greeting} "
                f"It came to {said.attempt}, which {fits}; the same against fresh data: "
                f"{percent(said.baseline)}"
            )
            rows = [[exchange.question, exchange.answer] for exchange in said.exchanges]
            blocks.append(Grid(caption, ["question", "answer"], rows))
    return blocks


def _profile(results: GameResults) -> list[Block]:
    exact = results.exact
    if exact is None:
        return []
    epsilon, delta = exact.epsilon, exact.delta
    # 0 may be a delta that is lost to rounding
    lost = "0" if exact.rounding is None else f"<{exact.rounding:g}"

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        axes.plot(epsilon, delta, marker="o", markersize=3, color=BLUE)
        statement = results.statement
        axes.axhline(statement.delta or 0.0, linestyle="--", linewidth=1, color=QUIET)
        axes.set_xlabel("epsilon")
        axes.set_ylabel("delta")
        axes.set_ylim(bottom=0)

    table = Grid(
        "The exact profile"
        + ("" if exact.cover is None else ", the largest of the rates written out"),
        ["epsilon", "delta"],
        [[e, d or lost] for e, d in zip(epsilon, delta, strict=True)],
        [exact.grade for _ in epsilon],
    )
    first = (f"{delta[0]:.4g}" if delta[0] else lost) if delta else MISSING
    return [
        Figure(
            title=f"The best attacker gains {first} at epsilon {epsilon[0]:g}",
            description=(
                "A falling curve: the least delta with which the mechanism is resilient, against "
                "every attacker, for each epsilon. The dashed line is the delta of the statement."
            ),
            draw=draw,
            table=table,
            name="profile",
        )
    ]


def _curve(results: GameResults) -> list[Block]:
    rows = results.curve
    if not rows:
        return []

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        weights = [row.w for row in rows]
        axes.plot(weights, [row.success for row in rows], color=BLUE, label="with the release")
        baseline = [row.baseline for row in rows]
        axes.plot(weights, baseline, "--", color=QUIET, label="best without it")
        axes.set_xscale("log")
        axes.set_xlabel("weight of the predicate, at most")
        axes.set_ylabel("chance to isolate")
        axes.legend()

    table = Grid(
        "Isolating with light predicates",
        ["weight at most", "with the release", "best without it"],
        [[row.w, row.success, row.baseline] for row in rows],
        ["sampled" for _ in rows],
    )
    return [
        Figure(
            title="A light predicate that isolates is the worse attack",
            description=(
                "Two curves over the largest weight of a predicate: how often the attacker "
                "isolated one row with one that light, and the best chance without the release."
            ),
            draw=draw,
            table=table,
            name="predicates",
        )
    ]


def page(record: Record) -> Page:
    results = cast("GameResults", record.results)
    blocks = [*_attackers(results), *_profile(results), *_curve(results)]
    if results.memorized_bits is not None:
        words = f"{results.memorized_bits:.6g} bits (proved)"
        blocks.append(Facts([("Memorized information I(S; release | Nature)", words)]))
    sections = [_setting(record, results)]
    if blocks:
        sections.append(Section("Results", blocks))
    said = _conversations(results)
    if said:
        sections.append(Section("What was said in the first trials", said))
    return Page(record.title, results.statement.words, _verdict(record, results), sections)
