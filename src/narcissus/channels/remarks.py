"""What is worth saying beside the limits: why they are far apart, and that estimators disagree."""

from __future__ import annotations

import numpy as np

from narcissus._outwards import upper
from narcissus.channels.assumed import Assumed, may_be_monotone
from narcissus.channels.hidden import NOTICED, hidden_share
from narcissus.channels.limits import SecurityHigh
from narcissus.channels.samples import Samples
from narcissus.results import Estimate

FAR = 0.1
"""Distance of the limits from which on they are called far apart."""
COUNTING = ("guess", "frequentist")
"""Estimators that see nothing in outputs that do not repeat, and say nothing by it."""
DISAGREE = 2.0
"""Ratio of what two estimators see from which on they disagree."""


def remarks(
    data: Samples, security: Estimate, found: SecurityHigh, assumed: Assumed
) -> tuple[str, ...]:
    """Give remarks on the limits of `beta*`.

    Parameters
    ----------
    data
        Samples of the secrets among which `beta*` was searched.
    security
        Its estimate, with both limits.
    found
        How the upper one was found.
    assumed
        What is assumed already.
    """
    said = [_disagree(found), _far(data, security, assumed)]
    return tuple([one for one in said if one])


def _disagree(found: SecurityHigh) -> str:
    tried = {name: value for name, value in found.alternatives.items() if name not in COUNTING}
    if not tried or max(tried.values()) < DISAGREE * min(tried.values()) + FAR:
        return ""
    shown = sorted(tried.items(), key=lambda item: item[1])
    each = ", ".join(f"{name} {min(1.0, value):.3f}" for name, value in shown)
    return (
        f"the estimators disagree ({each}, where they were compared): the upper limit is that of "
        "taking at each step the one that did best before, and nothing better is certified; one "
        "that sees no leak says nothing about the others"
    )


def _far(data: Samples, security: Estimate, assumed: Assumed) -> str:
    low, high = security.low, security.high
    if low is None or high is None or high - low < FAR or assumed.symmetric or assumed.monotone:
        return ""
    secrets, each = len(data.names), float(np.median(np.bincount(data.secret)))
    hidden = security.value * hidden_share(np.bincount(data.output) / data.size, each, secrets)
    why = "; so few do not tell more"
    if hidden >= FAR / 2:
        why = (
            ", can hide two that are easier to tell apart than they look. In a channel like this "
            "one, no method that assumes nothing gives more than about "
            f"{upper(security.value - hidden, 2)} (but for a chance of {NOTICED:g} and the error "
            "allowed)"
        )
    would = ["more samples of each secret"]
    if data.shown is not None:
        would.append("`symmetric` (if all secrets are treated alike, as in randomised response)")
    if may_be_monotone(data):
        would.append("`monotone` (if larger secrets make larger outputs likelier throughout)")
    if secrets > 2:
        would.append("`among` or `pair` (if it is known which are the easiest to tell apart)")
    return (
        f"the lower limit of Bayes security is far below the upper one: {secrets} secrets with "
        f"about {each:.0f} samples each, over {data.distinct} outputs{why}. What would help: "
        f"{'; '.join(would)}"
    )
