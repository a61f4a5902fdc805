"""Pages of what samples say, and of groups of people beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narcissus._outwards import lower, upper
from narcissus.channels import (
    GroupDifference,
    GroupLeakage,
    LeakageEstimate,
    LeakageEvidence,
    NoLeakageTest,
    SampledLeakage,
)
from narcissus.channels.estimate import INDEPENDENT
from narcissus.channels.groups import WORDS, Quantity
from narcissus.channels.leakage import few_samples
from narcissus.report.charts import Range
from narcissus.report.dot_plot import Row, dot_plot
from narcissus.report.format import limits, percent
from narcissus.report.leakage.sheet import Asked, assessed, graded, method, sheet
from narcissus.report.page import MISSING, Facts, Figure, Grid, Items, Page, Section
from narcissus.results import Estimate, Grade, NotAssessed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

Headline = tuple[str, str, str, Grade]

HALF: dict[str, float] = {"beta_star": 0.5, "bayes_risk": 1.0}
"""What of a quantity is an attacker's error: half of Bayes security, for two secrets."""
TOLD: dict[str, str] = {
    "beta_star": "worst two secrets told apart",
    "bayes_risk": "secret guessed right",
}


def success(found: Estimate, quantity: str) -> Range:
    """Return the attacker's success that an error stands for, with its limits turned round."""
    scale = HALF[quantity]
    low = None if found.high is None else 1 - scale * found.high
    high = None if found.low is None else 1 - scale * found.low
    return Range(1 - scale * found.value, low, high)


def estimate_page(
    found: LeakageEstimate,
    name: str,
    asked: Asked,
    others: SampledLeakage | None = None,
    test: NoLeakageTest | LeakageEvidence | None = None,
) -> Page:
    """Show what samples of a channel say.

    Parameters
    ----------
    found
        From `narcissus.channels.estimate`.
    name
        Of the samples.
    asked
        Where it comes from.
    others, test
        From `narcissus.channels.sampled_leakage`, and `no_leakage_test` or `evidence_of_leakage`,
        where they were asked for.
    """
    level = f"{100 * found.confidence:g}% limits"
    both: dict[str, Estimate] = {"beta_star": found.beta_star, "bayes_risk": found.bayes_risk}
    shares = {quantity: success(e, quantity) for quantity, e in both.items()}
    without = {"beta_star": 0.5, "bayes_risk": 1 - found.guessing_error}
    numbers: list[Headline] = [
        (TOLD[q].capitalize(), percent(r.share), f"{level} {limits(r.low, r.high)}", "sampled")
        for q, r in shares.items()
    ]
    guess = ("Guessed right without the output", percent(without["bayes_risk"]))
    numbers.append((*guess, "the commonest secret on these samples, no limits", "approximate"))

    picture = _attackers(both, shares, without, level)
    errors = sorted(found.estimators.items(), key=lambda e: e[1])
    tried = Grid(
        "Estimators, by their error on the samples on which they were compared",
        ("Estimator", "Error"),
        [[one, error] for one, error in errors],
        grades=graded("sampled", errors),
    )
    a, b = found.pair
    told = f"Told apart best: {a!r} and {b!r}."
    if found.pairs > 1:
        told = f"Some two secrets are told apart so well: the mean of {found.pairs:,} pairs."
    held = [f"for the lower limits of errors: {text}" for text in found.assumptions]
    verdict = assessed(
        told, "sampled", numbers=numbers,
        assumptions=(INDEPENDENT, *held), contradictions=found.contradictions,
    )  # fmt: skip
    left = _missing(both, others)
    notes = [*found.remarks, *(line.strip() for line in few_samples(found.left_out))]
    blocks = [picture, tried, *([Items("Notes", notes)] if notes else [])]
    sections = [Section("Results", blocks), _how()]
    if test is not None:
        sections.insert(1, _tested(test))
    if others is not None:
        sections.insert(1, _others(others))
    return sheet(
        verdict, sections, asked, title=f"What {name} gives away",
        subtitle=f"{found.secrets:,} secrets, {found.samples:,} samples", not_assessed=left,
    )  # fmt: skip


