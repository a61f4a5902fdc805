"""``narcissus bound``: upper bounds on any attacker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from narcissus._outwards import upper
from narcissus.cli import options
from narcissus.cli.bound_options import (
    Answer,
    are_replaced,
    criterion,
    criterion_text,
    exact_match,
    known_of,
    make_guarantee,
    more_provable,
    no_membership,
    of_guarantee,
    one_answer,
    only_one,
    option_names,
    others,
    others_text,
    people_of,
    percent,
    print_answer,
    questions_of,
    reached_text,
    threat_of,
    together,
)
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Threat, ThreatToPeople
    from narcissus.guarantees import Guarantee
    from narcissus.results import Bound

HELP = """Say what no attacker can exceed, from a guarantee and what could be guessed anyway.

Give one guarantee (--epsilon with or without --delta, --mu, --rho, --renyi, --dp-sgd,
--bayes-security, or a file: --profile or --pld), and what an attacker would guess without the
release: the success of the best guess (--prior), the whole distribution of the secret (--values),
which proves more, Zipf's law over very many values (--zipf), a distribution for each person
(--priors FILE), or the number of random bits (--bits).

With --prior alone a guess may be right about several values at once, and the bound holds whatever
counts as success. Where a guess must name the very value, as for one attribute, --success exact
proves more: at --mu 1 and --prior 0.5, 0.691 in place of 0.793.

What the attacker asks is --secret: what value a record has, or membership, whether the record is in
the data. Of membership a guarantee about added and removed records holds as it is, where a value
needs it converted, and --dp-sgd is accounted for added and removed records. A guarantee about
replaced records is then about this record or another in its place. Where the options leave it open,
both are answered.

\b
Examples:
  narcissus bound --mu 1 --prior 0.5 --success exact
  narcissus bound --mu 1 --adjacency add-remove --secret membership --prior 0.5
  narcissus bound --epsilon 1 --prior 0.1
  narcissus bound --epsilon 1 --delta 1e-5 --values 0.7,0.2,0.1
  narcissus bound --mu 0.5 --prior 0.5 --success exact --targets 100 --confidence 0.95
  narcissus bound --epsilon 0.5 --values 0.4,0.3,0.2,0.1 --within 1 --targets 10 --at-least 9
  narcissus bound --dp-sgd noise=1.1,rate=0.01,steps=1000 --prior 0.01
  narcissus bound --epsilon 2 --bits 8 --confidence 0.95
  narcissus bound --epsilon 1 --delta 1e-5 --prior 0.1 --plot bounds.svg
  narcissus bound --mu 1 --zipf 1.1,1e9 --targets 100
  narcissus bound --epsilon 1 --priors people.csv
  narcissus bound --pld losses.csv --adjacency add-remove --values 0.7,0.3

\b
Files are CSV with a line of names, or JSON by their name (.json):
  --profile  epsilon, delta (or delta_add, delta_remove: the two orders of a removed record)
  --pld      loss, probability, and probability_reversed where P and Q were accounted for apart
             (or probability_add, probability_remove); the loss inf is allowed
  --priors   a row a person, a column a value; names are not needed; rows sum to 1

DP-SGD's privacy losses are rounded up to multiples of 0.001: always valid, a little pessimistic.
Add interval=1e-4 to --dp-sgd for more digits, ten times as slow.

