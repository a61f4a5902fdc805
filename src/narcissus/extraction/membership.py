"""Was a document in the training text of a language model? Scores, and how far they tell.

A score is larger for a document that the model likely saw. How often it tells one that the model
was trained on, at a threshold with few false alarms, is a count for this model; that the false
alarms are few is a statement about fresh documents, which are independent of the model, and holds
at its level whatever their scores' distribution.

Source: the scores of Carlini et al. 2021 as recounted by Cohen et al. 2024, D.3; the threshold is
a distribution-free tolerance limit (Wilks 1941).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._validation import fraction
from narcissus.errors import InputError
from narcissus.evidence import mean_limits
from narcissus.extraction.ngram import Generator
from narcissus.results import Estimate

FloatArray = NDArray[np.float64]
_LEAST = 1e-3  # nats: what is divided by stays finite


def membership_scores(
    model: Generator, texts: Sequence[str], reference: Generator | None = None
) -> dict[str, FloatArray]:
    """Score documents, larger = the model likely saw it; arrays of shape (texts,).

    "perplexity" is the log-likelihood a character, "zlib" the compressed bytes over the negative
    log-likelihood, "lower" that of the lower-cased text over it, "reference" the log-likelihood a
    character beyond that of ``reference``, a model that did not see them.
    """
    loss, _ = model.negative_log_likelihood(texts)
    loss = np.maximum(loss, _LEAST)
    size = np.array([len(text) for text in texts], dtype=np.float64)
    packed = np.array([len(zlib.compress(text.encode(), 9)) for text in texts], dtype=np.float64)
    lower, _ = model.negative_log_likelihood([text.lower() for text in texts])
    scores = {"perplexity": -loss / size, "zlib": packed / loss, "lower": lower / loss}
    if reference is not None:
        scores["reference"] = (reference.negative_log_likelihood(texts)[0] - loss) / size
    return scores


@dataclass(frozen=True)
class ToldAt:
    """How many documents are told at few false alarms.

    Attributes
    ----------
    rate
        Most false alarms that are accepted: fresh documents above the threshold.
    threshold
        Score above which a document counts as seen: at the level asked for, at most ``rate`` of
        fresh ones are above. None where there are too few fresh documents to say so.
    told
        Share above it of the documents trained on; None likewise.
    needed
        Fresh documents that it takes, at least.
    """

    rate: float
    threshold: float | None
    told: float | None
    needed: int


def told_at(
    trained: FloatArray, fresh: FloatArray, rate: float, *, confidence: float = 0.95
) -> ToldAt:
    """Tell documents by a threshold with few false alarms.

    Parameters
    ----------
    trained, fresh
        Scores of documents that the model was trained on, and of ones that it never saw, which are
        independent of each other and of the model.
    rate
        Most false alarms, in (0, 1).
    confidence
        Level at which they are no more.

    Examples
    --------
    >>> told_at(np.arange(50.0, 150), np.arange(100.0), 0.1)
    ToldAt(rate=0.1, threshold=95.0, told=0.54, needed=29)
    """
    level, share = fraction("confidence", confidence), fraction("rate", rate)
    needed = math.ceil(math.log(1 - level) / math.log1p(-share))
    m = len(fresh)
    # Above the r-th largest score are more than the rate only if fewer than r scores are among the
    # largest of the whole distribution that the rate leaves.
    chances = scipy.stats.binom.cdf(np.arange(m), m, share)
    r = int(np.searchsorted(chances, 1 - level, side="right"))
    if r == 0:
        return ToldAt(rate, None, None, max(needed, m + 1))
    threshold = float(np.sort(fresh)[m - r])
    return ToldAt(rate, threshold, float(np.mean(trained > threshold)), needed)


def told_apart(
    trained: FloatArray, fresh: FloatArray, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit the chance that a document trained on scores higher than a fresh one; ties count half.

    This is the area under the ROC of this model and these documents: the mean, over fresh
    documents, of the share of documents trained on that score higher.

    Raises
    ------
    InputError
        One of them is empty.
    """
    if not len(trained) or not len(fresh):
        raise InputError("`trained` and `fresh` must hold at least one score each")
    order = np.sort(trained)
    above = len(order) - np.searchsorted(order, fresh, side="right")
    ties = np.searchsorted(order, fresh, side="right") - np.searchsorted(order, fresh, side="left")
    return mean_limits((above + ties / 2) / len(order), confidence=confidence, quantity=quantity)