def _attackers(
    both: dict[str, Estimate], shares: dict[str, Range], without: dict[str, float], level: str
) -> Figure:
    def draw(figure: MplFigure) -> None:
        rows = [Row(TOLD[q], without[q], r) for q, r in shares.items()]
        dot_plot(figure, rows, without="without the output", with_it="with the output")

    rows = [[WORDS[q], e.value, _plain(e)] for q, e in both.items()]
    return Figure(
        f"The worst two secrets are told apart {percent(shares['beta_star'].share)} of the time",
        "A row for each attacker: without the output, and with it between its limits.",
        draw,
        Grid(f"Estimates with {level}", ("Measure", "Estimate", "Limits"), rows,
             grades=graded("sampled", rows)),
        size=(7.2, 2.2),
        name="estimates",
    )  # fmt: skip


def _missing(both: dict[str, Estimate], others: SampledLeakage | None) -> list[NotAssessed]:
    """Name the limits that are missing, and why."""
    named = [(f"How low the {WORDS[q]} may be", e) for q, e in both.items() if e.why]
    for name, e in {} if others is None else others.measures.items():
        if None in (e.low, e.high):
            named.append((f"{name}, {'lower' if e.low is None else 'upper'} limit", e))
    return [NotAssessed(one, e.why, "sample outputs of fewer values") for one, e in named]


def _others(found: SampledLeakage) -> Section:
    """Show other measures, each between limits of its own."""
    rows = [[one, e.value, _range(e.low, e.high)] for one, e in found.measures.items()]
    given = "the prior given" if found.prior == "given" else "secrets as often as in the samples"
    table = Grid(
        f"Other measures, {given}, {100 * found.confidence:g}% limits each",
        ("Measure", "Estimate", "Limits"), rows, grades=graded(found.grade, rows),
    )  # fmt: skip
    said = [
        "Information, entropies and their capacities are in bits. Capacities are over all priors "
        "on the secrets seen."
    ]
    if found.lacking:
        said.append(
            f"Up to {percent(found.lacking, 'up')} of the secrets drawn from the prior had no "
            "sample left; they count as the worst on either side."
        )
    return Section("Other measures", [table, Items("How to read them", said)])


def _tested(found: NoLeakageTest | LeakageEvidence) -> Section:
    """Show whether outputs depend on the secret at all, and by what."""
    is_found = found.p_value <= 0.05
    facts = [
        ("Answer", "the outputs depend on the secret" if is_found else "no dependence was found"),
        ("p-value of no leakage", f"at most {upper(found.p_value, 4)}, sampled"),
    ]
    alone: list[Grid] = []
    if isinstance(found, NoLeakageTest):
        facts += [("Stood out most", found.strongest),
                  ("Permutations of the secrets", f"{found.permutations:,}")]  # fmt: skip
        rows = [[one, p] for one, p in sorted(found.alone.items(), key=lambda e: e[1])]
        alone = [Grid("Kinds of evidence by themselves; the smallest of these is no p-value",
                      ("Evidence", "p alone"), rows, grades=graded(found.grade, rows))]  # fmt: skip
    else:
        facts.append(("By", "betting on each secret beforehand; it holds whenever one stops"))
    return Section("Does it leak at all?", [
        Facts(facts),
        *alone,
        *([] if is_found else [Items("Not to be read as safe", [
            "That no dependence was found is no evidence that there is none: see the lower limit "
            "of Bayes security."], "warning")]),
    ])  # fmt: skip


def _how() -> Section:
    return method(
        "Each block of samples was judged by estimators that learned from earlier blocks alone, so "
        "upper limits hold whatever they did; lower limits come from all samples (Narcissus theory "
        "6.2, 6.7, 6.8)."
    )


def _plain(e: Estimate) -> str:
    return limits(e.low, e.high) if (e.low, e.high) != (None, None) else MISSING


