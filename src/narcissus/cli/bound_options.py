"""Shared by `bound`, `protect` and `refute`: guarantee options, error names, sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from narcissus._outwards import upper
from narcissus._validation import did_you_mean, one_of
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Threat
    from narcissus.guarantees import Adjacency, Guarantee, Secret
    from narcissus.results import Bound

_INTERVAL = 1e-3  # of privacy losses, for DP-SGD

# What the library calls an argument -> the option that it came from.
_OPTIONS = {
    "adjacency": "--adjacency",
    "advantage": "--advantage",
    "alpha": "--renyi ALPHA",
    "at_least": "--at-least",
    "at_most": "--at-most",
    "base_rate": "--base-rate",
    "beta_star": "--bayes-security",
    "canaries": "--canaries",
    "claimed": "--claim",
    "confidence": "--confidence",
    "correct": "--correct",
    "delta": "--delta",
    "epsilon": "--epsilon",
    "fpr": "--fpr",
    "gamma": "--renyi GAMMA",
    "guarantee": "--adjacency",
    "guesses": "--guesses",
    "guesses_chosen": "--guesses-chosen",
    "inseparable": "--inseparable",
    "interval": "--dp-sgd interval",
    "members": "--scores",
    "mu": "--mu",
    "noise": "--dp-sgd noise",
    "pairs": "--pairs",
    "precision": "--precision",
    "prior": "--prior",
    "priors": "--priors",
    "rate": "--dp-sgd rate",
    "recall": "--recall",
    "rho": "--rho",
    "exact_match": "--success",
    "scores": "--scores",
    "steps": "--dp-sgd steps",
    "success": "--success-at-most",
    "targets": "--targets",
    "tpr": "--tpr",
    "values": "--values",
    "within": "--within",
}


def exact_match(success: str | None, *, known: str) -> bool:
    """Parse ``--success``, valid with ``--prior`` only; True where it was not given."""
    if success is None:
        return False
    if known != "--prior":
        raise InputError(
            f"`--success` goes with `--prior` only: with `{known}` a guess must name the very "
            "value, or a near one with `--within`; drop it"
        )
    return one_of("--success", success, ("exact", "any")) == "exact"


def criterion(threat: Threat) -> str:
    if threat.exact_match:
        return "exact match"
    return "any" if threat.values is None else "near match"


def criterion_text(threat: Threat) -> str:
    return {
        "exact match": "A guess is right if it names the very value.",
        "near match": "A guess is right if it comes near enough to the value.",
        "any": "A guess may be right about several values (any criterion of success).",
    }[criterion(threat)]


def more_provable(threat: Threat, exact: str | None) -> list[str]:
    """List options that would prove more; ``exact`` states what exact match would do."""
    if threat.known:
        return []
    notes: list[str] = []
    if exact is not None and not threat.exact_match:
        notes.append(f"If a guess must name the very value, --success exact {exact}.")
    return [*notes, "The whole distribution of the secret, as --values, may prove more."]


@contextmanager
def option_names(**renamed: str) -> Generator[None]:
    """Replace argument names in errors by option names; ``renamed`` overrides single entries."""
    names = {**_OPTIONS, **renamed}
    try:
        yield
    except InputError as error:
        told = re.sub(
            r"`(\w+)`", lambda m: f"`{names[m[1]]}`" if m[1] in names else m[0], str(error)
        )
        raise type(error)(told) from error


def numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"`{option}` must be numbers separated by commas, such as 0.5,0.3,0.2; got {text!r}"
        ) from error


def make_guarantee(
    given: dict[str, Any], *, delta: float | None, adjacency: str, secret: Secret = "value"
) -> Guarantee:
    """Build the one guarantee that the options name, converted for the question asked."""
    from narcissus.guarantees import as_asked, dp_sgd, read_losses, read_profile

    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    known = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    if len(named) != 1:
        what = f"got {' and '.join(named)}" if named else "got none"
        raise InputError(f"exactly one guarantee must be given ({known}), {what}")
    if delta is not None and given["epsilon"] is None:
        raise InputError(f"`--delta` goes with `--epsilon` only, not with `{named[0]}`; drop it")
    one_of("--adjacency", adjacency, ("replace-one", "add-remove"))
    for option, read in (("profile", read_profile), ("pld", read_losses)):
        if given[option] is not None:
            try:  # the names in these errors are those of columns
                around = cast("Adjacency", adjacency)
                return as_asked(read(given[option], adjacency=around, secret=secret), secret)
            except InputError as error:
                raise type(error)(f"`--{option}`: {error}") from error
    if given["dp_sgd"] is not None and adjacency != "replace-one":
        raise InputError(
            "`--adjacency` does not go with `--dp-sgd`, which is accounted for what is asked: a "
            "replaced record, or with `--secret membership` an added or removed one; drop it"
        )
    with option_names():
        if given["dp_sgd"] is not None:
            return dp_sgd(
                **dp_sgd_settings(given["dp_sgd"], ("noise", "rate", "steps")), secret=secret
            )
        return as_asked(_of_parameters(given, delta, {"adjacency": adjacency}), secret)


def _of_parameters(given: dict[str, Any], delta: float | None, around: Any) -> Guarantee:
    from narcissus.guarantees import (
        ApproximateDP,
        BayesSecurity,
        GaussianDP,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
    )

    if given["epsilon"] is not None and delta:
        return ApproximateDP(given["epsilon"], delta, **around)
    one: dict[str, Callable[..., Guarantee]] = {
        "epsilon": PureDP,
        "mu": GaussianDP,
        "rho": ZeroConcentratedDP,
        "bayes_security": BayesSecurity,
    }
    for option, kind in one.items():
        if given[option] is not None:
            return kind(given[option], **around)
    parts = given["renyi"].split(":")
    if len(parts) != 2:
        raise InputError(f"`--renyi` must be ALPHA:GAMMA, such as 4:0.5; got {given['renyi']!r}")
    alpha, gamma = (numbers("--renyi", part)[0] for part in parts)
    return RenyiDP(alpha, gamma, **around)


def of_guarantee(guarantee: Guarantee) -> dict[str, str]:
    """Return the JSON keys of a converted guarantee; none for others."""
    return {"converted_from": guarantee.converted_from} if guarantee.converted_from else {}


def dp_sgd_settings(text: str, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``noise=..,rate=..,steps=..`` and an optional ``interval=..``.

    Losses are rounded up to multiples of the interval, so a coarse one is valid. Ten times the
    library's default is ten times faster and costs about 1e-5 of success.
    """
    form = ",".join(f"{name}=.." for name in wanted)
    example = {"noise": "1.1", "rate": "0.01", "steps": "1000"}
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = part.strip().partition("=")
        if not sign or name not in {*wanted, "interval"} or name in found:
            raise InputError(
                f"`--dp-sgd` must be {form}, each once, such as "
                f"{','.join(f'{w}={example[w]}' for w in wanted)}; got {text!r}"
                f"{did_you_mean(name, wanted) if name not in found else ''}"
            )
        found[name] = numbers(f"--dp-sgd {name}", value)[0]
    missing = ", ".join(sorted(set(wanted) - set(found)))
    if missing:
        raise InputError(f"`--dp-sgd` lacks {missing}: give {form}")
    return {"interval": _INTERVAL, **found}


