"""Pages of what samples say, and of groups of people next to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from narcissus._outwards import upper
from narcissus.channels import (
    GroupLeakage,
    LeakageEstimate,
    LeakageEvidence,
    NoLeakageTest,
    SampledLeakage,
)
from narcissus.channels.estimate import INDEPENDENT, between_text, few_samples, rare_secrets
from narcissus.channels.summary import QUANTITIES, WORDS, Quantity
from narcissus.report.charts import dot_plot
from narcissus.report.format import limits, percent
from narcissus.report.leakage.sheet import Asked, assessed, method, sheet, table
from narcissus.report.page import (
    MISSING,
    Block,
    Facts,
    Figure,
    Grid,
    Headline,
    Items,
    Page,
    Range,
    Row,
    Section,
)
from narcissus.results import Estimate, NotAssessed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


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

    others, test: From `narcissus.channels.sampled_leakage`, and `no_leakage_test` or
        `evidence_of_leakage`, where they were asked for.
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
    rows = [[WORDS[q], e.value, _plain(e)] for q, e in both.items()]
    picture = Figure(
        f"The worst two secrets are told apart {percent(shares['beta_star'].share)} of the time",
        "A row for each attacker: without the output, and with it between its limits.",
        _dots([Row(TOLD[q], without[q], r) for q, r in shares.items()]),
        table(f"Estimates with {level}", ("Measure", "Estimate", "Limits"), rows, "sampled"),
        size=(7.2, 2.2),
        name="estimates",
    )
    tried = table(
        "Estimators, by their error on the samples on which they were compared",
        ("Estimator", "Error"),
        [
            [estimator, error]
            for estimator, error in sorted(found.estimators.items(), key=lambda e: e[1])
        ],
        "sampled",
    )
    a, b = found.pair
    headline = f"Told apart best: {a!r} and {b!r}."
    if found.pairs > 1:
        headline = f"Some two secrets are told apart so well: the mean of {found.pairs:,} pairs."
    if found.left_out:
        rare = rare_secrets(found.left_out)
        headline = f"{rare}: of these, Bayes security is not estimated. {headline}"
    assumptions = [f"for the lower limits of errors: {text}" for text in found.assumptions]
    verdict = assessed(
        headline,
        "sampled",
        numbers=numbers,
        assumptions=(INDEPENDENT, *assumptions),
        contradictions=found.contradictions,
    )
    notes = [*found.remarks, *(line.strip() for line in few_samples(found.left_out))]
    blocks = [picture, tried, *([Items("Notes", notes)] if notes else [])]
    sections = [
        Section("Results", blocks),
        *([] if others is None else [_others(others)]),
        *([] if test is None else [_tested(test)]),
        method(
            "Each block of samples was judged by estimators that learned from earlier blocks "
            "alone, so upper limits hold whatever they did; lower limits come from all samples "
            "(Narcissus theory 6.2, 6.7, 6.8)."
        ),
    ]
    return sheet(
        verdict,
        sections,
        asked,
        title=f"What {name} gives away",
        subtitle=f"{found.secrets:,} secrets, {found.samples:,} samples",
        not_assessed=_missing(both, others),
    )


def _dots(rows: list[Row]) -> Callable[[MplFigure], None]:
    return lambda figure: dot_plot(
        figure, rows, without="without the output", with_it="with the output"
    )


def _missing(both: dict[str, Estimate], others: SampledLeakage | None) -> list[NotAssessed]:
    """Name the limits that are missing, and why."""
    named = [(f"How low the {WORDS[q]} may be", e) for q, e in both.items() if e.why]
    for name, e in {} if others is None else others.measures.items():
        if None in (e.low, e.high):
            named.append((f"{name}, {'lower' if e.low is None else 'upper'} limit", e))
    return [NotAssessed(label, e.why, "sample outputs of fewer values") for label, e in named]


def _others(found: SampledLeakage) -> Section:
    rows = [
        [measure, e.value, between_text(e.low, e.high)] for measure, e in found.measures.items()
    ]
    prior = "the prior given" if found.prior == "given" else "secrets as often as in the samples"
    caption = f"Other measures, {prior}, {100 * found.confidence:g}% limits each"
    notes = [
        "Information, entropies and their capacities are in bits. Capacities are over all priors "
        "on the secrets seen."
    ]
    if found.lacking:
        notes.append(
            f"Up to {percent(found.lacking, 'up')} of the secrets drawn from the prior had no "
            "sample left; they count as the worst on either side."
        )
    grid = table(caption, ("Measure", "Estimate", "Limits"), rows, found.grade)
    return Section("Other measures", [grid, Items("How to read them", notes)])


def _tested(found: NoLeakageTest | LeakageEvidence) -> Section:
    """Show whether outputs depend on the secret at all, and by what."""
    is_found = found.p_value <= 0.05
    facts = [
        ("Answer", "the outputs depend on the secret" if is_found else "no dependence was found"),
        ("p-value of no leakage", f"at most {upper(found.p_value, 4)}, estimated"),
    ]
    blocks: list[Block] = []
    if isinstance(found, NoLeakageTest):
        facts += [
            ("Stood out most", found.strongest),
            ("Permutations of the secrets", f"{found.permutations:,}"),
        ]
        rows = [[evidence, p] for evidence, p in sorted(found.alone.items(), key=lambda e: e[1])]
        caption = "Kinds of evidence by themselves; the smallest of these is no p-value"
        blocks.append(table(caption, ("Evidence", "p alone"), rows, found.grade))
    else:
        facts.append(("By", "betting on each secret beforehand; it holds whenever one stops"))
    if not is_found:
        warning = (
            "No dependence was found, though there may be some: see the lower limit of Bayes "
            "security."
        )
        blocks.append(Items("Not to be read as safe", [warning], "warning"))
    return Section("Does it leak at all?", [Facts(facts), *blocks])


def _plain(e: Estimate) -> str:
    return limits(e.low, e.high) if (e.low, e.high) != (None, None) else MISSING


def groups_page(found: GroupLeakage, name: str, asked: Asked) -> Page:
    """Show what each group of people gives away, the worst one by name, and the differences."""
    exact = found.confidence is None
    level = "exact" if exact else f"{100 * (found.confidence or 0):g}% limits, all groups together"
    numbers: list[Headline] = []
    blocks: list[Figure | Grid] = []
    for quantity in QUANTITIES:
        worst, _ = found.worst(quantity)
        range_ = success(found.limits(quantity)[worst], quantity)
        text = level if exact else f"{limits(range_.low, range_.high)}, {level}"
        label = f"{TOLD[quantity].capitalize()}: group {worst}"
        numbers.append((label, percent(range_.share), text, found.grade))
        blocks += [_picture(found, quantity, level), _differences(found, quantity)]
    worst, sure = found.worst()
    apart = "its limits lie apart from those of all others"
    known = apart if sure and not exact else "as far as shown; the limits do not settle it"
    verdict = assessed(
        f"The group that gives most away is {worst!r}{'' if exact else f': {known}'}.",
        found.grade,
        numbers=numbers,
        assumptions=() if exact else (INDEPENDENT,),
        contradictions=tuple(
            f"group {group}: {text}"
            for group, estimate in found.groups.items()
            if isinstance(estimate, LeakageEstimate)
            for text in estimate.contradictions
        ),
    )
    how = method(
        "Each group is a separate channel: the attacker knows the group. Limits of all groups "
        "hold together, so that those of every difference do (Narcissus theory 6.14)."
    )
    return sheet(
        verdict,
        [Section("Groups", blocks), how],
        asked,
        title=f"Who gives more away: {name}",
        subtitle=f"{len(found.groups)} groups",
        not_assessed=found.not_assessed,
    )


def _picture(found: GroupLeakage, quantity: Quantity, level: str) -> Figure:
    each, label = found.limits(quantity), TOLD[quantity].capitalize()
    shares = {group: success(e, quantity) for group, e in each.items()}
    worst, _ = found.worst(quantity)
    without = {
        group: 0.5 if quantity == "beta_star" else 1 - estimate.guessing_error
        for group, estimate in found.groups.items()
    }
    rows = [
        [g, e.value, MISSING if found.confidence is None else _plain(e), shares[g].share]
        for g, e in each.items()
    ]
    return Figure(
        f"{label}, by group: most in {worst}",
        "A row for each group: without the output, and with it between its limits.",
        _dots([Row(g, without[g], r, bold=g == worst) for g, r in shares.items()]),
        table(
            f"{WORDS[quantity]} by group, {level}",
            ("Group", WORDS[quantity], "Limits", label),
            rows,
            found.grade,
            percent=(label,),
        ).where_known("Limits"),
        size=(7.2, min(9.0, 1.4 + 0.4 * len(rows))),
        name=quantity.replace("_", "-"),
    )


def _differences(found: GroupLeakage, quantity: Quantity) -> Grid:
    exact = found.confidence is None
    rows = [
        [
            d.first,
            d.second,
            d.value,
            MISSING if exact else between_text(d.low, d.high),
            "yes" if d.shown else "not shown",
        ]
        for d in sorted(found.differences(quantity), key=lambda d: -abs(d.value))
    ]
    return table(
        f"{WORDS[quantity]}: the first group's less the second's",
        ("First", "Second", "Difference", "Limits", "They differ"),
        rows,
        found.grade,
        folded=len(rows) > 10,
    ).where_known("Limits")
