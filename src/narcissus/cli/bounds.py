"""``narcissus risk``, ``bound``, ``protect`` and ``plan``: limits on all attackers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import click

from narcissus._outwards import lower, upper
from narcissus._validation import integer, one_of
from narcissus.cli.options import AsJson, Plot, command, given_options, print_json
from narcissus.cli.questions import (
    ADJACENCIES,
    DP_SGD_ADJACENCY,
    SECRETS,
    Answer,
    GivenGuarantee,
    PriorKnowledge,
    PriorOrBits,
    answer_all,
    are_replaced,
    criterion,
    criterion_text,
    dp_sgd_settings,
    exact_match,
    fall_text,
    mean_text,
    more_provable,
    notes_text,
    of_guarantee,
    of_people,
    option_names,
    percent,
    proved_text,
    questions_of,
)
from narcissus.cli.rooms import bounds, guarantees, results
from narcissus.errors import InputError


@dataclass(frozen=True, kw_only=True)
class RiskOptions:
    given: GivenGuarantee
    prior: float
    fpr: float = 0.01
    confidence: float = 0.99
    secret: str = "membership"
    plot: Plot = None
    as_json: AsJson = False


@command
def risk(*, of: RiskOptions) -> None:
    secret = cast("guarantees.Secret", one_of("--secret", of.secret, SECRETS))
    if of.plot is not None and of.plot.suffix != ".svg":
        raise InputError(f"`--plot` must end in .svg, got {of.plot}")
    guarantee = of.given.make(secret)
    with option_names():
        summary = guarantees.risk_of(
            guarantee, of.prior, fpr=of.fpr, confidence=of.confidence, secret=secret
        )
    if of.plot is not None:
        _write("--plot", of.plot, summary.svg())
    if of.as_json:
        print_json(summary.to_dict())
        return
    click.echo("\n".join([str(summary), *([] if of.plot is None else [f"Picture: {of.plot}"])]))


def _write(option: str, path: Path, text: str) -> None:
    from narcissus._files import remedy, write_atomically

    try:
        write_atomically(path, text)
    except OSError as error:
        raise InputError(
            f"`{option}`: cannot write {path} ({error.strerror or error}); {remedy(error)}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class BoundOptions:
    given: GivenGuarantee
    known: PriorOrBits
    within: int | None = None
    success: str | None = None
    secret: str | None = None
    targets: int | None = None
    guesses: int | None = None
    inseparable: float | None = None
    prior_factor: float | None = None
    prior_distance: float | None = None
    tpr: float | None = None
    fpr: float | None = None
    at_least: int | None = None
    confidence: float | None = None
    plot: Plot = None
    as_json: AsJson = False


@command
def bound(*, of: BoundOptions) -> None:
    if of.tpr is not None or of.fpr is not None:
        return _rates(of)
    exact = _check_bound(of)
    nearby = None
    if of.prior_factor is not None or of.prior_distance is not None:
        with option_names():
            nearby = bounds.Nearby(of.prior_factor, of.prior_distance)
    needless = {"--targets": of.targets, "--guesses": of.guesses, "--within": of.within}
    people = of.known.people({**needless, "--plot": of.plot}, nearby)
    about_values = {"--within": of.within, "--inseparable": of.inseparable, "--bits": of.known.bits}
    questions = questions_of(of.secret, of.known.no_membership(people, of.success, about_values))
    question_guarantees = [of.given.make(question) for question in questions]
    named = exact or (of.within is None and (of.known.values or people) is not None)

    def answer(question: guarantees.Secret) -> Answer:
        guarantee = question_guarantees[questions.index(question)]
        if people is not None:
            return _on_people(people, guarantee, of.at_least, of.confidence)
        with option_names():
            danger = of.known.of(question).threat(
                exact=exact and question == "value",
                within=of.within,
                targets=of.targets,
                guesses=of.guesses,
                inseparable=of.inseparable,
                nearby=nearby,
            )
            payload, headline = _bounded(danger, guarantee, of)
            lines = _bound_text(payload, headline, danger)
            if of.plot is not None and question == questions[0]:
                bounds.compare(danger, guarantee, of.at_least).save(of.plot)
                lines.append(f"Picture: {of.plot}")
            return Answer(guarantee, payload, lines)

    answer_all(
        questions, answer, shared=are_replaced(question_guarantees) and named, as_json=of.as_json
    )


def _rates(of: BoundOptions) -> None:
    """Bound the rates of a test from a guarantee, or the Bayes security from a test's rates."""
    alone = {"tpr", "fpr", "as_json", *(("secret",) if of.given.named else ())}
    names = {field.name for field in fields(GivenGuarantee)} if of.given.named else set[str]()
    context = click.get_current_context()
    for option in given_options(context):
        if option.name not in alone | names:
            raise InputError(f"`{option.opts[0]}` does not go with `--tpr` and `--fpr`; drop it")
    if of.fpr is None or (of.tpr is not None and of.given.named):
        raise InputError("`--tpr` goes with `--fpr`, and without a guarantee, for which it asks")
    with option_names():
        if of.given.named:
            secret = cast("guarantees.Secret", one_of("--secret", of.secret or "value", SECRETS))
            limit = bounds.true_positive_rate(of.given.make(secret), of.fpr)
        elif of.tpr is None:
            raise InputError("`--fpr` needs a guarantee, such as --bayes-security 0.9, or `--tpr`")
        else:
            limit = bounds.beta_star_of_rates(of.tpr, of.fpr)
    if of.as_json:
        print_json(limit.to_dict())
    else:
        click.echo(f"The {limit.quantity} is at most {upper(limit.value)}.")
        click.echo("\n".join(proved_text(limit.to_dict())))


