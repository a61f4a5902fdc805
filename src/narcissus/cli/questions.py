"""The attacker's question, from ``--secret``: a value, or membership."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from narcissus._validation import one_of, probability
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.guarantees import Guarantee, Secret

SECRETS = ("value", "membership")


class Answer(NamedTuple):
    """The answer to one question: guarantee, JSON keys, lines of text."""

    guarantee: Guarantee
    payload: dict[str, Any]
    lines: list[str]


def asked(secret: str | None, no_membership: str | None) -> tuple[Secret, ...]:
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
