"""An audit of a given synthetic file, as a page: one picture for each risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from narcissus.report.format import MISSING, between_points, limits, number, percent, points
from narcissus.report.gives_away import merged_words
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.synthetic import (
    CountedShare,
    GroupRisk,
    RiskResult,
    SignedLimits,
    SyntheticResults,
)
from narcissus.synthetic.assess import RISKS, RiskName

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.report.charts import Range

ASKED: dict[RiskName, str] = {
    "inference": "Whoever knows a person's other columns guesses the unknown ones from the rows of "
    "the file. The same guesses are made about people of the control.",
    "singling out": "A predicate is read off the file: some columns have the values that exactly "
    "one of its rows has. It singles a person out if it holds for them and for nobody in a crowd "
    "of other people. The same predicates are tried on people of the control.",
    "linkability": "Whoever holds two parts of a person's record, apart, looks for the nearest "
    "rows of the file by each; the parts are linked if both lead to the same row. The same is "
    "tried on people of the control.",
}


def page(record: Record) -> Page:
    """Turn the record of an audit of a given file into a page."""
    results = cast("SyntheticResults", record.results)
    grouped = any(risk.groups for risk in results.risks)
    least = [] if results.merged is None else [Text([merged_words(results.merged)])]
    groups = [*least, *([_groups(results)] if grouped else [])]
    return Page(
        title=record.title,
        subtitle="Are people in the data hit more often than people who are not?",
        verdict=_verdict(record, results),
        sections=[
            Section("Who was asked about", _people(record, results)),
            *(
                Section(name[0].upper() + name[1:], list(_risk(results, name, record.grade)))
                for name in RISKS
            ),
            *([Section("Groups", groups)] if groups else []),
            Section("Method", [_method(results)]),
        ],
    )


def _verdict(record: Record, results: SyntheticResults) -> Verdict:
    beyond = [r for r in results.risks if r.verdict == "exceeded"]
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=_hurt_most(results),
        evidence_against=[_said(r) for r in beyond],
        evidence_for=[],  # an attack that fails proves nothing
        numbers=[_headline(r) for r in results.risks],
    )


def _hurt_most(results: SyntheticResults) -> tuple[str, Grade]:
    """Name those whose excess is largest for certain: a group, or everybody in the data."""
    each: list[tuple[str, RiskResult, RiskResult | GroupRisk]] = [
        *(("all people in the data", risk, risk) for risk in results.risks),
        *((f"{g.by} {g.group}", risk, g) for risk in results.risks for g in risk.groups),
    ]
    who, risk, worst = max(each, key=lambda one: one[2].excess.low if one[2].excess else -1.0)
    if worst.excess is None or worst.control is None or risk.verdict == "not assessed":
        return "not assessed, since people in the data are held against nobody.", "not assessed"
    if worst.excess.low <= 0:
        words = "nobody in the data is shown to be hit more often than others like them; that does"
        return f"{words} not show that nobody is.", "sampled"
    return (
        f"{who}. {risk.name[0].upper()}{risk.name[1:]} succeeds for {percent(worst.real.share)} of "
        f"them, and for {percent(worst.control.share)} of others like them.",
        "sampled",
    )


def _headline(risk: RiskResult) -> tuple[str, str, str, Grade]:
    name = f"{risk.name[0].upper()}{risk.name[1:]}"
    value = percent(risk.real.share)
    if risk.control is None or risk.excess is None:
        return name, value, "no control to hold it against", "not assessed"
    between = f"{between_points(risk.excess.low, risk.excess.high)} points"
    text = f"control {percent(risk.control.share)}; excess {between}"
    return name, value, text, "not assessed" if risk.verdict == "not assessed" else "sampled"


def _said(risk: RiskResult) -> str:
    text = f"{risk.name}, by {risk.attack}: {percent(risk.real.share)}"
    if risk.control is None or risk.excess is None:
        return text
    return f"{text} against {percent(risk.control.share)} ({_p_value(risk.excess.fisher)})"


def _p_value(value: float) -> str:
    return f"p = {value:.2g}" if value > 1e-300 else "p below 1e-300"


def _people(record: Record, results: SyntheticResults) -> list[Block]:
    files = results.files
    rows = [
        ("People in the data", f"{number(files.real)}, of whom {number(files.real_scored)} scored"),
        ("Rows of the synthetic file", number(files.synthetic)),
        (
            "People of the control",
            f"{number(files.control)}, of whom {number(files.control_scored)} scored"
            if files.control
            else "none",
        ),
        ("Columns", number(files.columns)),
        ("Unknown", ", ".join(record.study["threat"]["unknown"])),
    ]
    if (unlike := results.unlike) is not None:
        rows.append(
            (
                "Where the control differs most",
                f"{unlike.column} is {unlike.value}: {percent(unlike.real)} in the data, "
                f"{percent(unlike.control)} in the control (corrected p-value "
                f"{unlike.p_value:.2g}); "
                + ("refuted that both are alike" if unlike.is_shown else "not shown to differ"),
            )
        )
    return [Facts(rows)]


def _risk(results: SyntheticResults, name: RiskName, grade: Grade) -> Iterator[Block]:
    risks = [risk for risk in results.risks if risk.risk == name]
    yield Text([ASKED[name]])
    yield _picture(name, risks, grade)
    if name == "inference":
        yield _beside_the_guess(risks)
    for risk in risks:
        if risk.facts:
            yield Facts([(k[0].upper() + k[1:], number(v)) for k, v in risk.facts.items()])
    yield _tried(risks)


def _range(value: CountedShare) -> Range:
    from narcissus.report.charts import Range

    return Range(value.share, value.low, value.high)


def _picture(name: RiskName, risks: Sequence[RiskResult], grade: Grade) -> Figure:
    """Draw each secret: people of the data beside people of the control."""

    def draw(figure: MplFigure) -> None:
        from narcissus.report.dot_plot import Row, dot_plot

        dot_plot(
            figure,
            [
                Row(
                    risk.secret or name,
                    None if risk.control is None else risk.control.share,
                    _range(risk.real),
                    bold=risk.verdict == "exceeded",
                )
                for risk in risks
            ],
            without="the same attack on the control",
            with_it="on people in the data",
        )

    rows: list[list[Cell]] = [
        [
            risk.secret or name,
            risk.attack,
            risk.real.share,
            limits(risk.real.low, risk.real.high),
            None if risk.control is None else risk.control.share,
            MISSING if risk.control is None else limits(risk.control.low, risk.control.high),
            *_excess(risk.excess),
            MISSING if risk.excess is None else _p_value(risk.excess.fisher),
            points(None if risk.excess is None else risk.excess.detectable, "up"),
            risk.verdict,
        ]
        for risk in risks
    ]
    first = max(risks, key=lambda risk: risk.excess.low if risk.excess else -1.0)
    beside = "there is no control"
    if first.control is not None:
        beside = f"{percent(first.control.share)} of the control"
    return Figure(
        f"{first.name[0].upper()}{first.name[1:]}: {percent(first.real.share)} of people in the "
        f"data, {beside}",
        "A row for each secret: a circle is the share of people in the data for whom the attack "
        "succeeds, with its confidence limits, an open square the share of the control.",
        draw,
        Grid(
            f"{name[0].upper()}{name[1:]} of people in the data and of the control",
            (
                *("What", "Attack", "In the data", "Limits", "Control", "Limits of the control"),
                *("Excess, points", "Limits of the excess", "Fisher's p-value"),
                *("Would have been shown from, points", "Verdict"),
            ),
            rows,
            grades=[grade for _ in rows],
            percent=("In the data", "Control"),
        ),
        (7.4, 1.3 + 0.36 * len(risks)),
        name.replace(" ", "_"),
    )


def _excess(excess: SignedLimits | None) -> tuple[str, str]:
    if excess is None:
        return MISSING, MISSING
    return points(excess.value), between_points(excess.low, excess.high)


def _beside_the_guess(risks: Sequence[RiskResult]) -> Grid:
    """Show what the file adds to the best guess without it, on both sides."""
    rows: list[list[Cell]] = []
    for risk in risks:
        guess = risk.guess
        assert guess is not None
        rows.append(
            [
                risk.secret,
                guess.by,
                guess.real.share,
                *_excess(guess.above),
                None if guess.control is None else guess.control.share,
                *_excess(guess.taught),
            ]
        )
    grades: list[Grade] = ["sampled" for _ in rows]
    return Grid(
        "Beside the best guess without the file, from other people's records: how far above it the "
        "attack is on people in the data, and on the control (what it teaches about everybody)",
        (
            *("Secret", "Guess", "Guess, in the data", "Above it, points", "Limits of that"),
            *("Guess, control", "Taught, points", "Limits of what is taught"),
        ),
        rows,
        grades=grades,
        percent=("Guess, in the data", "Guess, control"),
    )


def _tried(risks: Sequence[RiskResult]) -> Grid:
    rows: list[list[Cell]] = [
        [risk.secret or risk.risk, name, tried.real, tried.control,
         "chosen" if name == risk.attack else ""]
        for risk in risks
        for name, tried in risk.tried.items()
    ]  # fmt: skip
    return Grid(
        "Attacks tried on the people that one was chosen on, none of whom is scored",
        ("What", "Attack", "In the data", "Control", "Chosen"),
        rows,
        percent=("In the data", "Control"),
        folded=True,
    )


def _groups(results: SyntheticResults) -> Grid:
    rows: list[list[Cell]] = [
        [
            risk.name,
            f"{group.by} {group.group}",
            group.real.people,
            group.real.share,
            None if group.control is None else group.control.share,
            *_excess(group.excess),
        ]
        for risk in results.risks
        for group in risk.groups
    ]
    grades: list[Grade] = ["sampled" if row[5] != MISSING else "not assessed" for row in rows]
    return Grid(
        f"Groups; limits hold for all of them at once, each at {results.group_confidence:.5g}",
        ("Risk", "Group", "People", "In the data", "Control", "Excess, points", "Limits"),
        rows,
        grades=grades,
        percent=("In the data", "Control"),
    )


def _method(results: SyntheticResults) -> Text:
    return Text(
        [
            "The people of the data and of the control are each divided at random in halves: on "
            "one, the attack is chosen that sets both sides apart most; on the other, it is "
            "scored. Limits of an excess are those of the exact unconditional test of two "
            "binomial counts (Berger and Boos 1994), and an excess above 0 is claimed only where "
            "Fisher's exact test refuses that there is none, which needs no more than that people "
            "of both sides are exchangeable.",
            f"{results.claims} claims are decided together at level {results.confidence:g}: each "
            f"excess is limited at {results.claim_confidence:.5g} (Bonferroni), half of the error "
            "on either side. Limits of a share by itself are at the level of one.",
            "The verdict is 'exceeded' or 'not shown': one file can show that people in it are "
            "hit more often, and never that they are not.",
        ]
    )
