"""Studies of channels, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from narcissus._outwards import lower, upper
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.channel import (
    ExactChannel,
    Leakage,
    LimitedShare,
    Measures,
    Pairwise,
    PrivacyProfile,
    SampledChannel,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

Headline = tuple[str, str, str, Grade]

ASSUMED = {
    "file": "The table describes the channel as it is, and outputs about the same secret are not "
    "combined unless the study says so.",
    "mechanism": "The mechanism is implemented as described, with the noise that it names.",
    "samples": "Samples are independent, and drawn as the secrets will be when it matters; for "
    "Bayes security the numbers of each secret may also have been fixed beforehand.",
}


def headline(result: ExactChannel | SampledChannel) -> list[Headline]:
    """Return the numbers of the verdict."""
    if isinstance(result, ExactChannel):
        exact = result.exact
        without, with_it = 1 - exact.guessing_error, 1 - exact.bayes_risk
        apart = 1 - exact.beta_star / 2
        return [
            ("Guessed right without the output", percent(without), "exact", "proved"),
            ("Guessed right with it, by the best attacker", percent(with_it), "exact", "proved"),
            ("Worst two secrets told apart", percent(apart), "50% by guessing", "proved"),
        ]
    found = result.estimated
    level = f"{100 * found.confidence:g}% limits"
    risk, security, without = found.bayes_risk, found.beta_star, found.guessing_error
    apart, half = 1 - security.estimate / 2, _turned(security, half=True)
    return [
        (
            "Guessed right without the output",
            MISSING if without is None else percent(1 - without),
            "not recorded"
            if without is None
            else "the commonest secret on these samples, no limits",
            "not assessed" if without is None else "approximate",
        ),
        (
            "Guessed right with the output",
            percent(1 - risk.estimate),
            f"{level} {_turned(risk)}",
            "sampled",
        ),
        (
            "Worst two secrets told apart",
            percent(apart),
            f"{level} {half}; 50% by guessing",
            "sampled",
        ),
    ]


def _turned(value: LimitedShare, *, half: bool = False) -> str:
    """Return the limits of an error as those of the success."""
    scale = 0.5 if half else 1.0
    low = None if value.high is None else 1 - scale * value.high
    high = None if value.low is None else 1 - scale * value.low
    return limits(low, high)


def measures(exact: Measures) -> Grid:
    """Return all measures of a channel that is known, with what each says."""
    epsilon = "infinite" if exact.epsilon_ldp is None else exact.epsilon_ldp
    implied = f"at least; from {exact.implied_by}"
    rows: list[tuple[str, str | float | None, str]] = [
        ("Bayes security", exact.beta_star, "1: nothing leaks; 0: two secrets told apart for sure"),
        ("Bayes risk", exact.bayes_risk, "how often the best attacker is wrong"),
        ("Guessing error", exact.guessing_error, "the same without the output"),
        ("beta", exact.beta, "their ratio"),
        ("Leakage", exact.leakage, "how many times likelier the right guess becomes"),
        ("Capacity", exact.capacity, "the most that can be, for any prior and non-negative gain"),
        ("Min-entropy leakage", exact.min_entropy_leakage, "bits"),
        ("Shannon leakage", exact.shannon_leakage, "bits"),
        ("Local DP epsilon", epsilon, "ratio of any two rows, as a logarithm"),
        ("Implied Bayes risk", exact.implied_bayes_risk, implied),
    ]
    return Grid(
        "Exact for this channel and prior",
        ("Measure", "Value", "Says"),
        rows,
        grades=["not assessed" if value is None else "proved" for _, value, _ in rows],
    )


def pairs(table: Pairwise, worst: tuple[str, str]) -> Figure:
    """Draw the Bayes security of each two secrets."""
    names, values = table.secrets, table.values

    def draw(figure: MplFigure) -> None:
        axes, scale = figure.subplots(1, 2, width_ratios=(18, 1))
        axes.pcolormesh(values, vmin=0, vmax=1, cmap="Blues_r")
        # A colour bar of matplotlib's own is a bitmap; the page keeps to lines and shapes.
        steps = [[(i + 0.5) / 40] for i in range(40)]
        scale.pcolormesh([0, 1], [i / 40 for i in range(41)], steps, vmin=0, vmax=1, cmap="Blues_r")
        scale.set_xticks([])
        scale.yaxis.tick_right()
        scale.set_title("Bayes\nsecurity")
        ticks = [i + 0.5 for i in range(len(names))]
        axes.set_xticks(ticks, names, rotation=90)
        axes.set_yticks(ticks, names)
        axes.invert_yaxis()
        axes.set_aspect("equal")

    flat = [
        (names[i], names[j], values[i][j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    flat.sort(key=lambda r: r[2])
    return Figure(
        f"{worst[0]} and {worst[1]} are easiest to tell apart",
        "A square for each two secrets; the darker, the easier they are told apart. "
        f"The darkest is {flat[0][2]:.4g}, the lightest {flat[-1][2]:.4g}.",
        draw,
        Grid(
            "Bayes security of each two secrets, easiest first",
            ("Secret", "Other", "Bayes security"),
            flat,
            folded=len(flat) > 10,
        ),
        size=(6.0, 4.8),
        name="pairs",
    )


def _profile(profile: PrivacyProfile) -> Figure:
    epsilon, delta = profile.epsilon, profile.delta

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE

        axes = figure.add_subplot()
        axes.plot(epsilon, delta, marker=".", color=BLUE)
        axes.set_xlabel("epsilon")
        axes.set_ylabel("smallest delta")
        axes.set_ylim(bottom=0)

    return Figure(
        "How much local differential privacy the channel offers",
        f"Delta falls from {delta[0]:.4g} at epsilon 0 to {delta[-1]:.4g} at {epsilon[-1]:.4g}.",
        draw,
        Grid(
            "The smallest delta at each epsilon",
            ("epsilon", "delta"),
            list(zip(epsilon, delta, strict=True)),
            folded=True,
        ),
        name="profile",
    )


def _settling(found: Leakage) -> Figure:
    history = found.history

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes = figure.add_subplot()
        sizes = [look.samples for look in history]
        for values, label, marker, colour in (
            ([look.beta_star for look in history], "Bayes security", "o", BLUE),
            ([look.bayes_risk for look in history], "Bayes risk", "s", RUST),
        ):
            estimates = [value.estimate for value in values]
            axes.plot(sizes, estimates, marker=marker, label=label, color=colour)
            axes.fill_between(
                sizes,
                [value.low or 0.0 for value in values],
                [1.0 if value.high is None else value.high for value in values],
                alpha=0.15,
                color=colour,
            )
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("samples used (log scale)")
        axes.legend()

    rows = [
        [
            look.samples,
            look.beta_star.estimate,
            _plain(look.beta_star),
            look.bayes_risk.estimate,
            _plain(look.bayes_risk),
        ]
        for look in history
    ]
    first, last = history[0], history[-1]
    closing = _width(last.bayes_risk) < _width(first.bayes_risk)
    return Figure(
        "The limits close in as more samples are used"
        if closing
        else "The limits at each number of samples",
        f"With all {last.samples} samples Bayes security is {last.beta_star.estimate:.3g} "
        f"({_plain(last.beta_star)}) and the Bayes risk {last.bayes_risk.estimate:.3g} "
        f"({_plain(last.bayes_risk)}).",
        draw,
        Grid(
            f"Estimates with {100 * found.confidence:g}% limits, which hold at each size by itself",
            ("Samples", "Bayes security", "Limits", "Bayes risk", "Limits of it"),
            rows,
            grades=_sampled(len(rows)),
        ),
        name="samples",
    )


def _width(value: LimitedShare) -> float:
    high = 1.0 if value.high is None else value.high
    return high - (value.low or 0.0)


def _sampled(rows: int) -> list[Grade]:
    return ["sampled"] * rows


def _plain(value: LimitedShare) -> str:
    low, high = value.low, value.high
    top = "" if high is None else upper(high, places=4)
    if low is None:
        return f"at most {top}" if top else MISSING
    least = lower(low, places=4)
    return f"{least} to {top}" if top else f"at least {least}"


def _threat(record: Record, result: ExactChannel | SampledChannel) -> Section:
    threshold: dict[str, Any] = record.study.get("threshold") or {}
    facts = [("Channel", result.name), ("Secrets", number(result.secrets))]
    if isinstance(result, ExactChannel):
        uses = record.study.get("channel", {}).get("uses", MISSING)
        facts += [("Prior", result.prior), ("Outputs that the attacker sees", str(uses))]
    names = (("beta_star", "Bayes security at least"), ("bayes_risk", "Bayes risk at least"))
    facts += [(f"Threshold: {w}", number(threshold[k])) for k, w in names if threshold.get(k)]
    facts += [(f"Threshold: {k}", threshold[k]) for k in ("reason", "origin") if threshold.get(k)]
    return Section(
        "Threat model and assumptions",
        [
            Text(
                [
                    "A secret is drawn, the channel gives an output, and the attacker, who knows "
                    "the channel and the prior, names the secret in one guess. Bayes security is "
                    "about the worst case: the attacker knows that the secret is one of two, "
                    "equally likely, and these are the two easiest to tell apart."
                ]
            ),
            Facts(facts),
            Items(
                "Taken as given (assumptions; nothing here tests them)", [ASSUMED[result.source]]
            ),
        ],
    )


def _method(result: ExactChannel | SampledChannel) -> Section:
    if isinstance(result, ExactChannel):
        text = (
            "All numbers are computed from the channel; nothing is sampled. Bayes security is the "
            "least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2), found "
            "among all pairs."
        )
        return Section("Method", [Text([text])])
    found = result.estimated
    errors = sorted(found.estimators.items(), key=lambda e: e[1])
    return Section(
        "Method",
        [
            Text(
                [
                    "The samples were put in random order and cut into growing blocks. Each block "
                    "was judged by the estimator that did best on the blocks before, having "
                    "learned from these alone, so that nearly all samples count. Lower "
                    "limits come from all samples: an attacker does no better on the channel than "
                    "the best table look-up seems to do, but for a binomial margin. Limits hold "
                    "whatever the estimators did."
                ]
            ),
            Grid(
                "Estimators, by their error on the samples on which they were compared",
                ("Estimator", "Error"),
                [[name, error] for name, error in errors],
                grades=_sampled(len(errors)),
            ),
        ],
    )


def page(record: Record) -> Page:
    """Turn the record of a channel's study into a page."""
    result = cast("ExactChannel | SampledChannel", record.results)
    blocks: list[Block] = []
    if isinstance(result, ExactChannel):
        blocks.append(measures(result.exact))
        blocks += [] if result.pairwise is None else [pairs(result.pairwise, result.pair)]
        blocks += [] if result.profile is None else [_profile(result.profile)]
    else:
        blocks.append(_settling(result.estimated))
    how = "exact" if isinstance(result, ExactChannel) else "from samples"
    return Page(
        title=record.title,
        subtitle=f"{number(result.secrets)} secrets, {how}",
        verdict=Verdict(
            status=record.status,
            headline=record.verdict,
            numbers=headline(result),
        ),
        sections=[
            _threat(record, result),
            Section("Results", blocks),
            _method(result),
        ],
    )