def _check_bound(of: BoundOptions) -> bool:
    """Refuse conflicting options; return whether the exact-match prior alone counts."""
    option = of.known.only()
    is_one = of.targets is None and of.known.priors is None
    if option != "--prior" and of.inseparable is not None:
        raise InputError(f"`--inseparable` is computed from `{option}`; drop it")
    for name, value in {"--guesses": of.guesses, "--at-least": of.at_least}.items():
        if is_one and value is not None:
            raise InputError(f"`{name}` needs `--targets`, the number of people attacked")
    if of.at_least is not None and of.targets is not None:
        integer("--at-least", of.at_least, low=0, high=of.targets)
    exact = exact_match(of.success, known=option) or option == "--bits"
    if exact and of.inseparable is not None:
        raise InputError("`--inseparable` is computed with `--success exact`; drop it")
    if of.confidence is not None and is_one and of.known.bits is None:
        raise InputError(
            "`--confidence` needs `--targets`, the number of people attacked, `--priors` or "
            "`--bits`"
        )
    if of.confidence is not None and of.at_least is not None:
        raise InputError("`--at-least` and `--confidence` exclude each other; give one")
    return exact


def _on_people(
    people: bounds.ThreatToPeople,
    guarantee: guarantees.Guarantee,
    at_least: int | None,
    confidence: float | None,
) -> Answer:
    """Bound the mean over people, and the tail or the number of those who are reconstructed."""
    with option_names():
        payload = of_people(people, guarantee)
        if at_least is not None:
            limit = people.tail(guarantee, at_least)
            lower_limit = people.reached(guarantee, at_least)
            payload |= {"at_least": at_least, "tail": limit.value}
        else:
            level = 0.95 if confidence is None else confidence
            limit = people.at_most(guarantee, level)
            lower_limit = people.reached_number(guarantee, level)
            payload |= {"confidence": level, "at_most": int(limit.value)}
        if at_least is not None or limit.value < people.n:  # else the theorem is about the mean
            payload |= (
                {} if isinstance(lower_limit, results.NotAssessed) else {"reached": lower_limit}
            )
            payload |= {"theorem": limit.theorem, "assumptions": list(limit.assumptions)}
    payload |= {"notes": _of_points(guarantee), **of_guarantee(guarantee)}
    fall = fall_text(payload, people.n, guesses=people.n, form=",")
    lines = [*mean_text(payload), *fall, *proved_text(payload), *notes_text(payload)]
    return Answer(guarantee, payload, lines)


