"""Classifiers that turn training samples into scores: how likely each secret is with an output.

Whatever an estimator does, the limits of `estimate` hold: they test it on samples it has not seen.
Products of two columns are for masked implementations, where no column by itself tells anything:
what depends on the secret is how the leaks of two shares go together, so the mean of the product of
their centred columns.
Source: Chatzikokolakis et al. 2023, section VII-D; Narcissus theory 6.2; Chari, Rao and Rohatgi
2003 (templates); Prouff, Rivain and Bevan 2009 (products).
"""

from __future__ import annotations

import copy
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from scipy import linalg, sparse, spatial

from narcissus._optional import optional
from narcissus._validation import did_you_mean
from narcissus.channels.samples import Codes, Matrix, Samples
from narcissus.errors import InputError

TREES = 100
MOST_TRAINING = 20_000  # Training samples that are used; each tree looks at all of them


Scorer = Callable[[Codes], Matrix]
"""From numbers of distinct outputs to weights, shape (outputs, secrets), proportional in each row
to the estimated probability of secret and output together."""

Covariance = Literal["pooled", "each", "shrunk"]


@dataclass(frozen=True)
class Templates:
    """A Gaussian per secret.

    The best attack where the noise is Gaussian; elsewhere one attack among others.
    """

    # "pooled": one for all, the best where the secret moves the mean alone (linear discriminants);
    # "each": each secret its own, for secrets that change spread or how columns hang together, as
    # those of masked implementations do (quadratic discriminants); "shrunk": each its own, shrunk
    # towards its diagonal, for many columns and few samples
    covariance: Covariance = "pooled"

    @property
    def name(self) -> str:
        return "templates" if self.covariance == "pooled" else f"templates-{self.covariance}"

    def _whitener(self, rest: Matrix, pooled: Matrix, floor: float) -> Matrix:
        """Factor the covariance of one secret; of fewer samples than columns the pooled one."""
        count, columns = rest.shape
        if count < 3 or (self.covariance == "each" and count <= columns + 1):
            return linalg.cholesky(pooled, lower=True)
        share = min(1.0, columns / count) if self.covariance == "shrunk" else 0.0
        made = _tamed(rest.T @ rest / (count - 1), share, floor)
        try:
            return linalg.cholesky(made, lower=True)
        except linalg.LinAlgError:  # columns that follow from one another
            return linalg.cholesky(pooled, lower=True)

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        points, secret = samples.training(chosen)
        size, (count, columns) = len(samples.names), points.shape
        each = np.bincount(secret, minlength=size)
        means = np.zeros((size, columns))
        np.add.at(means, secret, points)
        means /= np.maximum(each, 1)[:, None]
        rest = points - means[secret]
        floor = 1e-9 * (float(points.var(axis=0).mean()) or 1.0)
        pooled = _tamed(rest.T @ rest / max(1, count - size), min(1.0, columns / count), floor)
        if self.covariance == "pooled":
            whiteners = [linalg.cholesky(pooled, lower=True)] * size
        else:
            order = np.argsort(secret, kind="stable")
            parts = np.split(rest[order], np.cumsum(each)[:-1])
            whiteners = [self._whitener(part, pooled, floor) for part in parts]
        assert samples.points is not None
        return _scorer(samples.points, means, each, whiteners)


def _tamed(covariance: Matrix, share: float, floor: float) -> Matrix:
    """Shrink towards the diagonal when columns are many, and keep constant columns harmless."""
    return (1 - share) * covariance + np.diag(share * np.diag(covariance) + floor)


def _scorer(everywhere: Matrix, means: Matrix, each: Codes, whiteners: list[Matrix]) -> Scorer:
    """Return densities up to a factor for each output, from factors of the covariances."""
    prior = _log_prior(each)
    same = all(factor is whiteners[0] for factor in whiteners)
    shift = prior - np.array([np.log(np.diag(factor)).sum() for factor in whiteners])
    unit = np.eye(means.shape[1])
    # a product costs less than a solution, and of one column all secrets are done at once
    inverses = [
        linalg.solve_triangular(factor, unit, lower=True).T
        for factor in (whiteners[:1] if same else whiteners)
    ]
    centres = means @ inverses[0]

    def scores(outputs: Codes) -> Matrix:
        x = everywhere[outputs]
        if same:
            # |x - m|^2 without the part that all secrets share
            logs = x @ inverses[0] @ centres.T - (centres**2).sum(axis=1) / 2 + prior
        elif x.shape[1] == 1:
            logs = shift - ((x - means[:, 0]) * np.ravel(inverses)) ** 2 / 2
        else:
            logs = np.tile(shift, (len(outputs), 1))
            for secret, inverse in enumerate(inverses):
                white = (x - means[secret]) @ inverse
                logs[:, secret] -= np.einsum("ij,ij->i", white, white) / 2
        return _unlogged(logs, each)

    return scores


