"""Shared by `bound`, `protect` and others: options about guarantees, threats and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from narcissus._outwards import lower, upper
from narcissus._validation import did_you_mean, one_of, probability
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Threat, ThreatToPeople
    from narcissus.guarantees import Adjacency, Guarantee, Secret
    from narcissus.priors import Zipf
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


def print_answer(payload: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json(payload)
    else:
        click.echo("\n".join(lines))


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


SECRETS = ("value", "membership")


class Answer(NamedTuple):
    """The answer to one question: guarantee, JSON keys, lines of text."""

    guarantee: Guarantee
    payload: dict[str, Any]
    lines: list[str]


def questions_of(secret: str | None, no_membership: str | None) -> tuple[Secret, ...]:
    """Parse ``--secret``; None means every question that the other options leave open.

    ``no_membership`` is why they exclude membership; None if they do not.
    """
    if secret is None:
        return ("value",) if no_membership else ("value", "membership")
    if one_of("--secret", secret, SECRETS) == "value":
        return ("value",)
    if no_membership:
        raise InputError(f"`--secret membership` has two values, in and out; {no_membership}")
    return ("membership",)


def no_membership(
    known: Mapping[str, Any], success: str | None, needless: Mapping[str, object]
) -> str | None:
    """Return why prior knowledge and options exclude membership; None if they do not.

    ``needless`` are options about values only; ``--priors`` in ``known`` is what was read.
    """
    for option, value in {**needless, "--zipf": known["--zipf"]}.items():
        if value is not None:
            return f"`{option}` does not go with it, drop it"
    if success is not None and success != "exact":
        return "`--success` must be exact, got any"
    prior, values, people = known["--prior"], known["--values"], known["--priors"]
    if prior is not None and prior < 0.5:
        return (
            f"one of them has a prior of at least 0.5, and `--prior` is {prior:g}: where one in "
            "100 is a member, the best guess is right with --prior 0.99"
        )
    count = 2
    if values is not None:
        count = len(values.split(","))
    elif people is not None:
        count = people.values
    if count == 2:
        return None
    return f"`{'--values' if people is None else '--priors'}` has {count}"


def known_of(secret: Secret, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the prior knowledge: for membership the best guess determines the whole prior."""
    prior = known["--prior"]
    if secret == "value" or prior is None:
        return known
    best = probability("--prior", prior)
    return {**known, "--prior": None, "--values": f"{best!r},{1.0 - best!r}"}


def one_answer(questions: Sequence[Secret], *, replaced: bool, exact: bool) -> bool:
    """Whether a value and membership have one answer.

    So it is for ``replaced`` records: membership is then about this record or another in its place,
    which are two values. A guess must name the value (``exact``).
    """
    return len(questions) == 2 and replaced and exact


def are_replaced(guarantees: Sequence[Guarantee]) -> bool:
    """Whether value and membership have one guarantee, about replaced records."""
    value, *membership = guarantees
    return bool(membership) and replace(membership[0], secret="value") == value


def together(found: Sequence[Answer], *, shared: bool) -> tuple[dict[str, Any], list[str]]:
    """Return keys and lines of all answers, each headed by its question.

    An answer that is ``shared`` by both questions comes alone.
    """
    first = found[0]
    if shared:
        membership = replace(first.guarantee, secret="membership")
        found = [first, first._replace(guarantee=membership)]
    keys = [
        {**one.payload, "secret": one.guarantee.secret, "question": one.guarantee.question}
        for one in found
    ]
    payload = keys[0] | ({"membership": keys[1]} if len(keys) == 2 else {})
    asked = [f"Asked: {one.guarantee.question}" for one in found]
    if shared:
        both = f"{asked[0]}; or {found[1].guarantee.question}. One answer to both."
        return payload, [both, *first.lines]
    lines: list[str] = []
    for line, one in zip(asked, found, strict=True):
        option = f" (--secret {one.guarantee.secret})" if len(found) == 2 else ""
        lines += [*([""] if lines else []), f"{line}{option}.", *one.lines]
    return payload, lines


def reached(people: ThreatToPeople, guarantee: Guarantee) -> dict[str, Any]:
    """Return the mean over the people and the most exposed one, as JSON keys."""
    from narcissus.bounds import advantage

    mean = people.mean(guarantee)
    each, gained = people.success(guarantee), people.advantage(guarantee)
    worst = int(gained.argmax())
    prior = float(people.prior.mean())
    return {
        "grade": mean.grade,
        "people": people.n,
        "prior": prior,
        "criterion": "exact match",
        "success": mean.value,
        "advantage": advantage(mean.value, prior),
        "most_exposed": {
            "row": worst + 1,
            "prior": float(people.prior[worst]),
            "success": float(each[worst]),
            "advantage": float(gained[worst]),
        },
        "theorem": mean.theorem,
        "assumptions": list(mean.assumptions),
    }


def bound_on_people(
    people: ThreatToPeople, guarantee: Guarantee, at_least: int | None, confidence: float | None
) -> dict[str, Any]:
    """Return the JSON keys of `bound`: mean, tail or number, and its reachable floor."""
    from narcissus.results import NotAssessed

    payload = reached(people, guarantee)
    if at_least is not None:
        found = people.tail(guarantee, at_least)
        least = people.reached(guarantee, at_least)
        payload |= {"at_least": at_least, "tail": found.value}
    else:
        level = 0.95 if confidence is None else confidence
        found = people.at_most(guarantee, level)
        least = people.reached_number(guarantee, level)
        payload |= {"confidence": level, "at_most": int(found.value)}
        if found.value >= people.n:
            return payload  # the theorem is the one about the mean
    payload |= {} if isinstance(least, NotAssessed) else {"reached": least}
    return payload | {"theorem": found.theorem, "assumptions": list(found.assumptions)}


def mean_text(payload: dict[str, Any]) -> list[str]:
    worst = payload["most_exposed"]
    return [
        f"Without the release, the best guess is right about a share of {payload['prior']:.6g} of "
        f"{payload['people']:,} people on average ({percent(payload['prior'])}).",
        f"With it, no attacker is right about a share above {upper(payload['success'])} of them on "
        f"average ({percent(payload['success'], up=True)}).",
        f"Advantage at most {upper(payload['advantage'])} on average, "
        f"{upper(worst['advantage'])} on one person: row {worst['row']:,}, from "
        f"{worst['prior']:.6g} to {upper(worst['success'])}. A guess is right if it names the very "
        "value.",
    ]


def reached_text(payload: dict[str, Any], under: str = "") -> str:
    """Describe what some mechanism reaches, next to a tail or number; empty if unknown."""
    if "reached" not in payload:
        return ""
    most = payload["reached"]
    said = f"{most:,}" if "at_most" in payload else lower(most)
    return f" (proved); some mechanism with this guarantee reaches {said}{under}"


def people_text(payload: dict[str, Any]) -> list[str]:
    n, lines = payload["people"], mean_text(payload)
    if "tail" in payload:
        lines.append(
            f"That at least {payload['at_least']} of {n:,} people fall has probability at most "
            f"{upper(payload['tail'])}{reached_text(payload)}."
        )
    elif payload["at_most"] >= n:
        lines.append(
            f"Nothing is proved about how many of {n:,} people fall: with "
            f"{100 * payload['confidence']:g}% confidence every guess may be right."
        )
    else:
        lines.append(
            f"With {100 * payload['confidence']:g}% confidence at most {payload['at_most']:,} of "
            f"{n:,} people fall{reached_text(payload)}."
        )
    lines += ["", f"PROVED by {payload['theorem']}"]
    return lines + [f"  assuming {said}" for said in payload["assumptions"]]
