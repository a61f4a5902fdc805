"""Figure 1 of Chatzikokolakis et al. 2023: five secrets under Laplace noise in the plane.

The secrets' places and the noise are not printed; ours stand in.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, special

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced
from narcissus_papers.chatzikokolakis.cases import Matrix

PLACES = np.array([(-1.5, -0.9), (-0.6, 0.9), (0.2, -0.4), (1.0, 0.6), (1.7, 1.1)])
RATE = 1.0
"""Of the noise: its density falls by a factor e over a distance of one."""
STEP = 0.05
REACH = 14.0


def posteriors() -> ch.Channel:
    """Return the channel from the five secrets to the cells of a fine grid."""
    line = np.arange(-REACH, REACH, STEP) + STEP / 2
    x, y = np.meshgrid(line, line)
    far = np.hypot(x.ravel() - PLACES[:, :1], y.ravel() - PLACES[:, 1:])
    weights = np.exp(-RATE * far)
    return ch.channel(weights / weights.sum(axis=1, keepdims=True))


def overlap(distance: float) -> float:
    """Compute the Bayes security of two points at a distance, by an integral.

    The noise across the line between them is ``RATE^2 / pi |x| K_1(RATE |x|)``, and each point is
    mistaken for the other beyond the middle.
    """

    def across(x: float) -> float:
        return RATE**2 / math.pi * x * float(special.k1(RATE * x))

    return 2 * float(integrate.quad(across, distance / 2, np.inf)[0])


def make(_given: Given) -> Reproduced:
    """Draw the secrets' posteriors, and the pair that is easiest to distinguish.

    Source: Chatzikokolakis et al. 2023, Figure 1.
    """
    channel = posteriors()
    worst = ch.beta_star(channel)
    a, b = worst.indices
    apart = np.hypot(*(PLACES[:, None] - PLACES[None, :]).transpose(2, 0, 1))
    farthest = np.unravel_index(int(np.argmax(apart)), apart.shape)
    distance = float(apart[a, b])
    same = float(np.abs(channel.row(a) - channel.row(b)).sum() / 2)
    exact = overlap(distance)
    return Reproduced(
        panels=(
            Panel("Where the density is half of its top", "x", "y", _plan((a, b))),
            Panel("Along the line of the two", "place on the line", "density", _cut(distance)),
        ),
        held=(
            Held(
                f"the least Bayes security is that of the two farthest apart, {worst.value:.4f}",
                sorted(farthest) == [a, b],
                "checked",
            ),
            Held(
                "it is the complement of the total variation distance of their posteriors",
                abs(worst.value - (1 - same)) < 1e-9,
                "checked",
            ),
            Held(
                f"the grid agrees with the integral over the plane, {exact:.4f}, to .0005",
                abs(worst.value - exact) < 5e-4,
                "checked",
            ),
        ),
        cannot="the secrets' places and the noise are not printed",
        notes=(
            "The paper prints neither the places of the secrets nor the noise: ours are five "
            "points and noise that falls by a factor e over a distance of one.",
        ),
    )


def _plan(pair: tuple[int, int]) -> list[Line]:
    """Draw where each secret's density is half of its top; full lines for the pair."""
    turn = np.linspace(0, 2 * math.pi, 73)
    radius = math.log(2) / RATE
    lines: list[Line] = []
    for secret, (x, y) in enumerate(PLACES):
        told = secret in pair
        label = f"secret {secret + 1}{', told apart best' if told else ''}"
        ring = (x + radius * np.cos(turn)).tolist(), (y + radius * np.sin(turn)).tolist()
        lines.append(Line(label, *ring, "line" if told else "dotted"))
    return [*lines, Line("places", PLACES[:, 0].tolist(), PLACES[:, 1].tolist(), "points")]


def _cut(distance: float) -> list[Line]:
    """Draw the two posteriors along the line through the pair, and where they overlap."""
    line = np.linspace(-2.5, distance + 2.5, 400)
    scale = RATE**2 / (2 * math.pi)
    both: list[Matrix] = [
        scale * np.exp(-RATE * np.abs(line - middle)) for middle in (0.0, distance)
    ]
    return [
        Line("one of the two", line.tolist(), both[0].tolist()),
        Line("the other", line.tolist(), both[1].tolist()),
        Line("the smaller of both", line.tolist(), np.minimum(*both).tolist(), "dashed"),
    ]


FIGURE_1 = Item("002", "figure", "1", "Five secrets under noise in the plane", 2.0, make)
