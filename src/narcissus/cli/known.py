"""Prior knowledge of an attacker, from the options of `bound` and `protect`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narcissus.cli.bound_options import numbers, option_names
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Threat, ThreatToPeople
    from narcissus.priors import Zipf

_MOST_BITS = 1000  # beyond them 2^-bits leaves the range of a float


def only_one(known: Mapping[str, object]) -> str:
    """Return the one prior-knowledge option that was used."""
    given = [option for option, value in known.items() if value is not None]
    if len(given) == 1:
        return given[0]
    *others, last = (f"`{option}`" for option in known)
    got = f"got {' and '.join(given)}" if given else "got none"
    raise InputError(
        f"{', '.join(others)} or {last} must be given, and only one, {got}: what the attacker "
        "knows beforehand, from the success of the best guess to the whole distribution"
    )


def threat_of(
    known: Mapping[str, Any],
    *,
    exact: bool,
    within: int | None = None,
    targets: int | None = None,
    guesses: int | None = None,
    inseparable: float | None = None,
) -> Threat:
    """Build the threat that the options name; see `narcissus.bounds.threat`."""
    from narcissus.bounds import threat, threat_of_ranked

    n = 1 if targets is None else targets
    law, values, bits = known["--zipf"], known["--values"], known.get("--bits")
    if law is not None and within is not None:
        raise InputError("`--within` needs `--values`, the whole prior; drop it")
    with option_names():
        if law is not None:
            return threat_of_ranked(zipf_law(law), targets=n, guesses=guesses)
        return threat(
            prior=known["--prior"] if bits is None else _share(bits),
            values=None if values is None else numbers("--values", values),
            within=within,
            targets=n,
            guesses=guesses,
            inseparable=inseparable,
            exact_match=exact,
        )


def zipf_law(text: str) -> Zipf:
    """Parse ``--zipf S,N``: exponent and number of values."""
    from narcissus.priors import Zipf

    parts = numbers("--zipf", text)
    if len(parts) != 2:
        raise InputError(f"`--zipf` must be S,N, such as 1.1,1e9; got {text!r}")
    with option_names(s="--zipf S", n="--zipf N"):
        return Zipf.of(*parts)


def people_of(path: Path, needless: Mapping[str, object]) -> ThreatToPeople:
    """Read the people of ``--priors``; refuse options that contradict them."""
    from narcissus.bounds import ThreatToPeople
    from narcissus.priors import read_priors

    for option, value in needless.items():
        if value is not None:
            raise InputError(
                f"`{option}` does not go with `--priors`: every row is a person who is attacked, "
                "by a guess that must name the value; drop it"
            )
    try:
        return ThreatToPeople(read_priors(path))
    except InputError as error:
        raise type(error)(f"`--priors`: {error}") from error


def _share(bits: float) -> float:
    """Return ``2^-bits``, which must not underflow."""
    if not 0 <= bits <= _MOST_BITS:
        raise InputError(f"`--bits` must be between 0 and {_MOST_BITS}, got {bits}")
    return 2.0**-bits