def _log_prior(each: Codes) -> Matrix:
    with np.errstate(divide="ignore"):
        return np.log(each / each.sum())


def _unlogged(logs: Matrix, each: Codes) -> Matrix:
    """Return weights in proportion to exponentials, 0 for secrets that were never seen."""
    logs -= logs.max(axis=1, keepdims=True)
    return np.exp(np.maximum(logs, -700.0)) * (each > 0)


MOST_PRODUCTS = 48  # Products that are kept: those that differ most
MOST_SCANNED = 20_000  # Training samples by which products are compared


@dataclass(frozen=True)
class Products:
    """Templates of second-order products (and squares) of the columns."""

    name: str = "products"

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        points, secret = samples.training(chosen)
        middle, spread = points.mean(axis=0), points.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        some = slice(0, MOST_SCANNED)
        first, second = _telling((points[some] - middle) / scale, secret[some], len(samples.names))
        assert samples.points is not None
        centred = (samples.points - middle) / scale
        made = replace(samples, points=centred[:, first] * centred[:, second])
        return Templates().fit(made, chosen)


def _telling(centred: Matrix, secret: Codes, size: int) -> tuple[Codes, Codes]:
    """Return the two columns of each product whose mean differs most between secrets.

    All products at the same time, by matrix products: the variance of the means between secrets
    against the variance within.
    """
    mean = centred.T @ centred / len(centred)
    squares = centred**2
    within = np.maximum(squares.T @ squares / len(centred) - mean**2, 1e-12)
    between = np.zeros_like(mean)
    for code in range(size):
        mine = centred[secret == code]
        if len(mine):
            between += len(mine) * (mine.T @ mine / len(mine) - mean) ** 2
    rows, columns = np.triu_indices(len(mean))
    ratio = (between / within)[rows, columns]
    best = np.sort(np.argsort(-ratio, kind="stable")[:MOST_PRODUCTS])
    return rows[best], columns[best]


MOST_BINS = 32  # Bins of a column; more say little more
FEWEST_BINS = 4


@dataclass(frozen=True)
class NaiveBayes:
    """Counts in bins of each column, multiplied as if columns were independent given the secret."""

    name: str = "naive-bayes"

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        points, secret = samples.training(chosen)
        size, count = len(samples.names), len(chosen)
        each = np.bincount(secret, minlength=size)
        bins = int(np.clip(round((count / size) ** (1 / 2) / 2), FEWEST_BINS, MOST_BINS))
        inner = np.quantile(points, np.arange(1, bins) / bins, axis=0)
        edges = [np.unique(column) for column in inner.T]
        logs: list[Matrix] = []
        for edge, column in zip(edges, points.T, strict=True):
            place = np.searchsorted(edge, column)
            bin_counts = np.bincount(place * size + secret, minlength=bins * size).reshape(
                bins, size
            )
            # half a sample more in each bin: what was not seen is not impossible
            logs.append(np.log((bin_counts + 0.5) / (each + 0.5 * bins)))
        prior, everywhere = _log_prior(each), samples.points

        def scores(outputs: Codes) -> Matrix:
            assert everywhere is not None
            log_scores = np.tile(prior, (len(outputs), 1))
            for edge, log, column in zip(edges, logs, everywhere[outputs].T, strict=True):
                log_scores += log[np.searchsorted(edge, column)]
            return _unlogged(log_scores, each)

        return scores


WIDE = 10  # More columns than this, and neighbours are searched without a tree
MOST_WIDE = 20_000  # Training samples with which they are then compared

MOST_WORK = 10**10
"""Multiplications for one pass over the samples, above which an estimator is left out."""
MOST_COLUMNS = 2_000  # Columns up to which all products of two are compared
MOST_CLASSES = 100  # Secrets up to which trees are grown


class Estimator(Protocol):
    """Something that learns from samples."""

    @property
    def name(self) -> str: ...

    def fit(self, samples: Samples, chosen: Codes) -> Scorer: ...


@dataclass(frozen=True)
class Frequentist:
    """Counts: the secret that had this output most often; for an unseen output the commonest."""

    name: str = "frequentist"

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        counts = samples.counts(chosen)
        common = samples.each(chosen) / len(chosen)

        def scores(outputs: Codes) -> Matrix:
            # A touch of the overall shares decides unseen outputs and exact ties.
            return counts[outputs].toarray() + 1e-6 * common

        return scores


