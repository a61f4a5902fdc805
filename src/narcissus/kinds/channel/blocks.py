"""Sections of a page about a channel, with their tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower, upper
from narcissus.kinds.channel.kind import LIMITED, ChannelResult, EstimatedLeakage, ExactLeakage
from narcissus.kinds.layout import table
from narcissus.report import exact_channel
from narcissus.report.format import MISSING, number, percent
from narcissus.report.page import Block, Facts, Figure, Items, Section, Text
from narcissus.rows import Quantity
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


ASSUMED = {
    "file": "The table describes the channel as it is, and outputs about the same secret are not "
    "combined unless the study says so.",
    "mechanism": "The mechanism is implemented as described, with the noise that it names.",
    "samples": "Samples are independent, and drawn as the secrets will be when it matters; for "
    "Bayes security the numbers of each secret may also have been fixed beforehand.",
}
_SAMPLES = (
    "The samples were put in random order and cut into growing blocks. Each block was judged by "
    "the estimator that did best on the blocks before, having learned from these alone, so that "
    "nearly all samples count. Lower limits come from all samples: an attacker does no better on "
    "the channel than the best table look-up seems to do, but for a binomial margin. Limits hold "
    "whatever the estimators did."
)


def describe_threat(record: Record, result: ChannelResult) -> Section:
    """Tell what is attacked, what is accepted, and what is assumed."""
    threshold: dict[str, Any] = record.study.get("threshold") or {}
    facts = [("Channel", result.name), ("Secrets", number(result.secrets))]
    if isinstance(result.leakage, ExactLeakage):
        uses = record.study.get("channel", {}).get("uses", MISSING)
        facts += [("Prior", result.leakage.prior), ("Outputs that the attacker sees", str(uses))]
    names = zip(LIMITED, ("Bayes security at least", "Bayes risk at least"), strict=True)
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
            Items("Assumed (nothing here tests it)", [ASSUMED[result.leakage.source]]),
        ],
    )


def describe_results(result: ChannelResult) -> Section:
    """Tell all measures, every pair where they are few, and the profile; or all looks."""
    leakage = result.leakage
    if isinstance(leakage, EstimatedLeakage):
        guess = f"{percent(leakage.guess.value)}: the commonest secret on these samples, no limits"
        return Section(
            "Results", [_settling(leakage), Facts([("Guessed without the output", guess)])]
        )
    blocks: list[Block] = [
        exact_channel.measures({**leakage.measures, "implied_by": leakage.implied_by})
    ]
    if leakage.shown:
        blocks.append(exact_channel.pairs(leakage.shown, _matrix(leakage), result.pair))
    if leakage.profile:
        blocks.append(_profile(leakage))
    return Section("Results", blocks)


def _matrix(exact: ExactLeakage) -> list[list[float]]:
    """Return Bayes security of each two secrets; nobody tells a secret from itself."""
    places = range(len(exact.shown))

    def security(a: int, b: int) -> float:
        return 1.0 if a == b else exact.pairs[max(a, b)][min(a, b)]

    return [[security(a, b) for b in places] for a in places]


def _profile(exact: ExactLeakage) -> Figure:
    epsilon, delta = zip(*((point.epsilon, point.delta) for point in exact.profile), strict=True)

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
        table(
            "The smallest delta at each epsilon",
            exact.profile,
            {"epsilon": "epsilon", "delta": "delta"},
            graded=False,
            folded=True,
        ),
        name="profile",
    )


def _settling(sampled: EstimatedLeakage) -> Figure:
    looks = sampled.looks
    security, risk = [look.beta_star for look in looks], [look.bayes_risk for look in looks]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes, sizes = figure.add_subplot(), [look.samples for look in looks]
        for limited, label, marker, colour in (
            (security, "Bayes security", "o", BLUE),
            (risk, "Bayes risk", "s", RUST),
        ):
            estimates = [quantity.value or 0.0 for quantity in limited]
            axes.plot(sizes, estimates, marker=marker, label=label, color=colour)
            low, high = zip(*map(_between, limited), strict=True)
            axes.fill_between(sizes, low, high, alpha=0.15, color=colour)
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("samples used (log scale)")
        axes.legend()

    first, last = (high - low for low, high in map(_between, (risk[0], risk[-1])))
    return Figure(
        "The limits close in as more samples are used"
        if last < first
        else "The limits at each number of samples",
        f"With all {looks[-1].samples:g} samples Bayes security is {security[-1].value:.3g} "
        f"({_limits(security[-1])}) and the Bayes risk {risk[-1].value:.3g} ({_limits(risk[-1])}).",
        draw,
        table(
            f"Estimates with {100 * sampled.confidence:g}% limits, which hold at each size by "
            "itself",
            looks,
            {
                "Samples": "samples",
                "Bayes security": lambda look: look.beta_star.value,
                "Limits": lambda look: _limits(look.beta_star),
                "Bayes risk": lambda look: look.bayes_risk.value,
                "Limits of it": lambda look: _limits(look.bayes_risk),
            },
            graded="sampled",
        ),
        name="samples",
    )


def _between(limited: Quantity) -> tuple[float, float]:
    return limited.low or 0.0, 1.0 if limited.high is None else limited.high


def _limits(limited: Quantity) -> str:
    low, high = limited.low, limited.high
    top = "" if high is None else upper(high, places=4)
    if low is None:
        return f"at most {top}" if top else MISSING
    bottom = lower(low, places=4)
    return f"{bottom} to {top}" if top else f"at least {bottom}"


def describe_method(leakage: ExactLeakage | EstimatedLeakage) -> Section:
    """Tell how the numbers were found."""
    if isinstance(leakage, ExactLeakage):
        text = (
            "All numbers are computed from the channel; nothing is estimated. Bayes security is "
            "the least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2), found "
            "among all pairs."
        )
        return Section("Method", [Text([text])])
    tried = table(
        "Estimators, by their error on the samples on which they were compared",
        sorted(leakage.estimators.items(), key=lambda pair: pair[1]),
        {"Estimator": lambda pair: pair[0], "Error": lambda pair: pair[1]},
        graded="sampled",
    )
    return Section("Method", [Text([_SAMPLES]), tried])
