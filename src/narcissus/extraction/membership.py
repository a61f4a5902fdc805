"""Membership of a document in a language model's training text: scores and their power.

A score is larger for a document that the model likely saw. The true-positive rate, at a threshold
with few false alarms, is a count for this model. That the false alarms are few is a statement about
fresh documents, which are independent of the model. It holds at its level for any distribution of
their scores.

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
    log-likelihood, "lower" the negative log-likelihood of the lower-cased text over it. "reference"
    is the log-likelihood a character in excess of ``reference``, a model that did not see them.
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
    """Documents recognised with few false alarms."""

    rate: float  # largest share of false alarms: fresh documents above the threshold
    # at most ``rate`` of fresh documents score above it, at the level; None: too few of them
    threshold: float | None
    told: float | None  # share of training documents above it; None: too few fresh documents
    needed: int  # least number of fresh documents


def told_at(
    trained: FloatArray, fresh: FloatArray, rate: float, *, confidence: float = 0.95
) -> ToldAt:
    """Recognise training documents by a threshold with few false alarms.

    Parameters
    ----------
    trained, fresh
        Scores of training documents and of unseen ones, which are independent of the rest.
    rate
        Largest share of false alarms, in (0, 1).
    confidence
        Level at which this holds.

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
    """Estimate the chance that a training document outscores a fresh one; ties count half.

    This is the area under the ROC of this model and these documents: the mean, over fresh
    documents, of the share of training documents that score higher.

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
