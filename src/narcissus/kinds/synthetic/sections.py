"""The sections of a page on a given file: people, copies, each risk, groups, and the method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, dots, numbers_table, table
from narcissus.kinds.synthetic.copies import FileCount, LinkedDetail
from narcissus.kinds.synthetic.copy_sentences import by_columns, compared
from narcissus.kinds.synthetic.decisions import verdict_of
from narcissus.kinds.synthetic.excess import ExcessShare
from narcissus.kinds.synthetic.result import AssessedRisk, SyntheticResult
from narcissus.report.format import MISSING, between_points, limits, number, percent, points
from narcissus.report.gives_away import merged_words
from narcissus.report.page import Block, Facts, Figure, Grid, Range, Row, Text
from narcissus.results import Grade
from narcissus.rows import Quantity
from narcissus.study.record import Record
from narcissus.synthetic.assessment import BY_VALUE, RiskName
from narcissus.synthetic.copies import COPIES

ASKED: dict[RiskName, str] = {
    "inference": "An attacker who knows a person's other columns guesses the unknown ones from "
    "the rows of the file. The same guesses are made about people of the control.",
    BY_VALUE: "A value of one column appears in exactly one row of the file. It singles a person "
    "out if they have it and nobody in a crowd of other people has. That shows that the value was "
    "copied, and links nothing else to the person. Numbers and dates are compared by intervals, "
    "since an exact measurement is hardly anybody else's.",
    "singling out": "A predicate is read off the file: several columns have the values that "
    "exactly one of its rows has. It singles a person out if it holds for them and for nobody in "
    "a crowd of other people. No value does it alone: numbers are compared by intervals, and rare "
    "values are one. Where they are compared to the last digit, the file with shuffled columns "
    "must do less. The same predicates are tried on people of the control.",
    "linkability": "An attacker who holds two parts of a person's record looks for the nearest "
    "rows of the file by each. The parts are linked if both lead to the same row. The same is "
    "tried on people of the control.",
}


STANDING = (
    "A unique person appears in the file if one of its rows is true of them and of nobody else in "
    "the data. Coincidences are counted in the data itself: as often as people of the data are "
    "like one another, people of a fresh file would be like them. Decoys are plausible people whom "
    "one half of the data lacks; where the file holds more of them than the other half does, more "
    "coincidences are allowed for. A generator that favours some kind of people may have more "
    "still. The widest limit holds for every such generator: whoever has plausible people in the "
    "file has pairs of them in the data."
)
SIMILAR = (
    "Rows that are near a person are a fact and no verdict: similarity says little about risk "
    "(The DCR Delusion, arXiv 2505.01524)."
)


_COPIED: Headings = {
    ("attack", "copied"): "Share of them in the file",
    ("excess", "excess"): "Beyond coincidence",
}


def describe_copies(result: SyntheticResult) -> Iterator[Block]:
    """Tell what appears in the file, and how people were sought."""
    copies, people = result.copies, result.copies.people
    yield Text([STANDING, SIMILAR])
    decoys = FileCount(
        what="decoys",
        standing=people.decoys_standing,
        expected=people.decoys_expected,
        of=people.decoys,
    )
    yield table(
        "What appears in the file: exact counts, compared with what a file of as many other "
        "people of the population would hold",
        [*result.counts, decoys],
        {
            "What": lambda count: count.what + by_columns(count.columns),
            "Of": "of",
            "In the file": "standing",
            "By coincidence, about": "expected",
        },
        graded=False,
    )
    copied = [row for row in result.rows() if row.name == COPIES]
    if copied:
        yield numbers_table("Unique people whose record appears in the file", copied, _COPIED)
    yield Facts(
        [
            ("Coincidences at most", number(math.ceil(people.most))),
            (
                "Coincidences at most, whatever people the file favours",
                number(math.ceil(max(people.most, people.most_of_any_law))),
            ),
        ]
    )
    lines = [*compared(result), *map(_linked_words, copies.linked)]
    if copies.sets:
        lines.append(
            f"People were sought by {number(copies.sets)} sets of columns: all, all but one, those "
            "that are left out, together, by themselves and in pairs. The claims share the error."
        )
    if copies.small_sets:
        lines.append(
            f"Besides these, {number(copies.small_sets)} sets of two, three and more columns were "
            "counted. A set by which more people appear in the file than coincidence explains "
            "waits for a control."
        )
    if lines:
        yield Text(lines)
    if result.not_sought:
        yield Text([f"Not looked at: {'; '.join(result.not_sought)}."])


def _linked_words(linked: LinkedDetail) -> str:
    """Say whether rows with one number are alike in both files."""
    text = f"`{linked.column}` numbers rows: {number(linked.rows)} of its numbers are in both files"
    if linked.p_value is None:
        return f"{text}."
    alike = "are alike" if linked.is_alike else "are no more alike than others"
    return f"{text}, and rows with the same one {alike} (p-value {linked.p_value:.2g})."


def _people_of(rows: int, people: int) -> str:
    """Return how many people rows are about: units, where they are named."""
    return f"{number(people)} (in {number(rows)} rows)" if people else number(rows)


def describe_people(record: Record, result: SyntheticResult) -> Facts:
    files = result.files
    rows = [
        (
            "People in the data",
            f"{_people_of(files.real, files.real_people)}, of whom {number(files.real_scored)} "
            "scored",
        ),
        ("Rows of the synthetic file", number(files.synthetic)),
        (
            "People of the control",
            f"{_people_of(files.control, files.control_people)}, of whom "
            f"{number(files.control_scored)} scored"
            if files.control
            else "none",
        ),
        ("Columns", number(files.columns)),
        ("Unknown", ", ".join(record.study["threat"]["unknown"])),
    ]
    if (unlike := result.unlike) is not None:
        if (together := unlike.together) is not None and together.columns:
            rows.append(
                (
                    "Data and control in all columns together",
                    f"p-value {together.p_value:.2g}; most different in "
                    f"{' and '.join(together.columns)}",
                )
            )
        refuted = "refuted that both are alike" if unlike.is_shown else "not shown to differ"
        rows.append(
            (
                "Where the control differs most",
                f"{unlike.column} is {unlike.value}: {percent(unlike.real)} in the data, "
                f"{percent(unlike.control)} in the control (corrected p-value "
                f"{unlike.p_value:.2g}); {refuted}",
            )
        )
    return Facts(rows)


def describe_risk(case: StudyJudgement, name: RiskName, grade: Grade) -> Iterator[Block]:
    """Draw one risk, of each secret, and tell how attacks were chosen."""
    risks = [risk for risk in case.result.risks if risk.risk == name]
    yield Text([ASKED[name]])
    yield _picture(case, name, risks, grade)
    if name == "inference":
        yield _beside_the_guess(risks)
    for risk in risks:
        if counts := risk.attack_counts:
            yield Facts([(k[0].upper() + k[1:], number(v)) for k, v in counts.items()])
    yield _tried(risks)


def _picture(
    case: StudyJudgement, name: RiskName, risks: Sequence[AssessedRisk], grade: Grade
) -> Figure:
    """Draw each secret: people of the data next to people of the control."""
    lines = [
        Row(
            risk.label or name,
            _value(risk.everybody.control),
            Range(real.value or 0.0, real.low, real.high),
            bold=verdict_of(case, risk) == "exceeded",
        )
        for risk in risks
        for real in [risk.everybody.real]
    ]
    first = max(risks, key=lambda risk: risk.everybody.low)
    beside = "there is no control"
    if first.everybody.control is not None:
        beside = f"{percent(first.everybody.control.value)} of the control"
    return Figure(
        f"{first.title}: {percent(first.everybody.real.value)} of people in the data, {beside}",
        "A row for each secret: a circle is the share of people in the data for whom the attack "
        "succeeds, with its confidence limits, an open square the share of the control.",
        dots(lines, without="the same attack on the control", with_it="on people in the data"),
        table(
            f"{name[0].upper()}{name[1:]} of people in the data and of the control",
            risks,
            {
                "What": lambda risk: risk.label or risk.risk,
                "Attack": "attack",
                "In the data": lambda risk: risk.everybody.real.value,
                "Limits": lambda risk: _limits(risk.everybody.real),
                "Control": lambda risk: _value(risk.everybody.control),
                "Limits of the control": lambda risk: _limits(risk.everybody.control),
                "Excess, points": lambda risk: _points(_share(risk.everybody.excess)),
                "Limits of the excess": lambda risk: _between(_share(risk.everybody.excess)),
                "Fisher's p-value": lambda risk: p_value(risk.everybody.excess),
                "Would have been shown from, points": lambda risk: points(
                    risk.everybody.excess and risk.everybody.excess.detectable, "up"
                ),
                "Verdict": lambda risk: verdict_of(case, risk),
            },
            graded=grade,
            percent=("In the data", "Control"),
        ),
        (7.4, 1.3 + 0.36 * len(risks)),
        name.replace(" ", "_"),
    )


def _value(share: Quantity | None) -> float | None:
    return None if share is None else share.value


def _limits(share: Quantity | None) -> str:
    return MISSING if share is None else limits(share.low, share.high)


def _share(excess: ExcessShare | None) -> Quantity | None:
    return None if excess is None else excess.share


def _points(share: Quantity | None) -> str:
    return MISSING if share is None else points(share.value)


def _between(share: Quantity | None) -> str:
    if share is None or share.low is None or share.high is None:
        return MISSING
    return between_points(share.low, share.high)


def p_value(excess: ExcessShare | None) -> str:
    """Write the p-value of a claim; a dash where none is made."""
    if excess is None or excess.p_value is None:
        return MISSING
    return f"p = {excess.p_value:.2g}" if excess.p_value > 1e-300 else "p below 1e-300"


def _beside_the_guess(risks: Sequence[AssessedRisk]) -> Grid:
    """Show what the file adds to the best guess without it, on both sides."""
    guesses = [(risk.label, risk.guess) for risk in risks if risk.guess is not None]
    return table(
        "Compared with the best guess without the file, from other people's records: how far "
        "above it the "
        "attack is on people in the data, and on the control (what it teaches about everybody)",
        guesses,
        {
            "Secret": lambda pair: pair[0],
            "Guess": lambda pair: pair[1].name,
            "Guess, in the data": lambda pair: pair[1].real.value,
            "Above it, points": lambda pair: _points(pair[1].above),
            "Limits of that": lambda pair: _between(pair[1].above),
            "Guess, control": lambda pair: _value(pair[1].control),
            "Taught, points": lambda pair: _points(pair[1].taught),
            "Limits of what is taught": lambda pair: _between(pair[1].taught),
        },
        graded="sampled",
        percent=("Guess, in the data", "Guess, control"),
    )


def _tried(risks: Sequence[AssessedRisk]) -> Grid:
    return table(
        "Attacks tried on the people that one was chosen on, none of whom is scored",
        [(risk, name) for risk in risks for name in risk.tried],
        {
            "What": lambda pair: pair[0].label or pair[0].risk,
            "Attack": lambda pair: pair[1],
            "In the data": lambda pair: pair[0].tried[pair[1]].real,
            "Control": lambda pair: pair[0].tried[pair[1]].control,
            "Chosen": lambda pair: "chosen" if pair[1] == pair[0].attack else "",
        },
        graded=False,
        percent=("In the data", "Control"),
        folded=True,
    )


def describe_groups(result: SyntheticResult) -> Iterator[Block]:
    """Tell which groups were merged, and how often people of each are hit."""
    if result.merged is not None:
        yield Text([merged_words(result.merged)])
    groups = [(risk.name, group) for risk in result.risks for group in risk.groups]
    if groups:
        yield table(
            f"Groups; limits hold jointly for all of them, each at {result.group_confidence:.5g}",
            groups,
            {
                "Risk": lambda pair: pair[0],
                "Group": lambda pair: pair[1].group,
                "People": lambda pair: pair[1].real.counted and pair[1].real.counted[1],
                "In the data": lambda pair: pair[1].real.value,
                "Control": lambda pair: _value(pair[1].control),
                "Excess, points": lambda pair: _points(_share(pair[1].excess)),
                "Limits": lambda pair: _between(_share(pair[1].excess)),
            },
            graded=["not assessed" if group.excess is None else "sampled" for _, group in groups],
            percent=("In the data", "Control"),
        )


def describe_method(result: SyntheticResult) -> Text:
    return Text(
        [
            "The people of the data and of the control are each divided at random in halves: on "
            "one, the attack is chosen that sets both sides apart most; on the other, it is "
            "scored. Limits of an excess are those of the exact unconditional test of two "
            "binomial counts (Berger and Boos 1994). An excess above 0 is claimed only where "
            "Fisher's exact test refuses that there is none. That test only assumes that people "
            "of both sides are exchangeable.",
            f"{result.claims} claims are decided together at level {result.confidence:g}: each "
            f"excess is limited at {result.claim_confidence:.5g} (Bonferroni), half of the error "
            "on either side. Limits of a share by itself are at the level of one.",
            "The verdict is 'exceeded' or 'not shown': one file can show that people in it are "
            "hit more often, and cannot show the opposite.",
        ]
    )
