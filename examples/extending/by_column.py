"""A table attack that guesses each column, with or without a list of joint values."""

import numpy as np


class LikeliestValues:
    """Say of each unknown column what is likeliest, whether joint values are listed or not."""

    title = "the likeliest value of each column"
    uses = "prior"
    informed = False

    def guess(self, view, *, rng):
        targets = view.targets
        modes = np.stack([chances.argmax(axis=1) for chances in targets.marginals], axis=1)
        return targets.success.join_guess(modes)
