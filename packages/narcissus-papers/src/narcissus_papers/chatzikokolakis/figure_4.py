"""Figure 4 of Chatzikokolakis et al. 2023: what epsilon implies, and the bound of Yeom et al."""

from __future__ import annotations

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced

EPSILONS = np.linspace(0.0, 5.0, 201)


def make(_given: Given) -> Reproduced:
    """Draw both lower limits of Bayes security against epsilon.

    Source: Chatzikokolakis et al. 2023, Figure 4.
    """
    ours = [ch.from_local_dp(float(e)).value for e in EPSILONS]
    yeom = [ch.yeom_bound(float(e)).value for e in EPSILONS]
    lines = [
        Line("Corollary 2: 2 / (1 + e^epsilon)", EPSILONS.tolist(), ours),
        Line("from Yeom et al.: 2 - e^epsilon", EPSILONS.tolist(), yeom, "dashed"),
    ]
    reached = [ch.KaryRandomizedResponse(2, float(e)).beta_star for e in EPSILONS]
    return Reproduced(
        panels=(Panel("What epsilon implies", "epsilon", "Bayes security at least", lines),),
        held=(
            Held(
                "Corollary 2 lies above the bound of Yeom et al. wherever epsilon is above 0, and "
                "both are 1 at 0",
                all(a > b for a, b in zip(ours[1:], yeom[1:], strict=True))
                and ours[0] == yeom[0] == 1.0,
                "checked",
            ),
            Held(
                "that of Yeom et al. says nothing from epsilon ln 2 on",
                all((y == 0) == (e >= np.log(2)) for e, y in zip(EPSILONS, yeom, strict=True)),
                "checked",
            ),
            Held(
                "randomized response on two values reaches Corollary 2 at every epsilon drawn",
                bool(np.allclose(ours, reached, rtol=1e-12)),
                "checked",
            ),
        ),
        notes=("Where 2 - e^epsilon is below 0 it is drawn as 0, which says nothing.",),
    )


FIGURE_4 = Item(
    "002", "figure", "4", "What epsilon implies for Bayes security", 1.0, make,
    command="narcissus bound --epsilon 1 --prior 0.5 --success exact",
)  # fmt: skip
