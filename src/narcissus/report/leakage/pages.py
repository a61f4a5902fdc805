"""Pages of the exact side: a channel, its uses, a design, a refinement, a guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from narcissus._outwards import lower, upper
from narcissus.channels import (
    AfterOutputs,
    ChannelSummary,
    ComposedSecurity,
    Design,
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
from narcissus.report.leakage.sheet import Asked, assessed, graded, method, sheet
from narcissus.report.page import Block, Facts, Grid, Items, Page, Section
from narcissus.results import Bound, Grade

Headline = tuple[str, str, str, Grade]

RESULTS = "Results"


def channel_page(
    found: ChannelSummary,
    asked: Asked,
    prior: Any = None,
    loss: Mapping[str, Any] | None = None,
) -> Page:
    """Show what a channel or a mechanism leaks.

    Parameters
    ----------
    found
        From `narcissus.channels.analyse`.
    asked
        Where it comes from.
    prior
        As `analyse` was given it.
    loss
        Of an attacker with own losses: keys risk, prior_risk, beta_l, at_least, family and theorem
        of ``narcissus channel --loss --json``.
    """
    if len(found.pair) != 2:
        raise InputError(
            "the channel has one secret only: there is nothing to show; leave out the page"
        )
    two = (found.pair[0], found.pair[1])
    numbers = found.to_dict() | found.more()
    blocks: list[Block | None] = [measures(numbers), _of_loss(loss)]
    c = found.channel
    if c is not None:
        weights = prior_for(c, prior)
        a, b = (c.secrets.index(name) for name in two)
        blocks.append(pictures.best_test(c.row(a), c.row(b), two))
        if len(c.secrets) <= pictures.MOST_SECRETS:
            blocks.append(pictures.hypers(hyper(c, weights), c.secrets, weights))
            blocks.append(pairs(c.secrets, pairwise(c).tolist(), two))
    a, b = two
    verdict = assessed(
        f"Of 100 attempts to tell {a!r} from {b!r}, the pair easiest to tell apart, "
        f"{100 - 50 * found.beta_star:.1f} are right with the output and 50 without.",
        "proved",
        numbers=headline(numbers),
    )
    sections = [
        Section(RESULTS, _some(blocks)),
        method(
            "All numbers are computed from the channel; nothing is sampled. Bayes security is the "
            "least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2)."
        ),
    ]
    return sheet(
        verdict, sections, asked, title=f"What {found.name} leaks",
        subtitle=f"{found.secrets:,} secrets, {found.prior} prior, exact",
    )  # fmt: skip


def _of_loss(loss: Mapping[str, Any] | None) -> Grid | None:
    if loss is None:
        return None
    least = f"whatever the prior; by {loss['theorem']}"
    rows: list[tuple[str, float, str]] = [
        ("Expected loss with the output", loss["risk"], "of the best guess"),
        ("Expected loss without it", loss["prior_risk"], "of the best guess"),
        ("Their ratio", loss["beta_l"], "1: the output does not help"),
        ("The ratio is at least", loss["at_least"], least),
    ]
    return Grid(
        "An attacker with these losses", ("Measure", "Value", "Says"), rows,
        grades=graded("proved", rows),
    )  # fmt: skip


def _some(blocks: Sequence[Block | None]) -> list[Block]:
    return [block for block in blocks if block is not None]


def compose_page(found: ComposedSecurity, curve: Sequence[AfterOutputs], asked: Asked) -> Page:
    """Show what many outputs about one secret leak together, and how it comes to that."""
    low, high = found.beta_star, found.beta_star_at_most
    apart = percent(1 - low / 2, "up")
    value, between = f"{low:.4g}", f"Bayes security {low:.6g}, exactly"
    if not found.exact:
        value = f"at least {lower(low, 4)}"
        between = f"Bayes security at least {lower(low, 7)}, at most {upper(high, 7)}"
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
    sections = [
        Section(RESULTS, [pictures.over_uses(curve)]),
        method(
            "The outputs are about the same secret and independent given it. "
            + (
                "The channel of all outputs was written out."
                if found.exact
                else f"By {found.theorem}. The limits hold whatever their distance, "
                f"{found.gap:.1g} of the upper one."
            )
        ),
    ]
    return sheet(
        verdict, sections, asked, title="What many outputs leak together",
        subtitle=f"{count:,} outputs about one secret",
    )  # fmt: skip


def design_page(found: Design | None, curve: tuple[Any, Any], nothing: float, asked: Asked) -> Page:
    """Show a mechanism, or none, among the best ones at every loss.

    Parameters
    ----------
    found
        The mechanism that was asked for, if one was.
    curve
        From `narcissus.channels.trade_off`.
    nothing
        From `narcissus.channels.loss_of_nothing`.
    asked
        Where it comes from.
    """
    blocks: list[Block | None] = [pictures.trade_off(curve, found, nothing)]
    numbers: list[Headline] = []
    words = (
        f"Saying nothing about the secret costs {nothing:.4g}; what less loss costs in Bayes "
        "security is drawn below."
    )
    if found is not None:
        most = "at most" if found.wanted == "beta_star" else "at least"
        name = "Bayes security" if found.wanted == "beta_star" else "loss"
        words = (
            f"A mechanism with Bayes security {found.beta_star:.4g} at an expected loss of "
            f"{found.loss:.4g}; no other does better: {name} {most} {found.limit:.6g}."
        )
        apart = percent(1 - found.beta_star / 2)
        numbers = [
            ("Worst two secrets told apart", apart, "50% by guessing", "proved"),
            ("Bayes security", f"{found.beta_star:.4g}", "of this mechanism", "proved"),
            ("Expected loss", f"{found.loss:.4g}", f"saying nothing: {nothing:.4g}", "proved"),
        ]
        title = "The mechanism: what it says for each secret"
        blocks.append(pictures.rows_of(found.channel, title, ("secret", "answer"), "mechanism"))
    sections = [
        Section(RESULTS, _some(blocks)),
        method(
            "Linear programs over all mechanisms that say one of the answers (Narcissus theory "
            "6.5). Numbers of a mechanism are computed from it; what no mechanism exceeds is "
            "proved by the program's multipliers, whatever the solver's tolerance."
        ),
    ]
    return sheet(
        assessed(words, "proved", numbers=numbers), sections, asked,
        title="The most secure mechanism at a given loss",
        subtitle="Bayes security against expected loss",
    )  # fmt: skip


def guarantee_page(
    found: SecurityBound, guarantee: Guarantee, reached: Bound | None, asked: Asked
) -> Page:
    """Show what a guarantee says about two neighbouring data sets.

    Parameters
    ----------
    found
        From `narcissus.channels.from_guarantee`.
    guarantee
        The guarantee itself.
    reached
        For DP-SGD, what two data sets reach (`narcissus.channels.dp_sgd_reached`).
    asked
        Where it comes from.
    """
    numbers: list[Headline] = [
        ("Bayes security", f"at least {lower(found.value, 4)}", "the guarantee", "proved"),
        ("Neighbours told apart", percent(1 - found.value / 2, "up"), "at most; 50% by guessing",
         "proved"),
    ]  # fmt: skip
    if reached is not None:
        some = f"at most {upper(reached.value, 4)}"
        numbers.insert(1, ("Bayes security of DP-SGD", some, "two data sets reach it", "proved"))
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 201), np.geomspace(1e-6, 1, 61)]))
    power = np.asarray(guarantee.power(alpha))
    named = ("one data set", "its neighbour")
    right = percent(1 - found.value / 2, "up")
    title = f"No test of two neighbours is right more than {right} of the time at even odds"
    given = [*found.assumptions, *(reached.assumptions if reached is not None else ())]
    verdict = assessed(
        "Of 100 attempts to tell two neighbouring data sets apart at even odds, at most "
        f"{upper(100 - 50 * found.value, places=1)} are right with the release.",
        "proved",
        numbers=numbers,
    )
    sections = [
        Section("Threat model and assumptions", [
            Facts([("Guarantee", guarantee.describe())]),
            Items("Taken as given (assumptions; nothing here tests them)", given),
        ]),
        Section(RESULTS, [pictures.best_tests(alpha, power, title, named)]),
        method(
            f"By {found.theorem}. A guarantee limits Bayes security from below; "
            + (
                "some mechanism with this guarantee reaches the limit."
                if found.tight
                else "whether any mechanism reaches the limit is not said."
            )
            + ("" if reached is None else f" What two data sets reach: {reached.theorem}.")
        ),
    ]  # fmt: skip
    return sheet(
        verdict, sections, asked, title="How well neighbours can be told apart",
        subtitle=guarantee.describe(),
    )  # fmt: skip
