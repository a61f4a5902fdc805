"""Pages of the exact side: a channel, its uses, a design, a refinement, a guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._outwards import lower, upper
from narcissus.channels import (
    AfterOutputs,
    Channel,
    ChannelSummary,
    ComposedSecurity,
    Design,
    OneWay,
    SecurityBound,
    hyper,
    pairwise,
    prior_for,
)
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.report.exact_channel import headline, measures, pairs
from narcissus.report.format import percent
from narcissus.report.leakage import pictures
from narcissus.report.leakage.sheet import Asked, assessed, method, sheet, table
from narcissus.report.page import Block, Facts, Grid, Items, Page, Section, Text
from narcissus.results import GRADES, Bound, Grade, NotAssessed

Headline = tuple[str, str, str, Grade]


def _results(blocks: Sequence[Block | None], how: str) -> list[Section]:
    shown = [block for block in blocks if block is not None]
    return [Section("Results", shown), method(how)]


def channel_page(
    found: ChannelSummary, asked: Asked, prior: Any = None, loss: Mapping[str, Any] | None = None
) -> Page:
    """Show what a channel or a mechanism leaks.

    prior: As `analyse` was given it.
    loss: Of an attacker with own losses: keys risk, prior_risk, beta_l, at_least, family and
        theorem of ``narcissus channel --loss --json``.
    """
    if len(found.pair) != 2:
        raise InputError(
            "the channel has one secret only: there is nothing to show; leave out the page"
        )
    a, b = found.pair
    numbers = found.to_dict() | found.more()
    blocks: list[Block | None] = [measures(numbers), _of_loss(loss)]
    if (c := found.channel) is not None:
        weights = prior_for(c, prior)
        first, second = (c.row(c.secrets.index(name)) for name in (a, b))
        blocks.append(pictures.best_test(first, second, (a, b)))
        if len(c.secrets) <= pictures.MOST_SECRETS:
            blocks.append(pictures.hypers(hyper(c, weights), c.secrets, weights))
            blocks.append(pairs(c.secrets, pairwise(c).tolist(), (a, b)))
    verdict = assessed(
        f"Of 100 attempts to tell {a!r} from {b!r}, the pair easiest to tell apart, "
        f"{100 - 50 * found.beta_star:.1f} are right with the output and 50 without.",
        "proved",
        numbers=headline(numbers),
    )
    how = (
        "All numbers are computed from the channel; nothing is sampled. Bayes security is the "
        "least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2)."
    )
    return sheet(
        verdict, _results(blocks, how), asked, title=f"What {found.name} leaks",
        subtitle=f"{found.secrets:,} secrets, {found.prior} prior, exact",
    )  # fmt: skip


def _of_loss(loss: Mapping[str, Any] | None) -> Grid | None:
    if loss is None:
        return None
    rows: list[tuple[str, float, str]] = [
        ("Expected loss with the output", loss["risk"], "of the best guess"),
        ("Expected loss without it", loss["prior_risk"], "of the best guess"),
        ("Their ratio", loss["beta_l"], "1: the output does not help"),
        ("The ratio is at least", loss["at_least"], f"whatever the prior; by {loss['theorem']}"),
    ]
    return table("An attacker with these losses", ("Measure", "Value", "Says"), rows)


def compose_page(found: ComposedSecurity, curve: Sequence[AfterOutputs], asked: Asked) -> Page:
    """Show what many outputs about one secret leak together, and how it comes to that."""
    low, high = found.beta_star, found.beta_star_at_most
    apart = percent(1 - low / 2, "up")
    value, between = f"{low:.4g}", f"Bayes security {low:.6g}, exactly"
    how = "The channel of all outputs was written out."
    if not found.exact:
        value = f"at least {lower(low, 4)}"
        between = f"Bayes security at least {lower(low, 7)}, at most {upper(high, 7)}"
        how = (
            f"By {found.theorem}. The limits hold whatever their distance, {found.gap:.1g} of the "
            "upper one."
        )
    numbers: list[Headline] = [
        ("Worst two secrets told apart, at most", apart, "50% by guessing", "proved"),
        ("Bayes security", value, between, "proved"),
        ("Capacity", f"{found.capacity:.4g}", "times likelier right, at most", "proved"),
    ]
    count = curve[-1].outputs
    verdict = assessed(
        f"With {count:,} outputs, of 100 attempts to tell the worst two secrets apart at most "
        f"{upper(100 - 50 * low, places=1)} are right, and 50 without any.",
        "proved",
        numbers=numbers,
    )
    how = f"The outputs are about the same secret and independent given it. {how}"
    return sheet(
        verdict, _results([pictures.over_uses(curve)], how), asked,
        title="What many outputs leak together", subtitle=f"{count:,} outputs about one secret",
    )  # fmt: skip


def design_page(found: Design | None, curve: tuple[Any, Any], nothing: float, asked: Asked) -> Page:
    """Show a mechanism, or none, among the best ones at every loss.

    curve: From `narcissus.channels.trade_off`.
    nothing: From `narcissus.channels.loss_of_nothing`.
    """
    blocks: list[Block | None] = [pictures.trade_off(curve, found, nothing)]
    numbers: list[Headline] = []
    words = (
        f"Saying nothing about the secret costs {nothing:.4g}; what less loss costs in Bayes "
        "security is drawn below."
    )
    if found is not None:
        words = f"{found}.".replace("\n  no", "; no")
        apart = percent(1 - found.beta_star / 2)
        numbers = [
            ("Worst two secrets told apart", apart, "50% by guessing", "proved"),
            ("Bayes security", f"{found.beta_star:.4g}", "of this mechanism", "proved"),
            ("Expected loss", f"{found.loss:.4g}", f"saying nothing: {nothing:.4g}", "proved"),
        ]
        if found.leakage is not None:
            said = (found.measured.capitalize(), f"{found.leakage:.4g}", "of this mechanism")
            numbers.append((*said, "proved"))
        title = "The mechanism: what it says for each secret"
        blocks.append(pictures.rows_of(found.channel, title, ("secret", "answer"), "mechanism"))
    how = (
        "Linear programs over all mechanisms that say one of the answers (Narcissus theory "
        "6.5). Numbers of a mechanism are computed from it; what no mechanism exceeds is "
        "proved by the program's multipliers, whatever the solver's tolerance."
    )
    return sheet(
        assessed(words, "proved", numbers=numbers), _results(blocks, how), asked,
        title="The most secure mechanism at a given loss",
        subtitle="Bayes security against expected loss",
    )  # fmt: skip


def guarantee_page(
    found: SecurityBound, guarantee: Guarantee, reached: Bound | None, asked: Asked
) -> Page:
    """Show what a guarantee says about two neighbouring data sets.

    found: From `narcissus.channels.from_guarantee`.
    reached: For DP-SGD, what two data sets reach (`narcissus.channels.dp_sgd_reached`).
    """
    right = percent(1 - found.value / 2, "up")
    numbers: list[Headline] = [
        ("Bayes security", f"at least {lower(found.value, 4)}", "the guarantee", "proved"),
        ("Neighbours told apart", right, "at most; 50% by guessing", "proved"),
    ]
    given, how = list(found.assumptions), "whether any mechanism reaches the limit is not said."
    if found.tight:
        how = "some mechanism with this guarantee reaches the limit."
    if reached is not None:
        some = f"at most {upper(reached.value, 4)}"
        numbers.insert(1, ("Bayes security of DP-SGD", some, "two data sets reach it", "proved"))
        given += reached.assumptions
        how += f" What two data sets reach: {reached.theorem}."
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 201), np.geomspace(1e-6, 1, 61)]))
    title = f"No test of two neighbours is right more than {right} of the time at even odds"
    power = np.asarray(guarantee.power(alpha))
    drawn = pictures.best_tests(alpha, power, title, ("one data set", "its neighbour"))
    verdict = assessed(
        "Of 100 attempts to tell two neighbouring data sets apart at even odds, at most "
        f"{upper(100 - 50 * found.value, places=1)} are right with the release.",
        "proved",
        numbers=numbers,
    )
    model = Section("Threat model and assumptions", [
        Facts([("Guarantee", guarantee.describe())]),
        Items("Assumed (nothing here tests it)", given),
    ])  # fmt: skip
    how = f"By {found.theorem}. A guarantee limits Bayes security from below; {how}"
    return sheet(
        verdict, [model, *_results([drawn], how)], asked,
        title="How well neighbours can be told apart", subtitle=guarantee.describe(),
    )  # fmt: skip


@dataclass(frozen=True)
class Direction:
    """One direction of a comparison."""

    first: str  # Names of the channels
    second: str
    found: OneWay  # From `narcissus.channels.refines`, for these two in this order
    by: Channel | None = None  # The post-processing to draw; None to draw none

    @property
    def words(self) -> str:
        a, b = self.first, self.second
        if isinstance(self.found, NotAssessed):
            return f"Whether {b} is {a}, post-processed, was not decided."
        if not self.found.holds:
            return (
                f"{b} is not {a}, post-processed: with some aim an attacker gets "
                f"{float(self.found.second):.6g} with {b} and {float(self.found.first):.6g} with "
                f"{a}."
            )
        near = " but for the solver's tolerance" if self.found.grade == "approximate" else ""
        return f"{b} is {a}, post-processed{near}: nobody learns more from {b}, whatever the aim."


def refinement_page(directions: Sequence[Direction], secrets: Sequence[str], asked: Asked) -> Page:
    """Show whether one of two channels is the other, post-processed, with the witnesses.

    directions: One, or both.
    secrets: Of the channels, in their order.
    """
    graded_as = [one.found.grade for one in directions]
    weakest = GRADES[max(map(GRADES.index, graded_as))]
    sections = [
        Section(f"From {one.first} to {one.second}", _witness(one, secrets, place))
        for place, one in enumerate(directions, 1)
    ]
    how = method(
        "A linear program looks for the post-processing; where there is none its multipliers are a "
        "gain that says so, under the uniform prior (Narcissus theory 6.6)."
    )
    first, second = directions[0].first, directions[0].second
    return sheet(
        assessed(" ".join(one.words for one in directions), weakest),
        [*sections, how],
        asked,
        title=f"Which tells more: {first} or {second}?",
        subtitle="Refinement: for every prior and every aim of an attacker",
        not_assessed=[one.found for one in directions if isinstance(one.found, NotAssessed)],
        not_covered=(),
    )


def _witness(one: Direction, secrets: Sequence[str], place: int) -> list[Block]:
    blocks: list[Block] = [Text([one.words])]
    if isinstance(one.found, NotAssessed):
        return blocks
    if one.found.holds and one.by is not None:
        title = f"How {one.first} is made into {one.second}"
        drawn = pictures.rows_of(one.by, title, ("output", "new output"), f"witness-{place}")
        return [*blocks, *([] if drawn is None else [drawn])]
    if one.found.gain is not None:
        rows = [[f"guess {i}", *map(float, row)] for i, row in enumerate(one.found.gain, 1)]
        title = "What each guess gains for each secret: an aim that tells the two apart"
        blocks.append(table(title, ("Guess", *secrets), rows, folded=len(rows) > 20))
    return blocks
