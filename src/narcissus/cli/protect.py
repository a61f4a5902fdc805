"""``narcissus protect``: the least noise that keeps the risk below a limit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from narcissus._outwards import lower, upper
from narcissus._validation import one_of
from narcissus.cli import options
from narcissus.cli.bound_options import (
    Answer,
    criterion,
    criterion_text,
    dp_sgd_settings,
    exact_match,
    known_of,
    mean_text,
    more_provable,
    no_membership,
    of_guarantee,
    one_answer,
    only_one,
    option_names,
    people_of,
    print_answer,
    questions_of,
    reached,
    threat_of,
    together,
)
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.bounds import Limit, Threat, ThreatToPeople
    from narcissus.guarantees import Adjacency, Guarantee, Secret

HELP = """Find the largest epsilon (and mu), or the least noise of DP-SGD, that keeps the risk low.

The limit is an advantage on one person, (success - prior) / (1 - prior), a success, a number of
people that may fall with a confidence, error rates of an attack, or several of them. With --prior
alone a guess may be right about several values at once; where it must name the very value,
--success exact proves more and so asks for less noise. With --priors FILE (a row a person, a column
a value) the advantage is kept for every one of them.

What the attacker asks is --secret: what value a record has, or membership, whether the record is in
the data (for --dp-sgd: added and removed records). Where the options leave it open, both are
answered.

Error rates are those of telling in from out (or one value from another): --tpr X --fpr Y limits the
share of members that is called in where a share Y of others is; --precision X --recall R
--base-rate B limits how many of those called in are members, where a share B of all is and the
attack finds at least a share R of them. They need no --prior.

\b
Examples:
  narcissus protect --prior 0.1 --advantage 0.05 --delta 1e-5
  narcissus protect --values 0.7,0.2,0.1 --advantage 0.1
  narcissus protect --prior 0.5 --success exact --delta 1e-6 --targets 100 --at-most 70
  narcissus protect --zipf 1.1,1e9 --advantage 0.05 --delta 1e-5
  narcissus protect --priors people.csv --advantage 0.05 --at-most 300
  narcissus protect --dp-sgd rate=0.01,steps=1000 --prior 0.01 --advantage 0.05 --delta 1e-5
  narcissus protect --dp-sgd rate=0.01,steps=1000 --secret membership --tpr 0.05 --fpr 0.01
  narcissus protect --secret membership --precision 0.2 --recall 0.1 --base-rate 0.01
  narcissus protect --prior 0.1 --advantage 0.05 --adjacency add-remove
  narcissus protect --prior 0.1 --advantage 0.05 --delta 1e-5 --plot protect.svg

--dp-sgd asks for the least noise multiplier (standard deviation over the clipping norm). The number
that is printed was itself given to the accountant and keeps the limit; --delta then only says the
epsilon that it has there. Add interval=1e-4 for a sharper accountant, ten times as slow.

