"""What `bound`, `protect` and `refute` share: the guarantee's options, errors, sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus._outwards import upper
from narcissus._validation import one_of
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Threat
    from narcissus.guarantees import Guarantee
    from narcissus.results import Bound

_INTERVAL = 1e-3  # of privacy losses, for DP-SGD

# What the library calls an argument -> the option that it came from.
_OPTIONS = {
    "adjacency": "--adjacency",
    "advantage": "--advantage",
    "alpha": "--renyi ALPHA",
    "at_least": "--at-least",
    "at_most": "--at-most",
    "beta_star": "--bayes-security",
    "canaries": "--canaries",
    "claimed": "--claim",
    "confidence": "--confidence",
    "correct": "--correct",
    "delta": "--delta",
    "epsilon": "--epsilon",
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
    "prior": "--prior",
    "rate": "--dp-sgd rate",
    "rho": "--rho",
    "exact_match": "--success",
    "scores": "--scores",
    "steps": "--dp-sgd steps",
    "targets": "--targets",
    "values": "--values",
    "within": "--within",
}


def exact_match(success: str | None, *, known: str) -> bool:
    """Read ``--success``, which goes with ``--prior`` alone; any success if it was not used."""
    if success is None:
        return False
    if known != "--prior":
        raise InputError(
            f"`--success` goes with `--prior` only: with `{known}` a guess must name the very "
            "value, or a near one with `--within`; drop it"
        )
    return one_of("--success", success, ("exact", "any")) == "exact"


def criterion(threat: Threat) -> str:
    """Say what counts as success: ``exact match``, ``near match`` or ``any``."""
    if threat.exact_match:
        return "exact match"
    return "any" if threat.values is None else "near match"


def criterion_text(threat: Threat) -> str:
    """Say in a sentence what counts as success."""
    return {
        "exact match": "A guess is right if it names the very value.",
        "near match": "A guess is right if it comes near enough to the value.",
        "any": "A guess may be right about several values (any criterion of success).",
    }[criterion(threat)]


def more_provable(threat: Threat, exact: str | None) -> list[str]:
    """Say what else would prove more; ``exact`` says what exact match does, None for nothing."""
    if threat.values is not None and threat.known:
        return []
    notes: list[str] = []
    if exact is not None and not threat.exact_match:
        notes.append(
            f"If a guess must name the very value, as in membership, --success exact {exact}."
        )
    return [*notes, "The whole distribution of the secret, as --values, may prove more."]


@contextmanager
def option_names(**renamed: str) -> Generator[None]:
    """Turn the names of arguments in errors into the names of options.

    ``renamed`` replaces single entries of the table, for a command where they differ.
    """
    names = {**_OPTIONS, **renamed}
    try:
        yield
    except InputError as error:
        told = re.sub(
            r"`(\w+)`", lambda m: f"`{names[m[1]]}`" if m[1] in names else m[0], str(error)
        )
        raise type(error)(told) from error


def numbers(option: str, text: str) -> list[float]:
    """Read comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"`{option}` must be numbers separated by commas, such as 0.5,0.3,0.2; got {text!r}"
        ) from error


def make_guarantee(given: dict[str, Any], *, delta: float | None, adjacency: str) -> Guarantee:
    """Make the one guarantee that the options name.

    Parameters
    ----------
    given
        ``epsilon``, ``mu``, ``rho``, ``renyi``, ``dp_sgd`` and ``bayes_security``, None where the
        option was not used.
    """
    from narcissus.guarantees import (
        ApproximateDP,
        BayesSecurity,
        GaussianDP,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
        dp_sgd,
        require_replace_one,
    )

    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    known = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    if len(named) != 1:
        what = f"got {' and '.join(named)}" if named else "got none"
        raise InputError(f"exactly one guarantee must be given ({known}), {what}")
    if delta is not None and given["epsilon"] is None:
        raise InputError(f"`--delta` goes with `--epsilon` only, not with `{named[0]}`; drop it")
    around: Any = {"adjacency": adjacency}
    guarantee: Guarantee
    if given["epsilon"] is not None:
        if delta:
            guarantee = ApproximateDP(given["epsilon"], delta, **around)
        else:
            guarantee = PureDP(given["epsilon"], **around)
    elif given["mu"] is not None:
        guarantee = GaussianDP(given["mu"], **around)
    elif given["rho"] is not None:
        guarantee = ZeroConcentratedDP(given["rho"], **around)
    elif given["renyi"] is not None:
        parts = given["renyi"].split(":")
        if len(parts) != 2:
            raise InputError(
                f"`--renyi` must be ALPHA:GAMMA, such as 4:0.5; got {given['renyi']!r}"
            )
        alpha, gamma = (numbers("--renyi", part)[0] for part in parts)
        guarantee = RenyiDP(alpha, gamma, **around)
    elif given["bayes_security"] is not None:
        guarantee = BayesSecurity(given["bayes_security"], **around)
    else:
        guarantee = dp_sgd(**_settings(given["dp_sgd"]), **around)
    require_replace_one(guarantee)
    return guarantee


def _settings(text: str) -> dict[str, float]:
    """Read ``noise=..,rate=..,steps=..``, and ``interval=..`` where it is given.

    Losses are rounded up to multiples of the interval, so a coarse one is valid; ten times the
    library's own is ten times faster and costs about 1e-5 of success.
    """
    wanted = {"noise", "rate", "steps"}
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, value = part.strip().partition("=")
        if not sign or name not in wanted | {"interval"} or name in found:
            raise InputError(
                "`--dp-sgd` must be noise=..,rate=..,steps=.., each once, such as "
                f"noise=1.1,rate=0.01,steps=1000; got {text!r}"
            )
        found[name] = numbers(f"--dp-sgd {name}", value)[0]
    if not wanted <= set(found):
        missing = ", ".join(sorted(wanted - set(found)))
        raise InputError(f"`--dp-sgd` lacks {missing}: give noise=..,rate=..,steps=..")
    return {"interval": _INTERVAL, **found}


def print_json(payload: dict[str, Any]) -> None:
    """Print full precision; what is not finite is null."""
    from narcissus.results import plain

    click.echo(json.dumps(plain(payload), indent=2))


def check_plot(path: Path | None) -> None:
    """Refuse, before any work, a picture that could not be written."""
    if path is None:
        return
    if path.suffix not in {".svg", ".pdf", ".png"}:
        raise InputError(f"`--plot` must end in .svg, .pdf or .png, got {path}")
    if not path.resolve().parent.is_dir():
        raise InputError(f"`--plot`: the folder of {path} does not exist; make it first")


def others(bounds: list[Bound], chosen: Bound) -> list[dict[str, Any]]:
    """Give the bounds beside the chosen one, tightest first, the invalid ones last."""
    rest = sorted((b for b in bounds if b is not chosen), key=lambda b: (not b.valid, b.value))
    return [{"name": b.theorem, "value": b.value, "valid": b.valid} for b in rest]


def others_text(rows: list[dict[str, Any]]) -> list[str]:
    """Give lines that list the other bounds."""
    if not rows:
        return []
    lines = ["Other bounds, for comparison:"]
    for row in rows:
        mark = "" if row["valid"] else "  (NOT A BOUND: known not to hold)"
        lines.append(f"  {upper(row['value']):<12} {row['name']}{mark}")
    return lines


def percent(value: float, *, up: bool = False) -> str:
    """Say a probability, or an upper limit, as a share of 100 people, or in powers of ten."""

    def said(number: float) -> str:
        return upper(number, 3) if up else f"{number:.3g}"

    return f"{said(100 * value)} of 100" if value >= 0.0095 else said(value)