\b
Keys of --json: grade, prior, criterion (exact match, near match, any), success, advantage, theorem,
assumptions, others (name, value, valid), notes; optimum with --values and --zipf; leaked_bits and
confidence with --bits under pure DP; tail or at_most with --targets, --at-least or --confidence
(theorem, assumptions and others are then about that), with reached, what some mechanism with the
guarantee reaches of it, where one is known; people and most_exposed (row, prior, success,
advantage) with --priors, where prior, success and advantage are means; converted_from where the
guarantee was about added or removed records; secret (value, membership) and question; membership,
with all keys for that question, where both were answered.
"""


@click.command(help=HELP, short_help="What no attacker can exceed.")
@options.guarantee
@options.prior
@options.values
@options.zipf
@options.priors
@options.take("--bits", "D", "The secret is D random bits: a prior of 2^-D.", float)
@options.take("--within", "L", "With --values: a guess L places off still counts.", int)
@options.success
@options.secret
@options.targets
@options.take("--guesses", "R", "How many of them are guessed.  [all]", int)
@options.take(
    "--inseparable",
    "KAPPA",
    "With --prior: chance that no guess tells two people apart.  [0]",
    float,
)
@options.take("--at-least", "V", "Limit the chance that V or more fall.", int)
@options.take(
    "--confidence",
    "C",
    "Limit the number that falls, or the bits that leak, so surely.  [0.95]",
    float,
)
@options.plot("Draw all bounds against the prior and the guarantee's parameter.")
@options.as_json("Print JSON in full precision.")
def command(
    *,
    delta: float | None,
    adjacency: str,
    within: int | None,
    success: str | None,
    secret: str | None,
    targets: int | None,
    guesses: int | None,
    inseparable: float | None,
    at_least: int | None,
    confidence: float | None,
    plot: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    known = {f"--{name}": given.pop(name) for name in ("prior", "values", "zipf", "priors", "bits")}
    values, priors, bits = known["--values"], known["--priors"], known["--bits"]
    needing = {"--guesses": guesses, "--at-least": at_least}
    exact = _check(known, success, inseparable, targets, needing)
    counted = any(option is not None for option in (priors, targets, bits))
    _check_confidence(confidence, at_least, counted=counted)
    needless = {"--targets": targets, "--guesses": guesses, "--within": within, "--plot": plot}
    people = None if priors is None else people_of(priors, needless)
    about_values = {"--within": within, "--inseparable": inseparable, "--bits": bits}
    reason = no_membership({**known, "--priors": people}, success, about_values)
    questions = questions_of(secret, reason)
    named = exact or (within is None and (values or people) is not None)
    kind: dict[str, Any] = {"delta": delta, "adjacency": adjacency}
    guarantees = [make_guarantee(given, **kind, secret=question) for question in questions]
    shared = one_answer(questions, replaced=are_replaced(guarantees), exact=named)
    found: list[Answer] = []
    for question, guarantee in zip(questions, guarantees, strict=True):
        if shared and found:
            break
        if people is not None:
            found.append(_on_people(people, guarantee, at_least, confidence))
            continue
        with option_names():
            danger = threat_of(
                known_of(question, known),
                exact=exact and question == "value",
                within=within,
                targets=targets,
                guesses=guesses,
                inseparable=inseparable,
            )
            about = _Asked(
                danger, guarantee, at_least, confidence, bits is not None, targets is None
            )
            found.append(_answered(about, None if found else plot))
    payload, lines = together(found, shared=shared)
    print_answer(payload, lines, as_json=as_json)


def _answered(asked: _Asked, plot: Path | None) -> Answer:
    from narcissus.bounds import compare

    payload, headline = _answer(asked)
    lines = _text(payload, headline, asked.threat)
    if plot is not None:
        compare(asked.threat, asked.guarantee, asked.at_least).save(plot)
        lines.append(f"Picture: {plot}")
    return Answer(asked.guarantee, payload, lines)


def _on_people(
    people: ThreatToPeople, guarantee: Guarantee, at_least: int | None, confidence: float | None
) -> Answer:
    from narcissus.cli.bound_options import bound_on_people, people_text

    notes = _of_points(guarantee)
    with option_names():
        payload = bound_on_people(people, guarantee, at_least, confidence)
    payload |= {"notes": notes, **of_guarantee(guarantee)}
    said = [f"Note: {note}" for note in notes]
    return Answer(guarantee, payload, people_text(payload) + (["", *said] if said else []))


class _Asked(NamedTuple):
    threat: Threat
    guarantee: Guarantee
    at_least: int | None
    confidence: float | None
    bits: bool
    one: bool  # about one target only


def _answer(asked: _Asked) -> tuple[dict[str, Any], Bound]:
    from narcissus.bounds import THEOREMS, advantage, best, bounds_on

    danger, guarantee = asked.threat, asked.guarantee
    bounds = bounds_on(danger, guarantee)
    single = best(bounds)
    payload: dict[str, Any] = {
        "grade": single.grade,
        "prior": danger.prior,
        "criterion": criterion(danger),
        "success": single.value,
        "advantage": advantage(single.value, danger.prior),
    }
    if danger.known:
        payload["optimum"] = best(b for b in bounds if THEOREMS[b.id].needs.whole).value
    headline, rest = single, others(bounds, single)
    if asked.bits and asked.one:
        payload |= _leak(guarantee, asked.confidence)
    if not asked.one:
        headline, rest = _many(asked, payload) or (single, rest)
    payload |= {
        "theorem": headline.theorem,
        "assumptions": list(headline.assumptions),
        "others": rest,
        "notes": ([] if asked.bits else _notes(danger, guarantee, single.value))
        + _of_points(guarantee),
        **of_guarantee(guarantee),
    }
    return payload, headline


def _check(
    known: dict[str, object],
    success: str | None,
    inseparable: float | None,
    targets: int | None,
    needing: dict[str, int | None],
) -> bool:
    """Refuse conflicting options; return whether the exact-match prior alone counts."""
    given = only_one(known)
    if given != "--prior" and inseparable is not None:
        raise InputError(f"`--inseparable` is computed from `{given}`; drop it")
    for option, value in needing.items():
        if value is not None and targets is None and given != "--priors":
            raise InputError(f"`{option}` needs `--targets`, the number of people attacked")
    exact = exact_match(success, known=given) or given == "--bits"
    if exact and inseparable is not None:
        raise InputError("`--inseparable` is computed with `--success exact`; drop it")
    return exact


def _check_confidence(confidence: float | None, at_least: int | None, *, counted: bool) -> None:
    if confidence is None:
        return
    if not counted:
        raise InputError(
            "`--confidence` needs `--targets`, the number of people attacked, `--priors` or "
            "`--bits`"
        )
    if at_least is not None:
        raise InputError("`--at-least` and `--confidence` exclude each other; give one")


def _notes(danger: Threat, guarantee: Guarantee, proved: float) -> list[str]:
    from narcissus.bounds import best, bounds_on, threat

    if danger.values is not None or danger.exact_match:
        return more_provable(danger, None)
    exact = best(bounds_on(threat(prior=danger.prior, exact_match=True), guarantee)).value
    return more_provable(danger, f"proves {upper(exact)}" if exact < proved * (1 - 1e-6) else None)


def _of_points(guarantee: Guarantee) -> list[str]:
    from narcissus.guarantees import ProfileCurve

    if not isinstance(guarantee, ProfileCurve) or guarantee.converted_from:
        return []
    above = guarantee.implied()
    if not above.size:
        return []
    return [
        f"{above.size} of the {len(guarantee.points)} points of the curve, the first at epsilon "
        f"{above[0]:g}, say less than the chords of the others (in exp(epsilon)): valid, but not "
        "one mechanism's profile. The chords are used."
    ]


def _leak(guarantee: Guarantee, confidence: float | None) -> dict[str, Any]:
    from narcissus.bounds import leaked_bits
    from narcissus.guarantees import PureDP

    if not isinstance(guarantee, PureDP):
        if confidence is not None:
            raise InputError("`--confidence` with `--bits` needs pure DP: `--epsilon` alone")
        return {}
    level = 0.95 if confidence is None else confidence
    return {"confidence": level, "leaked_bits": leaked_bits(guarantee.epsilon, level).value}


def _many(asked: _Asked, payload: dict[str, Any]) -> tuple[Bound, list[dict[str, Any]]] | None:
    """Add the tail or the number to ``payload``; return the bound and the alternatives.

    None where no theorem excludes that every guess is right.
    """
    from narcissus.bounds import at_most, best, bounds_on
    from narcissus.bounds import reached_number_of_threat as number_reached
    from narcissus.bounds import reached_of_threat as tail_reached
    from narcissus.results import NotAssessed

    danger, guarantee, at_least = asked.threat, asked.guarantee, asked.at_least
    if at_least is not None:
        bounds = bounds_on(danger, guarantee, at_least)
        chosen = best(bounds)
        payload |= {"at_least": at_least, "tail": chosen.value}
        least = tail_reached(danger, guarantee, at_least)
        payload |= {} if isinstance(least, NotAssessed) else {"reached": least}
        return chosen, others(bounds, chosen)
    level = 0.95 if asked.confidence is None else asked.confidence
    number = at_most(danger, guarantee, level)
    payload |= {"confidence": level, "at_most": int(number.value)}
    most = number_reached(danger, guarantee, level)
    payload |= {} if isinstance(most, NotAssessed) else {"reached": most}
    if number.value >= danger.guesses:
        return None
    # What the others say about the chance of exceeding that number.
    bounds = bounds_on(danger, guarantee, int(number.value) + 1)
    return number, others(bounds, best(bounds))


def _text(payload: dict[str, Any], headline: Bound, danger: Threat) -> list[str]:
    lines = [
        f"Without the release, the best guess about one person is right with probability "
        f"{danger.prior:.6g} ({percent(danger.prior)}).",
        f"With it, no attacker is right with probability above {upper(payload['success'])} "
        f"({percent(payload['success'], up=True)}).",
        f"Advantage at most {upper(payload['advantage'])}. {criterion_text(danger)}",
    ]
    n = danger.targets
    far = reached_text(payload, "" if danger.known else " with the worst prior that fits")
    if "tail" in payload:
        lines.append(
            f"That at least {payload['at_least']} of {n} people fall has probability at most "
            f"{upper(payload['tail'])}{far}."
        )
    if "leaked_bits" in payload:
        lines.append(
            f"With {100 * payload['confidence']:g}% confidence at most "
            f"{upper(payload['leaked_bits'], 4)} bits leak about one uniform secret, however long."
        )
    trivial = payload.get("at_most") == danger.guesses
    if trivial:
        lines.append(
            f"Nothing is proved about how many of {n} people fall: with "
            f"{100 * payload['confidence']:g}% confidence every guess may be right."
        )
    elif "at_most" in payload:
        lines.append(
            f"With {100 * payload['confidence']:g}% confidence at most {payload['at_most']} of {n} "
            f"people fall{far}."
        )
    lines += ["", f"PROVED by {headline.theorem}"]
    lines += [f"  assuming {said}" for said in headline.assumptions]
    more = others_text(payload["others"])
    if more and "at_most" in payload and not trivial:
        more[0] = f"Other bounds on the chance that more than {payload['at_most']} fall:"
    notes = [f"Note: {note}" for note in payload["notes"]]
    return lines + (["", *more] if more else []) + (["", *notes] if notes else [])
