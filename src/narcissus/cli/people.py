"""`bound` and `protect` with one prior per person: numbers and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower, upper
from narcissus.cli.bound_options import percent

if TYPE_CHECKING:
    from narcissus.bounds import ThreatToPeople
    from narcissus.guarantees import Guarantee


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