def _bounded(
    danger: bounds.Threat, guarantee: guarantees.Guarantee, of: BoundOptions
) -> tuple[dict[str, Any], results.Bound]:
    all_bounds = bounds.bounds_on(danger, guarantee)
    single = bounds.best(all_bounds)
    payload: dict[str, Any] = {
        "grade": single.grade,
        "prior": danger.prior,
        "criterion": criterion(danger),
        "success": single.value,
        "advantage": bounds.advantage(single.value, danger.prior),
    }
    if danger.known:
        whole = (b for b in all_bounds if bounds.THEOREMS[b.id].needs.whole)
        payload["optimum"] = bounds.best(whole).value
    headline, rest = single, _others(all_bounds, single)
    if of.targets is not None:
        headline, rest = _many(danger, guarantee, of, payload) or (single, rest)
    elif of.known.bits is not None:
        payload |= _leak(guarantee, of.confidence)
    payload |= {
        "theorem": headline.theorem,
        "assumptions": list(headline.assumptions),
        "others": rest,
        "notes": [
            *([] if of.known.bits is not None else _notes(danger, guarantee, single.value)),
            *_of_points(guarantee),
        ],
        **of_guarantee(guarantee),
    }
    return payload, headline


def _notes(danger: bounds.Threat, guarantee: guarantees.Guarantee, proved: float) -> list[str]:
    if danger.values is not None or danger.exact_match or danger.nearby is not None:
        return more_provable(danger, None)
    named = bounds.threat(prior=danger.prior, exact_match=True)
    exact = bounds.best(bounds.bounds_on(named, guarantee)).value
    return more_provable(danger, f"proves {upper(exact)}" if exact < proved * (1 - 1e-6) else None)


def _of_points(guarantee: guarantees.Guarantee) -> list[str]:
    if not isinstance(guarantee, guarantees.ProfileCurve) or guarantee.converted_from:
        return []
    above = guarantee.implied()
    if not above.size:
        return []
    return [
        f"{above.size} of the {len(guarantee.points)} points of the curve, the first at epsilon "
        f"{above[0]:g}, say less than the chords of the others (in exp(epsilon)): valid, but not "
        "one mechanism's profile. The chords are used."
    ]


def _leak(guarantee: guarantees.Guarantee, confidence: float | None) -> dict[str, Any]:
    if not isinstance(guarantee, guarantees.PureDP):
        if confidence is not None:
            raise InputError("`--confidence` with `--bits` needs pure DP: `--epsilon` alone")
        return {}
    level = 0.95 if confidence is None else confidence
    leaked = bounds.leaked_bits(guarantee.epsilon, level).value
    return {"confidence": level, "leaked_bits": leaked}


def _many(
    danger: bounds.Threat,
    guarantee: guarantees.Guarantee,
    of: BoundOptions,
    payload: dict[str, Any],
) -> tuple[results.Bound, list[dict[str, Any]]] | None:
    """Add the tail or the number to ``payload``; return the bound and the alternatives.

    None where no theorem excludes that every guess is right.
    """
    at_least = of.at_least
    if at_least is not None:
        tails = bounds.bounds_on(danger, guarantee, at_least)
        limit = bounds.best(tails)
        payload |= {"at_least": at_least, "tail": limit.value}
        reached = bounds.reached_of_threat(danger, guarantee, at_least)
        rest = _others(tails, limit)
    else:
        level = 0.95 if of.confidence is None else of.confidence
        limit = bounds.at_most(danger, guarantee, level)
        payload |= {"confidence": level, "at_most": int(limit.value)}
        reached = bounds.reached_number_of_threat(danger, guarantee, level)
        rest = None
        if limit.value < danger.guesses:
            # What the others say about the chance of exceeding that number.
            tails = bounds.bounds_on(danger, guarantee, int(limit.value) + 1)
            rest = _others(tails, bounds.best(tails))
    payload |= {} if isinstance(reached, results.NotAssessed) else {"reached": reached}
    return None if rest is None else (limit, rest)


def _others(found: list[results.Bound], chosen: results.Bound) -> list[dict[str, Any]]:
    """Return the bounds other than the chosen one, tightest first, invalid ones last."""
    rest = sorted((b for b in found if b is not chosen), key=lambda b: (not b.valid, b.value))
    return [{"name": b.theorem, "value": b.value, "valid": b.valid} for b in rest]


