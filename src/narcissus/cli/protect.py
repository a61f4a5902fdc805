"""``narcissus protect``: how much noise keeps the risk below a limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus._outwards import lower, upper
from narcissus.cli import options
from narcissus.cli.bound_options import (
    check_plot,
    criterion,
    criterion_text,
    exact_match,
    more_provable,
    numbers,
    option_names,
    print_json,
)
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Limit, Threat
    from narcissus.guarantees import Guarantee

HELP = """Find the largest epsilon (and mu) that keeps the risk below a limit.

The limit is an advantage on one person, (success - prior) / (1 - prior), or a number of people
that may fall with a confidence, or both. With --prior alone a guess may be right about several
values at once; where it must name the very value, as in membership, --success exact proves more
and so asks for less noise.

\b
Examples:
  narcissus protect --prior 0.1 --advantage 0.05 --delta 1e-5
  narcissus protect --values 0.7,0.2,0.1 --advantage 0.1
  narcissus protect --prior 0.5 --success exact --delta 1e-6 --targets 100 --at-most 70
  narcissus protect --prior 0.1 --advantage 0.05 --delta 1e-5 --plot protect.svg

\b
Keys of --json: grade, prior, criterion (exact match, any), epsilon, delta, mu, success, advantage
(reached at epsilon), theorem, assumptions, notes; at_most, confidence and exceeded with --targets;
by_value (least, median, most likely value) with --values and --advantage alone.
"""


@click.command(help=HELP, short_help="How much noise keeps the risk below a limit.")
@options.prior
@options.values
@options.success
@click.option("--advantage", type=float, metavar="A", help="Largest advantage on one person.")
@click.option("--delta", type=float, default=0.0, metavar="D", help="Delta of the guarantee.  [0]")
@options.targets
@click.option("--at-most", type=int, metavar="V", help="Largest number of people that may fall.")
@click.option("--confidence", type=float, metavar="C", help="How surely no more fall.  [0.95]")
@options.plot("Draw all bounds around the epsilon that was found.")
@options.as_json("Print JSON in full precision.")
def command(
    *,
    prior: float | None,
    values: str | None,
    success: str | None,
    advantage: float | None,
    delta: float,
    targets: int | None,
    at_most: int | None,
    confidence: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Find the largest epsilon that keeps the risk below a limit."""
    from narcissus import bounds

    check_plot(plot)
    exact = _check(
        prior=prior,
        values=values,
        success=success,
        advantage=advantage,
        targets=targets,
        at_most=at_most,
        confidence=confidence,
    )
    with option_names():
        danger = bounds.threat(
            prior=prior,
            values=None if values is None else numbers("--values", values),
            targets=1 if targets is None else targets,
            exact_match=exact,
        )
        limit = bounds.Limit(advantage, at_most, 0.95 if confidence is None else confidence)
        payload, guarantee = _answer(danger, limit, delta)
        if plot is not None:
            count = None if at_most is None else at_most + 1
            bounds.compare(danger, guarantee, count).save(plot)
    if as_json:
        print_json(payload)
        return
    click.echo("\n".join(_text(payload, danger)))
    if plot is not None:
        click.echo(f"Picture: {plot}")


def _check(
    *,
    prior: float | None,
    values: str | None,
    success: str | None,
    advantage: float | None,
    targets: int | None,
    at_most: int | None,
    confidence: float | None,
) -> bool:
    """Refuse options that do not go together; tell whether only the prior of exact match counts."""
    if (prior is None) == (values is None):
        raise InputError("`--prior` or `--values` must be given, and not both")
    if (targets is None) != (at_most is None):
        raise InputError("`--targets` and `--at-most` go together: V of N people may fall")
    if advantage is None and at_most is None:
        raise InputError("a limit must be given: `--advantage`, or `--targets` with `--at-most`")
    if confidence is not None and at_most is None:
        raise InputError("`--confidence` goes with `--targets` and `--at-most` only; drop it")
    if targets is not None and at_most is not None and at_most >= targets:
        raise InputError(
            f"`--at-most` must be below the {targets} targets, got {at_most}: "
            "no more than all of them can fall, whatever is released"
        )
    exact = exact_match(success, known="--prior" if values is None else "--values")
    if prior == 1:
        raise InputError("`--prior` must be below 1: nothing is left to protect")
    return exact


def _answer(danger: Threat, limit: Limit, delta: float) -> tuple[dict[str, Any], Guarantee]:
    """Give what is printed, and the guarantee that was found."""
    from narcissus import bounds
    from narcissus.guarantees import ApproximateDP, PureDP

    epsilon = bounds.largest_epsilon(danger, limit, delta=delta)
    guarantee = ApproximateDP(epsilon, delta) if delta > 0 else PureDP(epsilon)
    single = bounds.best(bounds.bounds_on(danger, guarantee))
    payload: dict[str, Any] = {
        "grade": single.grade,
        "prior": danger.prior,
        "criterion": criterion(danger),
        "epsilon": epsilon,
        "delta": delta,
        "mu": bounds.largest_mu(danger, limit),
        "success": single.value,
        "advantage": bounds.advantage(single.value, danger.prior),
        "theorem": single.theorem,
        "assumptions": list(single.assumptions),
        "notes": more_provable(danger, "may ask for less noise"),
    }
    if limit.at_most is not None:
        tail = bounds.best(bounds.bounds_on(danger, guarantee, limit.at_most + 1))
        payload |= {
            "at_most": limit.at_most,
            "confidence": limit.confidence,
            "exceeded": tail.value,
            "theorem": tail.theorem,
            "assumptions": list(tail.assumptions),
        }
    elif danger.values is not None and danger.known:
        payload["by_value"] = bounds.epsilon_by_value(danger.values, limit, delta=delta)
    return payload, guarantee


def _text(payload: dict[str, Any], danger: Threat) -> list[str]:
    """Say it in words."""
    most = ", the largest that was tried" if payload["epsilon"] >= 1e4 else ""
    lines = [
        f"epsilon {lower(payload['epsilon'])} with delta {payload['delta']:g} is enough protection"
        f"{most}; so is Gaussian DP with mu {lower(payload['mu'])}.",
        f"At that epsilon no attacker is right about one person with probability above "
        f"{upper(payload['success'])}, where {payload['prior']:.6g} is reached without the release "
        f"(advantage {upper(payload['advantage'])}). {criterion_text(danger)}",
    ]
    if "at_most" in payload:
        lines.append(
            f"More than {payload['at_most']} of {danger.targets} people fall with probability "
            f"at most {upper(payload['exceeded'])}."
        )
    if "by_value" in payload:
        found = payload["by_value"]
        lines.append(
            "If only each value's own probability is used: "
            f"epsilon {lower(found.least)} for the least likely value, {lower(found.median)} for "
            f"the median, {lower(found.most)} for the most likely."
        )
    lines += ["", f"PROVED by {payload['theorem']}"]
    lines += [f"  assuming {said}" for said in payload["assumptions"]]
    notes = [f"Note: {note}" for note in payload["notes"]]
    return lines + (["", *notes] if notes else [])
