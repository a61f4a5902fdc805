"""A step of DP-SGD for many small networks at once: ours in NumPy beside Opacus, one after another.

The sum of the clipped gradients must be the same. Opacus (`pip install opacus`, with PyTorch) is no
part of Narcissus; where it is not installed, nothing is compared. Processor time, one thread.
"""

import importlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.extraction.secret_training import PublicNetwork, clipped_sums

DOCUMENTS, HIDDEN, VALUES, CLIP = 10, 8, 10, 0.7
FloatArray = NDArray[np.float64]


def by_opacus(
    torch: Any, opacus: Any, network: PublicNetwork, follows: NDArray[np.int64]
) -> list[FloatArray]:
    """Sum the clipped gradients of one network's documents as a step of Opacus does."""
    inner = torch.nn.Linear(*network.inner.shape, bias=False, dtype=torch.float64)
    outer = torch.nn.Linear(*network.outer.shape, dtype=torch.float64)
    with torch.no_grad():
        inner.weight.copy_(torch.from_numpy(network.inner.T.copy()))
        outer.weight.copy_(torch.from_numpy(network.outer.T.copy()))
        outer.bias.copy_(torch.from_numpy(network.bias))
    module = opacus.GradSampleModule(torch.nn.Sequential(inner, torch.nn.Tanh(), outer))
    optimiser = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(module.parameters(), lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=CLIP,
        expected_batch_size=None,
        loss_reduction="sum",
    )
    logits = module(torch.from_numpy(network.contexts))
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(follows), reduction="sum").backward()
    optimiser.clip_and_accumulate()
    found = [part.summed_grad for part in (inner.weight, outer.weight)]
    return [*(one.T.numpy() for one in found), outer.bias.summed_grad[None].numpy()]


def main(models: int = 100) -> None:
    try:
        torch, opacus = map(importlib.import_module, ("torch", "opacus"))
    except ImportError as error:
        print(f"nothing is compared: {error}")
        return
    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    network = PublicNetwork.drawn(np.full(VALUES, 1 / VALUES), DOCUMENTS, HIDDEN)
    follows = rng.integers(VALUES, size=(models, DOCUMENTS))
    shared = (network.inner, network.outer, network.bias[None])
    weights = [np.repeat(part[None], models, axis=0) for part in shared]
    began = time.process_time()
    ours = clipped_sums(network.contexts, follows, weights, CLIP)
    took = time.process_time() - began
    began = time.process_time()
    theirs = [by_opacus(torch, opacus, network, row) for row in follows]
    they_took = time.process_time() - began
    worst = max(
        float(np.abs(a - np.stack(b)).max())
        for a, b in zip(ours, zip(*theirs, strict=True), strict=True)
    )
    print(f"largest difference of the clipped sums of {models} networks: {worst:.1e}")
    print(f"a step of a network: ours {took / models:.2e} s, Opacus {they_took / models:.2e} s")
    assert worst < 1e-5  # Opacus adds 1e-6 to each norm before it divides


if __name__ == "__main__":
    main()