def _bound_text(
    payload: dict[str, Any], headline: results.Bound, danger: bounds.Threat
) -> list[str]:
    under = "" if danger.known else " with the worst prior that fits"
    limit = "at most " if danger.nearby is not None else ""
    lines = [
        f"Without the release, the best guess about one person is right with probability "
        f"{limit}{danger.prior:.6g} ({percent(danger.prior)}).",
        f"With it, no attacker is right with probability above {upper(payload['success'])} "
        f"({percent(payload['success'], up=True)}).",
        f"Advantage at most {upper(payload['advantage'])}. {criterion_text(danger)}",
    ]
    if "leaked_bits" in payload:
        lines.append(
            f"With {100 * payload['confidence']:g}% confidence at most "
            f"{upper(payload['leaked_bits'], 4)} bits leak about one uniform secret, however long."
        )
    lines += fall_text(payload, danger.targets, guesses=danger.guesses, under=under)
    lines += proved_text(payload)
    if payload["others"]:
        limit = payload.get("at_most", danger.guesses)
        about = "Other bounds, for comparison:"
        if limit < danger.guesses:
            about = f"Other bounds on the chance that more than {limit} are reconstructed:"
        lines += ["", about]
    for row in payload["others"]:
        mark = "" if row["valid"] else "  (NOT A BOUND: known not to hold)"
        lines.append(f"  {upper(row['value']):<12} {row['name']}{mark}")
    return lines + notes_text(payload)


@dataclass(frozen=True)
class GivenRates:
    """The options that limit error rates."""

    tpr: float | None = None
    fpr: float | None = None
    precision: float | None = None
    recall: float | None = None
    base_rate: float | None = None


@dataclass(frozen=True, kw_only=True)
class ProtectOptions:
    known: PriorKnowledge
    success: str | None = None
    secret: str | None = None
    advantage: float | None = None
    success_at_most: float | None = None
    error_rates: GivenRates
    delta: float = 0.0
    dp_sgd: str | None = None
    adjacency: str = "replace-one"
    targets: int | None = None
    at_most: int | None = None
    confidence: float | None = None
    plot: Plot = None
    as_json: AsJson = False


@command
def protect(*, of: ProtectOptions) -> None:
    known, rates = of.known, vars(of.error_rates)
    of_threat: dict[str, Any] = {
        "advantage": of.advantage,
        "success": of.success_at_most,
        "at_most": of.at_most,
    }
    rates_alone = _none(of_threat) and not _none(rates)
    if rates_alone:
        needless = {"--priors": known.priors, "--success": of.success, "--plot": of.plot}
        _refuse_with_rates({**known.options, **needless})
        known = PriorKnowledge(prior=0.5)  # of a coin; error rates do not depend on it
    known_option, limits = known.only(), of_threat | rates
    _check_limits(limits, of.targets, of.confidence, people=known_option == "--priors")
    exact = exact_match(of.success, known=known_option)
    if known.prior == 1:
        raise InputError("`--prior` must be below 1: nothing is left to protect")
    people = known.people({"--targets": of.targets, "--plot": of.plot})
    questions = questions_of(of.secret, known.no_membership(people, of.success))
    named = exact or rates_alone or (known.values or people) is not None
    replaced = of.adjacency == "replace-one" and of.dp_sgd is None

    one_of("--adjacency", of.adjacency, ADJACENCIES)
    if of.dp_sgd is not None and of.adjacency != "replace-one":
        raise InputError(DP_SGD_ADJACENCY)
    noise = None if of.dp_sgd is None else dp_sgd_settings(of.dp_sgd, ("rate", "steps"))

    def answer(question: guarantees.Secret) -> Answer:
        danger = people or known.of(question).threat(
            exact=exact and question == "value", targets=of.targets
        )
        with option_names():
            limit = bounds.Limit(
                **limits, confidence=0.95 if of.confidence is None else of.confidence
            )
            payload, guarantee = _protected(danger, limit, of, noise, question)
            lines = _protect_text(payload, danger)
            assumptions = payload.get("assumptions", ())
            additions = [
                assumption for assumption in guarantee.program if assumption not in assumptions
            ]
            lines += [f"  assuming {assumption}" for assumption in additions]
            payload = (
                {**payload, "assumptions": [*assumptions, *additions]} if additions else payload
            )
            is_first = question == questions[0]
            if of.plot is not None and is_first and isinstance(danger, bounds.Threat):
                count = None if of.at_most is None else of.at_most + 1
                bounds.compare(danger, guarantee, count).save(of.plot)
                lines.append(f"Picture: {of.plot}")
            return Answer(guarantee, payload, lines)

    answer_all(questions, answer, shared=replaced and named, as_json=of.as_json)