\b
Keys of --json: grade, prior, criterion (exact match, any), epsilon, delta, mu, success, advantage
(reached at epsilon), theorem, assumptions, notes; at_most, confidence and exceeded with --at-most;
by_value (least, median, most likely value) with --values and --advantage alone; noise, rate, steps
and interval with --dp-sgd, without mu, and epsilon only with --delta; people and most_exposed with
--priors, where prior, success and advantage are means; adjacency and converted_from where epsilon
and mu are about added or removed records; tpr and fpr, or precision, recall and base_rate, with
what is reached; secret (value, membership) and question; membership, with all keys for that
question, where both were answered. With error rates alone there is no prior and no success.
"""


_RATES = ("tpr", "fpr", "precision", "recall", "base_rate")
_rates = options.several(
    options.take("--tpr", "X", "Largest true positive rate at --fpr.", float),
    options.take("--fpr", "Y", "With --tpr: false positive rate.", float),
    options.take("--precision", "X", "Largest precision at --recall.", float),
    options.take(
        "--recall", "R", "With --precision: share of members that is found, or more.", float
    ),
    options.take(
        "--base-rate", "B", "With --precision: share of members among those asked about.", float
    ),
)


@click.command(help=HELP, short_help="How much noise keeps the risk below a limit.")
@options.prior
@options.values
@options.zipf
@options.priors
@options.success
@options.secret
@options.take("--advantage", "A", "Largest advantage on one person.", float)
@options.take("--success-at-most", "S", "Largest chance to be right about one.", float)
@_rates
@options.take("--delta", "D", "Delta of the guarantee.  [0]", float, default=0.0)
@options.take("--dp-sgd", "rate=..,steps=..", "Find the noise of DP-SGD (extra `accounting`).")
@options.adjacency
@options.targets
@options.take("--at-most", "V", "Largest number of people that may fall.", int)
@options.take("--confidence", "C", "How surely no more fall.  [0.95]", float)
@options.plot("Draw all bounds around the epsilon that was found.")
@options.as_json("Print JSON in full precision.")
def command(
    *,
    success: str | None,
    secret: str | None,
    delta: float,
    dp_sgd: str | None,
    adjacency: str,
    targets: int | None,
    confidence: float | None,
    plot: Path | None,
    as_json: bool,
    **about: Any,
) -> None:
    from narcissus import bounds

    known: dict[str, Any] = {f"--{name}": about[name] for name in ("prior", "values", "zipf")}
    priors: Path | None = about["priors"]
    at_most: int | None = about["at_most"]
    rates = {name: about[name] for name in _RATES}
    of_threat = {
        "advantage": about["advantage"],
        "success": about["success_at_most"],
        "at_most": at_most,
    }
    limits = of_threat | rates
    rates_alone = _none(of_threat) and not _none(rates)
    if rates_alone:
        needless = {"--priors": priors, "--success": success, "--plot": plot}
        refuse_with_rates({**known, **needless})
        known["--prior"] = 0.5  # of a coin; error rates do not depend on it
    exact = _check({**known, "--priors": priors}, success, limits, targets, confidence)
    people = None if priors is None else people_of(priors, {"--targets": targets, "--plot": plot})
    questions = questions_of(secret, no_membership({**known, "--priors": people}, success, {}))
    named = exact or rates_alone or (known["--values"] or people) is not None
    replaced = adjacency == "replace-one" and dp_sgd is None
    shared = one_answer(questions, replaced=replaced, exact=named)
    found: list[Answer] = []
    for question in questions[:1] if shared else questions:
        goal = _goal(delta, dp_sgd, adjacency, question)
        danger = people or threat_of(
            known_of(question, known), exact=exact and question == "value", targets=targets
        )
        with option_names():
            limit = bounds.Limit(**limits, confidence=0.95 if confidence is None else confidence)
            payload, guarantee = _answer(danger, limit, goal)
            lines = _text(payload, danger)
            if plot is not None and not found and isinstance(danger, bounds.Threat):
                count = None if at_most is None else at_most + 1
                bounds.compare(danger, guarantee, count).save(plot)
                lines.append(f"Picture: {plot}")
            found.append(Answer(guarantee, payload, lines))
    payload, lines = together(found, shared=shared)
    print_answer(payload, lines, as_json=as_json)


def _none(given: Mapping[str, object]) -> bool:
    return all(value is None for value in given.values())


class _Goal(NamedTuple):
    """The sought parameter: an epsilon at a delta, or the noise of DP-SGD."""

    delta: float
    dp_sgd: dict[str, Any] | None
    adjacency: Adjacency
    secret: Secret

    @property
    def simple(self) -> bool:
        """Whether it is an epsilon of a guarantee about replaced records."""
        return self.dp_sgd is None and self.adjacency == "replace-one"


def _goal(delta: float, dp_sgd: str | None, adjacency: str, secret: Secret) -> _Goal:
    kind = one_of("--adjacency", adjacency, ("replace-one", "add-remove"))
    if dp_sgd is not None and kind != "replace-one":
        raise InputError(
            "`--adjacency` does not go with `--dp-sgd`, which is accounted for what is asked: a "
            "replaced record, or with `--secret membership` an added or removed one; drop it"
        )
    settings = None if dp_sgd is None else dp_sgd_settings(dp_sgd, ("rate", "steps"))
    return _Goal(delta, settings, cast("Adjacency", kind), secret)


def _check(
    known: dict[str, Any],
    success: str | None,
    limits: Mapping[str, Any],
    targets: int | None,
    confidence: float | None,
) -> bool:
    """Refuse conflicting options; return whether the exact-match prior alone counts."""
    given = only_one(known)
    people, at_most = given == "--priors", limits["at_most"]
    if not people and (targets is None) != (at_most is None):
        raise InputError("`--targets` and `--at-most` go together: V of N people may fall")
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
            "no more than all of them can fall, whatever is released"
        )
    exact = exact_match(success, known=given)
    if known["--prior"] == 1:
        raise InputError("`--prior` must be below 1: nothing is left to protect")
    return exact


def _answer(
    danger: Threat | ThreatToPeople, limit: Limit, goal: _Goal
) -> tuple[dict[str, Any], Guarantee]:
    """Return the JSON keys and the guarantee found."""
    from narcissus import bounds

    found, guarantee = _found(danger, limit, goal)
    payload = (_reached(danger, guarantee) if limit.of_threat else {"notes": []}) | found
    payload |= rates_reached(limit, guarantee)
    if limit.at_most is not None:
        count = limit.at_most + 1
        if isinstance(danger, bounds.ThreatToPeople):
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
        not isinstance(danger, bounds.ThreatToPeople)
        and goal.simple
        and goal.secret == "value"
        and limit.advantage is not None
        and danger.values
        and danger.known
    ):
        payload["by_value"] = bounds.epsilon_by_value(danger.values, limit, delta=goal.delta)
    return payload | of_guarantee(guarantee), guarantee


def _found(
    danger: Threat | ThreatToPeople, limit: Limit, goal: _Goal
) -> tuple[dict[str, Any], Guarantee]:
    """Search the goal; return its JSON keys and the guarantee for the question."""
    from narcissus import bounds
    from narcissus.guarantees import ApproximateDP, PureDP, as_approximate, as_asked, dp_sgd

    if goal.dp_sgd is not None:
        noise = bounds.smallest_noise(danger, limit, secret=goal.secret, **goal.dp_sgd)
        curve = dp_sgd(noise, secret=goal.secret, **goal.dp_sgd)
        found: dict[str, Any] = {"noise": noise, **goal.dp_sgd}
        if goal.delta > 0:
            epsilon = as_approximate(curve, delta=goal.delta).epsilon
            found |= {"epsilon": epsilon, "delta": goal.delta}
        return found, curve
    delta, around = goal.delta, goal.adjacency
    of: Any = {"adjacency": around, "secret": goal.secret}
    epsilon = bounds.largest_epsilon(danger, limit, delta=delta, **of)
    mu = bounds.largest_mu(danger, limit, **of)
    found = {"epsilon": epsilon, "delta": delta, "mu": mu}
    if around != "replace-one":
        found["adjacency"] = around
    once: Guarantee = PureDP(epsilon, adjacency=around)
    if delta > 0:
        once = ApproximateDP(epsilon, delta, adjacency=around)
    return found, as_asked(once, goal.secret)


def _reached(danger: Threat | ThreatToPeople, guarantee: Guarantee) -> dict[str, Any]:
    from narcissus import bounds

    if isinstance(danger, bounds.ThreatToPeople):
        return {**reached(danger, guarantee), "notes": []}
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
    most = ", the largest that was tried" if payload["epsilon"] >= 1e4 else ""
    about = f" ({payload['adjacency']} neighbours)" if "adjacency" in payload else ""
    return (
        f"epsilon {lower(payload['epsilon'])} with delta {payload['delta']:g} is enough protection"
        f"{most}; so is Gaussian DP with mu {lower(payload['mu'])}{about}."
    )


def _text(payload: dict[str, Any], danger: Threat | ThreatToPeople) -> list[str]:
    from narcissus.bounds import ThreatToPeople

    lines = [_enough(payload)]
    then = "Then" if "noise" in payload else "At that epsilon"
    if "success" not in payload:
        pass
    elif isinstance(danger, ThreatToPeople):
        lines += mean_text(payload)
    else:
        lines.append(
            f"{then} no attacker is right about one "
            f"person with probability above {upper(payload['success'])}, where "
            f"{payload['prior']:.6g} is reached without the release "
            f"(advantage {upper(payload['advantage'])}). {criterion_text(danger)}"
        )
    lines += rates_text(payload, then)
    n = danger.n if isinstance(danger, ThreatToPeople) else danger.targets
    if "at_most" in payload:
        lines.append(
            f"More than {payload['at_most']} of {n:,} people fall with probability "
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


def refuse_with_rates(given: Mapping[str, object]) -> None:
    """Refuse options that limits on error rates alone do not depend on."""
    for option, value in given.items():
        if value is not None:
            raise InputError(
                f"`{option}` says nothing of `--tpr` and `--precision`; drop it, or limit "
                "`--advantage`, `--success-at-most` or `--at-most` as well"
            )


def rates_reached(limit: Limit, guarantee: Guarantee) -> dict[str, Any]:
    """Return upper bounds on the error rates that are limited."""
    from narcissus import bounds

    found: dict[str, Any] = {}
    said = []
    if limit.tpr is not None and limit.fpr is not None:
        said.append(bounds.true_positive_rate(guarantee, limit.fpr))
        found |= {"tpr": said[-1].value, "fpr": limit.fpr}
    if limit.precision is not None and limit.recall is not None and limit.base_rate is not None:
        said.append(bounds.precision(guarantee, limit.recall, limit.base_rate))
        found |= {"precision": said[-1].value, "recall": limit.recall}
        found |= {"base_rate": limit.base_rate}
    if said and not limit.of_threat:
        found |= {"grade": said[0].grade, "theorem": " and ".join(one.theorem for one in said)}
        found |= {"assumptions": list(said[0].assumptions)}
    return found


def rates_text(payload: Mapping[str, Any], then: str) -> list[str]:
    lines: list[str] = []
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
    return lines
