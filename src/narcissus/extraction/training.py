"""Descend a loss over batches of examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus.observer import Observer


def descend(
    torch: Any,
    optimiser: Any,
    loss_of: Callable[[NDArray[np.int64]], Any],
    examples: ArrayLike,
    what: str,
    *,
    epochs: int,
    batch: int,
    random: np.random.Generator,
    observer: Observer,
) -> None:
    """Minimise a loss over batches of examples; the rate falls to a tenth along a cosine."""
    order = np.asarray(examples, dtype=np.int64)
    steps = -(-len(order) // batch) * epochs
    (group,) = optimiser.param_groups
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimiser, steps, eta_min=group["lr"] / 10
    )
    observer.start(f"train {what}", steps)
    for _ in range(epochs):
        shuffled = random.permutation(order)
        for begin in range(0, len(order), batch):
            loss = loss_of(shuffled[begin : begin + batch])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(group["params"], 1.0)
            optimiser.step()
            schedule.step()
            observer.advance()
    observer.finish()