def _none(given: Mapping[str, object]) -> bool:
    return all(value is None for value in given.values())


def _refuse_with_rates(given: Mapping[str, object]) -> None:
    """Refuse options that limits on error rates alone do not depend on."""
    for option, value in given.items():
        if value is not None:
            raise InputError(
                f"`{option}` says nothing of `--tpr` and `--precision`; drop it, or limit "
                "`--advantage`, `--success-at-most` or `--at-most` as well"
            )


def _check_limits(
    limits: Mapping[str, Any], targets: int | None, confidence: float | None, *, people: bool
) -> None:
    at_most = limits["at_most"]
    if not people and (targets is None) != (at_most is None):
        raise InputError(
            "`--targets` and `--at-most` go together: V of N people may be reconstructed"
        )
    if _none(limits):
        raise InputError(
            "a limit must be given: `--advantage`, `--success-at-most`, `--targets` with "
            "`--at-most`, `--tpr` with `--fpr`, or `--precision`"
        )
    if confidence is not None and at_most is None:
        raise InputError("`--confidence` goes with `--targets` and `--at-most` only; drop it")
    if targets is not None and at_most is not None and at_most >= targets and not people:
        raise InputError(
            f"`--at-most` must be below the {targets} targets, got {at_most}: "
            "no more than all of them can be reconstructed, whatever is released"
        )


def _protected(
    danger: bounds.Threat | bounds.ThreatToPeople,
    limit: bounds.Limit,
    of: ProtectOptions,
    dp_sgd: dict[str, Any] | None,
    secret: guarantees.Secret,
) -> tuple[dict[str, Any], guarantees.Guarantee]:
    """Return the JSON keys and the guarantee found: an epsilon at a delta, or noise of DP-SGD."""
    if dp_sgd is None:
        settings, guarantee = _least_noise(danger, limit, of, secret)
    else:
        noise = bounds.smallest_noise(danger, limit, secret=secret, **dp_sgd)
        guarantee = guarantees.dp_sgd(noise, secret=secret, **dp_sgd)
        settings = {"noise": noise, **dp_sgd}
        if of.delta > 0:
            epsilon = guarantees.as_approximate(guarantee, delta=of.delta).epsilon
            settings |= {"epsilon": epsilon, "delta": of.delta}
    payload = (_reached(danger, guarantee) if limit.of_threat else {"notes": []}) | settings
    payload |= _rates_reached(limit, guarantee)
    of_people = isinstance(danger, bounds.ThreatToPeople)
    if limit.at_most is not None:
        count = limit.at_most + 1
        if of_people:
            tail = danger.tail(guarantee, count)
        else:
            tail = bounds.best(bounds.bounds_on(danger, guarantee, count))
        payload |= {
            "at_most": limit.at_most,
            "confidence": limit.confidence,
            "exceeded": tail.value,
            "theorem": tail.theorem,
            "assumptions": list(tail.assumptions),
        }
    elif (
        not of_people
        and limit.advantage is not None
        and danger.values
        and danger.known
        and (dp_sgd, of.adjacency, secret) == (None, "replace-one", "value")
    ):
        payload["by_value"] = bounds.epsilon_by_value(danger.values, limit, delta=of.delta)
    return payload | of_guarantee(guarantee), guarantee


def _least_noise(
    danger: bounds.Threat | bounds.ThreatToPeople,
    limit: bounds.Limit,
    of: ProtectOptions,
    secret: guarantees.Secret,
) -> tuple[dict[str, Any], guarantees.Guarantee]:
    around = cast("guarantees.Adjacency", of.adjacency)
    epsilon = bounds.largest_epsilon(danger, limit, delta=of.delta, adjacency=around, secret=secret)
    mu = bounds.largest_mu(danger, limit, adjacency=around, secret=secret)
    settings: dict[str, Any] = {"epsilon": epsilon, "delta": of.delta, "mu": mu}
    if around != "replace-one":
        settings["adjacency"] = around
    once: guarantees.Guarantee = guarantees.PureDP(epsilon, adjacency=around)
    if of.delta > 0:
        once = guarantees.ApproximateDP(epsilon, of.delta, adjacency=around)
    return settings, guarantees.as_asked(once, secret)