def print_json(payload: dict[str, Any]) -> None:
    """Print full precision; non-finite numbers are null."""
    from narcissus.results import plain

    click.echo(json.dumps(plain(payload), indent=2))


def check_plot(path: Path | None) -> None:
    """Refuse, before any work, a picture that cannot be written."""
    if path is None:
        return
    if path.suffix not in {".svg", ".pdf", ".png"}:
        raise InputError(f"`--plot` must end in .svg, .pdf or .png, got {path}")
    if not path.resolve().parent.is_dir():
        raise InputError(f"`--plot`: the folder of {path} does not exist; make it first")


def others(bounds: list[Bound], chosen: Bound) -> list[dict[str, Any]]:
    """Return the bounds other than the chosen one, tightest first, invalid ones last."""
    rest = sorted((b for b in bounds if b is not chosen), key=lambda b: (not b.valid, b.value))
    return [{"name": b.theorem, "value": b.value, "valid": b.valid} for b in rest]


def others_text(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["Other bounds, for comparison:"]
    for row in rows:
        mark = "" if row["valid"] else "  (NOT A BOUND: known not to hold)"
        lines.append(f"  {upper(row['value']):<12} {row['name']}{mark}")
    return lines


def percent(value: float, *, up: bool = False) -> str:
    """Format a probability, or an upper limit, as a share of 100 people or a power of ten."""

    def said(number: float) -> str:
        return upper(number, 3) if up else f"{number:.3g}"

    return f"{said(100 * value)} of 100" if value >= 0.0095 else said(value)