@dataclass(frozen=True)
class Guess:
    """No attack: the commonest secret, whatever the output."""

    name: str = "guess"

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        common = samples.each(chosen) / len(chosen)
        return lambda outputs: np.tile(common, (len(outputs), 1))


Search = Callable[[Matrix, int], tuple[Matrix, Codes]]
"""From points and a number to the distances and places of so many nearest, nearest first."""


def _by_tree(points: Matrix) -> Search:
    tree = spatial.cKDTree(points)

    def search(queries: Matrix, count: int) -> tuple[Matrix, Codes]:
        distance, near = tree.query(queries, k=count, workers=-1 if len(queries) > 5_000 else 1)
        shape = (len(queries), count)
        return np.reshape(distance, shape), np.reshape(near, shape)

    return search


def _by_products(points: Matrix) -> Search:
    """Search with matrix products: for many columns, where a tree prunes nothing."""
    squares = np.einsum("ij,ij->i", points, points)

    def search(queries: Matrix, count: int) -> tuple[Matrix, Codes]:
        distance = np.empty((len(queries), count))
        near = np.empty((len(queries), count), dtype=np.intp)
        step = max(1, 2**24 // len(points))
        for low in range(0, len(queries), step):
            block = queries[low : low + step]
            # the square of the query itself orders nothing, but distances need it
            query_squares = np.einsum("ij,ij->i", block, block)[:, None]
            all_squares = squares - 2 * block @ points.T
            some = np.argpartition(all_squares, count - 1, axis=1)[:, :count]
            values = np.take_along_axis(all_squares, some, axis=1)
            order = np.argsort(values, axis=1, kind="stable")
            near[low : low + step] = np.take_along_axis(some, order, axis=1)
            sorted_ = np.take_along_axis(values, order, axis=1) + query_squares
            distance[low : low + step] = np.sqrt(np.maximum(sorted_, 0))
        return distance, near

    return search


@dataclass(frozen=True)
class Nearest:
    """Nearest neighbours with ties included, over distinct outputs.

    All training samples at least as near as the ``k``-th nearest count. Breaking ties by order
    instead costs 0.06 to 0.10 on discrete outputs (Narcissus theory 6.2). Columns are scaled by
    their standard deviation.
    """

    # ``k`` from the number of training samples: "one", "log" (its natural logarithm) or "root" (its
    # square root, at most 64)
    neighbours: str = "one"

    @property
    def name(self) -> str:
        return f"nearest-{self.neighbours}"

    def count(self, size: int) -> int:
        if self.neighbours == "one":
            return 1
        value = math.log(size) if self.neighbours == "log" else math.sqrt(size)
        return max(1, min(round(value), 64, size))

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        assert samples.points is not None
        wide = samples.points.shape[1] > WIDE
        if wide:
            chosen = chosen[:MOST_WIDE]  # in random order already
        seen = np.unique(samples.output[chosen])
        counts = samples.counts(chosen)[seen]
        totals = np.asarray(counts.sum(axis=1)).ravel()
        scale = samples.points[seen].std(axis=0)
        scaled = samples.points / np.where(scale > 0, scale, 1.0)
        search = _by_products(scaled[seen]) if wide else _by_tree(scaled[seen])
        k = self.count(len(chosen))
        # Each distinct output holds one sample at least; a few more for ties at the rim.
        ask = min(len(seen), k + 2 * min(scaled.shape[1], 4))
        common = samples.each(chosen) / len(chosen)

        def scores(outputs: Codes) -> Matrix:
            distance, near = search(scaled[outputs], ask)
            enough = np.cumsum(totals[near], axis=1) >= k
            last = np.where(enough.any(axis=1), enough.argmax(axis=1), ask - 1)
            rim = distance[np.arange(len(outputs)), last]
            inside = distance <= rim[:, None] * (1 + 1e-12)
            ends = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
            picks = sparse.csr_array(
                (np.ones(ends[-1]), near[inside], ends), shape=(len(outputs), len(seen))
            )
            return (picks @ counts).toarray() + 1e-6 * common

        return scores


@dataclass(frozen=True, eq=False)
class Classifier:
    """A user's classifier in scikit-learn's style: ``fit``, and ``predict_proba`` or ``predict``.

    It is copied before each fit and sees the outputs as numbers, shape (samples, columns).
    """

    model: Any
    name: str = "classifier"

    def __post_init__(self) -> None:
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise InputError(
                f"an estimator must have `fit` and `predict` like scikit-learn's, "
                f"{type(self.model).__name__} has not"
            )

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        if samples.points is None:
            raise InputError(
                f"the estimator {self.name!r} needs numeric outputs; encode the others as numbers"
            )
        model = copy.deepcopy(self.model)
        model.fit(*samples.training(chosen))
        size, points = len(samples.names), samples.points

        def scores(outputs: Codes) -> Matrix:
            out = np.zeros((len(outputs), size))
            if hasattr(model, "predict_proba"):
                classes = np.asarray(model.classes_, dtype=np.intp)
                out[:, classes] = model.predict_proba(points[outputs])
            else:
                guess = np.asarray(model.predict(points[outputs]), dtype=np.intp)
                out[np.arange(len(outputs)), guess] = 1.0
            return out

        return scores


@dataclass(frozen=True)
class Forest:
    """Extremely randomised trees (the extra ``learn``)."""

    seed: int = 0
    name: str = "forest"

    def fit(self, samples: Samples, chosen: Codes) -> Scorer:
        ensemble = optional("sklearn.ensemble", extra="learn", purpose="The forest estimator")
        model = ensemble.ExtraTreesClassifier(TREES, min_samples_leaf=3, random_state=self.seed)
        # the first ones are in random order already
        return Classifier(model, self.name).fit(samples, chosen[:MOST_TRAINING])


def forest(seed: int = 0) -> Forest:
    """Return a forest of extremely randomised trees (the extra ``learn``), for many columns."""
    optional("sklearn.ensemble", extra="learn", purpose="The forest estimator")
    return Forest(seed)


NAMED: dict[str, Callable[[], Estimator]] = {
    "forest": forest,
    "frequentist": Frequentist,
    "naive-bayes": NaiveBayes,
    "nearest-log": lambda: Nearest("log"),
    "nearest-one": lambda: Nearest("one"),
    "nearest-root": lambda: Nearest("root"),
    "products": Products,
    "templates": Templates,
    "templates-each": lambda: Templates("each"),
    "templates-shrunk": lambda: Templates("shrunk"),
}
OF_NUMBERS = Nearest | Templates | NaiveBayes | Products | Forest
"""Estimators that need numeric outputs."""


def portfolio(wanted: Any, samples: Samples) -> list[Estimator]:
    """Return the estimators to try: those wanted, or what suits the samples.

    ``wanted`` is None, or names, estimators and classifiers in scikit-learn's style.
    """
    if wanted is None:
        chosen = _suitable(samples)
    else:
        chosen = []
        for estimator in [wanted] if isinstance(wanted, str) or hasattr(wanted, "fit") else wanted:
            if isinstance(estimator, str):
                if estimator not in NAMED:
                    raise InputError(
                        f"`estimators` must be among {', '.join(NAMED)} or a classifier, got "
                        f"{estimator!r}{did_you_mean(estimator, NAMED)}"
                    )
                chosen.append(NAMED[estimator]())
            elif isinstance(estimator, Frequentist | Guess | Classifier | OF_NUMBERS):
                chosen.append(estimator)
            else:
                chosen.append(Classifier(estimator, type(estimator).__name__))
        unfit = [e.name for e in chosen if isinstance(e, OF_NUMBERS)]
        if samples.points is None and unfit:
            raise InputError(
                f"the estimator `{unfit[0]}` needs numeric outputs; encode the others as numbers"
            )
    return [*chosen, Guess()]


def _suitable(samples: Samples) -> list[Estimator]:
    """Return those for means, spreads, shapes and products; what is dear only where it is not.

    By the number of samples, secrets and columns alone: outputs must not decide what judges them.
    """
    chosen: list[Estimator] = [Frequentist()]
    if samples.points is None:
        return chosen
    columns, secrets = samples.points.shape[1], len(samples.names)
    chosen += [Nearest("one"), Nearest("log"), Nearest("root"), Templates()]
    if samples.size * secrets * columns <= MOST_WORK:
        chosen.append(NaiveBayes())
    is_dear = samples.size * secrets * columns**2 > MOST_WORK
    if not is_dear:
        chosen.append(Templates("each"))
    if columns > 1:
        chosen += [] if is_dear else [Templates("shrunk")]
        chosen += [Products()] if columns <= MOST_COLUMNS else []
        if secrets <= MOST_CLASSES and importlib.util.find_spec("sklearn") is not None:
            chosen.append(Forest())
    return chosen
