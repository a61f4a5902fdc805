"""2,000 n-gram models trained and attacked for each prior and epsilon (001, Figure 3).

The claim is 60 s on two cores for 2,000 models.
"""

import sys
import time

import numpy as np

from narcissus.extraction import (
    CharacterNgram,
    SecretTraining,
    attack_secrets,
    model_prior,
    zipf_prior,
)

KNOWN = "emma olivia ava mia amelia harper evelyn luna ella sofia aria chloe layla mila nora"
CANDIDATES = "emma mia nora ella luna evan otto ruth kurt zoe"


def main(models: int = 2000) -> None:
    names = model_prior(CharacterNgram(KNOWN.split(), order=4), CANDIDATES.split())
    priors = {"uniform": np.full(10, 0.1), "zipf": zipf_prior(10), "names": names}
    print("prior      eps   guess  published  posterior   bound      s")
    for name, prior in priors.items():
        for epsilon in (0.5, 1.0, 3.0, 5.0, 10.0):
            before = time.perf_counter()
            found = attack_secrets(prior, SecretTraining.private(epsilon), models=models, rng=1)
            took = time.perf_counter() - before
            assert found.bound is not None
            print(
                f"{name:8} {epsilon:5g} {found.prior:7.3f} {found.published.value:10.3f} "
                f"{found.posterior.value:10.3f} {found.bound.value:7.3f} {took:6.2f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