def _reached(
    danger: bounds.Threat | bounds.ThreatToPeople, guarantee: guarantees.Guarantee
) -> dict[str, Any]:
    if isinstance(danger, bounds.ThreatToPeople):
        return {**of_people(danger, guarantee), "notes": []}
    single = bounds.best(bounds.bounds_on(danger, guarantee))
    return {
        "grade": single.grade,
        "prior": danger.prior,
        "criterion": criterion(danger),
        "success": single.value,
        "advantage": bounds.advantage(single.value, danger.prior),
        "theorem": single.theorem,
        "assumptions": list(single.assumptions),
        "notes": more_provable(danger, "may ask for less noise"),
    }


def _rates_reached(limit: bounds.Limit, guarantee: guarantees.Guarantee) -> dict[str, Any]:
    """Return upper bounds on the error rates that are limited."""
    payload: dict[str, Any] = {}
    rate_bounds: list[results.Bound] = []
    if limit.tpr is not None and limit.fpr is not None:
        rate_bounds.append(bounds.true_positive_rate(guarantee, limit.fpr))
        payload |= {"tpr": rate_bounds[-1].value, "fpr": limit.fpr}
    if limit.precision is not None and limit.recall is not None and limit.base_rate is not None:
        rate_bounds.append(bounds.precision(guarantee, limit.recall, limit.base_rate))
        payload |= {"precision": rate_bounds[-1].value, "recall": limit.recall}
        payload |= {"base_rate": limit.base_rate}
    if rate_bounds and not limit.of_threat:
        payload |= {
            "grade": rate_bounds[0].grade,
            "theorem": " and ".join(rate_bound.theorem for rate_bound in rate_bounds),
        }
        payload |= {"assumptions": list(rate_bounds[0].assumptions)}
    return payload


def _enough(payload: dict[str, Any]) -> str:
    if "noise" in payload:
        at = ""
        if "epsilon" in payload:
            at = f" (epsilon {upper(payload['epsilon'])} at delta {payload['delta']:g})"
        return (
            f"A noise multiplier of {payload['noise']:g} is enough protection for "
            f"{payload['steps']:g} steps of DP-SGD at the rate {payload['rate']:g}{at}. "
            "The accountant was asked about this very number."
        )
    remark = ", the largest that was tried" if payload["epsilon"] >= 1e4 else ""
    about = f" ({payload['adjacency']} neighbours)" if "adjacency" in payload else ""
    return (
        f"epsilon {lower(payload['epsilon'])} with delta {payload['delta']:g} is enough protection"
        f"{remark}; so is Gaussian DP with mu {lower(payload['mu'])}{about}."
    )


def _protect_text(
    payload: dict[str, Any], danger: bounds.Threat | bounds.ThreatToPeople
) -> list[str]:
    lines = [_enough(payload)]
    then = "Then" if "noise" in payload else "At that epsilon"
    if isinstance(danger, bounds.ThreatToPeople):
        n = danger.n
        lines += mean_text(payload) if "success" in payload else []
    elif (n := danger.targets) and "success" in payload:
        lines.append(
            f"{then} no attacker is right about one "
            f"person with probability above {upper(payload['success'])}, where "
            f"{payload['prior']:.6g} is reached without the release "
            f"(advantage {upper(payload['advantage'])}). {criterion_text(danger)}"
        )
    if "tpr" in payload:
        lines.append(
            f"{then} no test with a false positive rate of at most {payload['fpr']:g} has a true "
            f"positive rate above {upper(payload['tpr'])}."
        )
    if "precision" in payload:
        lines.append(
            f"{then} no test with a recall of at least {payload['recall']:g} has a precision above "
            f"{upper(payload['precision'])}, where the base rate is {payload['base_rate']:g}."
        )
    if "at_most" in payload:
        lines.append(
            f"More than {payload['at_most']} of {n:,} people are reconstructed with probability "
            f"at most {upper(payload['exceeded'])}."
        )
    if "by_value" in payload:
        levels = payload["by_value"]
        lines.append(
            "If only each value's own probability is used: "
            f"epsilon {lower(levels.least)} for the least likely value, {lower(levels.median)} for "
            f"the median, {lower(levels.most)} for the most likely."
        )
    return lines + proved_text(payload) + notes_text(payload)