def groups_page(found: GroupLeakage, name: str, asked: Asked) -> Page:
    """Show what each group of people gives away, the worst one by name, and the differences."""
    exact = found.confidence is None
    level = "exact" if exact else f"{100 * (found.confidence or 0):g}% limits, all groups together"
    quantities: tuple[Quantity, ...] = ("beta_star", "bayes_risk")
    numbers: list[Headline] = []
    blocks: list[Figure | Grid] = []
    for quantity in quantities:
        worst, _ = found.worst(quantity)
        range_ = success(found.limits(quantity)[worst], quantity)
        said = level if exact else f"{limits(range_.low, range_.high)}, {level}"
        label = f"{TOLD[quantity].capitalize()}: group {worst}"
        numbers.append((label, percent(range_.share), said, found.grade))
        blocks += [_picture(found, quantity, level), _differences(found, quantity)]
    worst, sure = found.worst()
    apart = "its limits lie apart from those of all others"
    known = apart if sure and not exact else "as far as shown; the limits do not settle it"
    words = f"The group that gives most away is {worst!r}{'' if exact else f': {known}'}."
    return sheet(
        assessed(words, found.grade, numbers=numbers,
                 assumptions=() if exact else (INDEPENDENT,),
                 contradictions=_contradictions(found)),
        [
            Section("Groups", blocks),
            method(
                "Each group is a channel of its own: the attacker knows the group. Limits of all "
                "groups hold together, so that those of every difference do (Narcissus theory "
                "6.14)."
            ),
        ],
        asked,
        title=f"Who gives more away: {name}",
        subtitle=f"{len(found.groups)} groups",
        not_assessed=found.not_assessed,
    )  # fmt: skip


def _contradictions(found: GroupLeakage) -> tuple[str, ...]:
    each = found.groups.items()
    return tuple(
        f"group {name}: {said}"
        for name, one in each
        if isinstance(one, LeakageEstimate)
        for said in one.contradictions
    )


def _picture(found: GroupLeakage, quantity: Quantity, level: str) -> Figure:
    shares = {g: success(e, quantity) for g, e in found.limits(quantity).items()}
    worst, _ = found.worst(quantity)

    def draw(figure: MplFigure) -> None:
        rows = [Row(g, _without(found, g, quantity), r, bold=g == worst) for g, r in shares.items()]
        dot_plot(figure, rows, without="without the output", with_it="with the output")

    rows = [
        [g, e.value, MISSING if found.confidence is None else _plain(e), shares[g].share]
        for g, e in found.limits(quantity).items()
    ]
    return Figure(
        f"{TOLD[quantity].capitalize()}, by group: most in {worst}",
        "A row for each group: without the output, and with it between its limits.",
        draw,
        Grid(
            f"{WORDS[quantity]} by group, {level}",
            ("Group", WORDS[quantity], "Limits", TOLD[quantity].capitalize()),
            rows,
            grades=graded(found.grade, rows),
            percent=(TOLD[quantity].capitalize(),),
        ).where_known("Limits"),
        size=(7.2, min(9.0, 1.4 + 0.4 * len(rows))),
        name=quantity.replace("_", "-"),
    )


def _without(found: GroupLeakage, group: str, quantity: Quantity) -> float:
    return 0.5 if quantity == "beta_star" else 1 - found.groups[group].guessing_error


def _differences(found: GroupLeakage, quantity: Quantity) -> Grid:
    rows = [
        [d.first, d.second, d.value, _ends(found, d), "yes" if d.shown else "not shown"]
        for d in sorted(found.differences(quantity), key=lambda d: -abs(d.value))
    ]
    return Grid(
        f"{WORDS[quantity]}: the first group's less the second's",
        ("First", "Second", "Difference", "Limits", "They differ"),
        rows,
        grades=graded(found.grade, rows),
        folded=len(rows) > 10,
    ).where_known("Limits")


def _ends(found: GroupLeakage, apart: GroupDifference) -> str:
    if found.confidence is None:
        return MISSING
    return _range(apart.low, apart.high)


def _range(low: float | None, high: float | None) -> str:
    least = "no limit" if low is None else lower(low, places=4)
    most = "no limit" if high is None else upper(high, places=4)
    return f"{least} to {most}"
