"""A blind baseline: can members be told from others without the model?

A classifier sees the points (table rows, texts, images) and never the model. Where it tells members
from others, because these are of other dates or another source, an attack on the model may do no
more than that: no number about membership means anything then.

Source: Das, Zhang and Tramer 2024, "Blind baselines beat membership inference attacks for
foundation models".
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from narcissus._arrays import Floats
from narcissus._files import open_text, parsing
from narcissus._pandas import is_frame, pd
from narcissus._random import RandomSource, generator
from narcissus._validation import fraction
from narcissus.errors import InputError
from narcissus.extraction.files import arrays_of
from narcissus.membership.shadows import ShadowScores, read_table
from narcissus.rows import Fact, Level, Positive, Share

IntArray = NDArray[np.intp]

_FOLDS = 5
FEWEST = 20  # points below which no classifier is cross-fitted
_MOST_POINTS = 10_000  # a random part of more is tested
_WORK = 4e7  # points times relabellings
_MOST_LABELS = 4  # models whose members are looked for
_NO_POINTS = "`points` must be a table, texts or an array of numbers"
_WORDS = 1024  # the most words that are looked at
_COLUMNS = 100  # the most columns of numbers that are looked at one by one
_CLOSE = 1e-9  # spread of scores that is rounding
_SHRUNK = 3.0  # standard errors that a feature must differ by
_BINS = 8
_CHARACTERS = 4000  # of a text that are read
_LEAST_DRAWN = 200  # relabellings, at least
_ENOUGH = 20  # relabellings that do as well: then no more are tried (Besag and Clifford 1991)
_PIECES = re.compile(r"\w{1,12}|[^\w\s]")
MEMBERS, OUTSIDERS = "members and non-members", "records with a coin and outsiders"


class BlindBaseline(Fact):
    """How well points alone tell members from others, by an exact test."""

    compared: str = Field(description="Who is told from whom.")
    auc: Share = Field(description="By classifiers that saw neither the model nor the label.")
    p_value: Share = Field(description="Under labels that are dealt to points at random.")
    level: Level = Field(description="Error of the test.")
    points: Positive = Field(description="Points that were tested, or clusters of them.")

    @property
    def told(self) -> bool:
        """Whether the points alone tell them apart, beyond chance: claims are void."""
        return self.p_value <= self.level

    @property
    def spares_refutation(self) -> bool:
        """Whether what is refuted still holds: it compares records with a coin, never outsiders."""
        return not self.told or self.compared == OUTSIDERS

    def __str__(self) -> str:
        by = f"area under the ROC {self.auc:.3f}, p-value {self.p_value:.2g}"
        if not self.told:
            return f"Without the model, nothing tells {self.compared} apart ({by})."
        subject = "rates" if self.spares_refutation else "numbers"
        return (
            f"Void: a classifier that never saw the model tells {self.compared} apart ({by}). "
            f"An attack may do the same. Its {subject} prove nothing about the model."
        )


def blind_baseline(
    points: Any,
    labels: ArrayLike,
    *,
    level: float = 0.05,
    clusters: IntArray | None = None,
    strata: ArrayLike | None = None,
    compared: str = MEMBERS,
    rng: RandomSource = None,
) -> BlindBaseline:
    """Test whether a classifier that never sees the model tells members from others.

    points: a data frame, texts, or an array whose first axis counts points.
    labels: 0 or 1 for each point, shape (points,) or (points, models); for each cluster where there
        are some. At most four models are looked at.
    level: error of the test, in (0, 1).
    clusters: number of the cluster of each point, shape (points,), from 0 on: a cluster is labelled
        whole, and counts once.
    strata: only points alike in this, shape of a label, could have each other's labels.

    Ridge regression on simple features (words, bins of numbers, summaries of pixels), cross-fitted:
    each point is scored by a classifier that never saw its label. The test refits it to labels that
    are dealt anew, so that its error is exact where chance gave points their labels.

    >>> years = np.r_[np.full(100, 2020.0), np.full(100, 2024.0)][:, None]
    >>> blind_baseline(years, np.arange(200) < 100, rng=1).told
    True
    >>> blind_baseline(years, np.arange(200) % 2, rng=1).told
    False
    """
    _require_several(points)
    error, random, wanted = fraction("level", level), generator(rng), np.asarray(labels)
    kinds = np.zeros(len(wanted)) if strata is None else np.asarray(strata)
    if clusters is not None:
        features = _of_clusters(features_of(points), clusters)
    elif len(points) == len(wanted) == len(kinds):
        chosen = _chosen(len(points), random)
        features, wanted, kinds = features_of(_some(points, chosen)), wanted[chosen], kinds[chosen]
    else:
        raise InputError(
            f"`labels` must say 0 or 1 of each of {len(points):,} points, got {len(wanted):,}"
        )
    return _tested(features, wanted, error, kinds, compared, random)


def blind_baselines(
    data: ShadowScores,
    points: Any,
    targets: Sequence[int],
    *,
    level: float = 0.05,
    outsiders: bool = False,
    rng: RandomSource = None,
) -> tuple[BlindBaseline, ...]:
    """Test whether members of some models are told from other records without any model.

    points: one for each record of the file, as in `blind_baseline`.
    targets: numbers of the models under attack.
    outsiders: whether outsiders are compared with records that have a coin as well, as where the
        false-positive rate is theirs.
    level: error of all tests together.
    Raises InputError: the points are not as many as the records.
    """
    _require_several(points)
    random = generator(rng)
    records = data.priors.size if data.place is None else data.place.size
    if len(points) != records:
        raise InputError(
            f"`points` must hold one for each of {records:,} records that have scores, in their "
            f"order; got {len(points):,}"
        )
    if data.place is not None:
        features = _of_clusters(features_of(points), data.place)
    else:
        chosen = _chosen(records, random)
        features = features_of(_some(points, chosen))
        data = replace(data, members=data.members[:, chosen], priors=data.priors[chosen])
    open_ = (data.priors > 0) & (data.priors < 1)
    has_outsiders = outsiders and data.outsiders.any() and not data.outsiders.all()
    each = fraction("level", level) / (1 + has_outsiders)
    inside = data.members[list(targets)][:, open_].T
    baseline = _tested(features[open_], inside, each, data.priors[open_], MEMBERS, random)
    if not has_outsiders:
        return (baseline,)
    return baseline, _tested(features, ~data.outsiders, each, 0 * data.priors, OUTSIDERS, random)


def _chosen(count: int, random: np.random.Generator) -> IntArray:
    """Draw which points are tested, of more than are."""
    if count <= _MOST_POINTS:
        return np.arange(count)
    return np.sort(random.choice(count, _MOST_POINTS, replace=False))


def _require_several(points: Any) -> None:
    """Refuse a single number or text, which has no points to count."""
    if isinstance(points, str | bytes) or getattr(points, "ndim", 1) == 0:
        raise InputError(_NO_POINTS)


def _some(points: Any, chosen: IntArray) -> Any:
    if is_frame(points):
        return points.iloc[chosen]
    return points[chosen] if isinstance(points, np.ndarray) else [points[k] for k in chosen]


def _of_clusters(features: Floats, place: IntArray) -> Floats:
    if place.shape != features.shape[:1]:
        raise InputError(f"`clusters` must be of {len(features):,} points, got {place.size:,}")
    sums = np.zeros((int(place.max()) + 1, features.shape[1]))
    np.add.at(sums, place, features)
    return sums / np.bincount(place)[:, None]


def _tested(
    found: Floats,
    labels: ArrayLike,
    error: float,
    strata: NDArray[Any],
    compared: str,
    random: np.random.Generator,
) -> BlindBaseline:
    wanted = np.asarray(labels, dtype=np.float64)
    wanted = wanted.reshape(len(wanted), -1)[:, :_MOST_LABELS]
    if len(found) != len(wanted) or not np.isin(wanted, (0.0, 1.0)).all():
        raise InputError(
            f"`labels` must say 0 or 1 of each of {len(found):,} points, got {len(wanted):,}"
        )
    drawn = min(max(_LEAST_DRAWN, math.ceil(4 / error)), 100_000)
    kinds = np.unique(strata, return_inverse=True)[1].ravel()
    limit = int(min(_MOST_POINTS, _WORK / drawn / wanted.shape[1]))
    if len(found) > limit:
        part = random.choice(len(found), limit, replace=False)
        found, wanted, kinds = found[part], wanted[part], kinds[part]
    if len(found) < FEWEST or (wanted.min(axis=0) == wanted.max(axis=0)).any():
        raise InputError(
            f"a blind baseline needs {FEWEST} points or more, with members and others among them; "
            f"got {int(wanted.min(axis=1).sum()):,} members among {len(wanted):,}"
        )
    fitted = _Folds(found, random.permutation(len(found)) % _FOLDS)
    means = np.stack([np.bincount(kinds, column) for column in wanted.T]) / np.bincount(kinds)
    centred = wanted - means.T[kinds]
    scores = fitted.scores(centred)
    p_value = _p_value(fitted, centred, scores, kinds, drawn, random)
    area = np.mean(
        [
            _area(column_scores, column == 1)
            for column_scores, column in zip(scores.T, wanted.T, strict=True)
        ]
    )
    return BlindBaseline(
        compared=compared, auc=float(area), p_value=p_value, level=error, points=len(found)
    )


class _Folds:
    """Classifiers, each fitted to all folds but one.

    Ridge regression finds many weak signs, a shrunken centroid (Tibshirani et al. 2002) few strong
    ones: a score is the sum of both, each in standard deviations.
    """

    def __init__(self, features: Floats, fold: IntArray) -> None:
        self.parts = [
            (fold == k, features[fold == k], _ridge(features[fold == k], features[fold != k]))
            for k in range(_FOLDS)
        ]

    def scores(self, labels: Floats) -> Floats:
        """Return the scores of all points, of the shape of ``labels``, (points, columns)."""
        sums = [features.T @ labels[who] for who, features, _ in self.parts]
        whole, totals = sum(sums), np.empty_like(labels)
        spread = np.sqrt((labels**2).sum(axis=0) * (1 - 1 / _FOLDS)).clip(1e-300)
        for (who, features, ridge), mine in zip(self.parts, sums, strict=True):
            signs = (whole - mine) / spread
            few = np.sign(signs) * np.maximum(np.abs(signs) - _SHRUNK, 0.0)
            centred = [
                prediction - prediction.mean(axis=0)
                for prediction in (ridge @ signs, features @ few)
            ]
            totals[who] = sum(
                prediction / (prediction.std(axis=0) + _CLOSE) for prediction in centred
            )
        return totals


def _ridge(points: Floats, others: Floats) -> Floats:
    """Return what turns sums of features by label, of others, into scores of points."""
    count, size = others.shape
    penalty = float(count + size)
    if count < size:  # the same by Woodbury's identity
        inner = np.linalg.solve(others @ others.T + penalty * np.eye(count), others)
        return (points - (points @ others.T) @ inner) / penalty
    solution = np.linalg.solve(others.T @ others + penalty * np.eye(size), points.T)
    return np.asarray(solution.T, dtype=np.float64)


def _p_value(
    fitted: _Folds,
    labels: Floats,
    scores: Floats,
    kinds: IntArray,
    most: int,
    random: np.random.Generator,
) -> float:
    """Relabel points at random within their stratum, refit, and count what does as well."""
    count, models = labels.shape
    reached = float((labels * scores).sum())
    reached -= 1e-9 * abs(reached)  # rounding makes no relabelling worse
    order = np.argsort(kinds, kind="stable")
    better = tried = 0
    while tried < most:
        size = min(128, most - tried)
        dealt = np.empty((count, size, models))
        for place in range(size):
            shuffled = order[np.lexsort((random.random(count), kinds[order]))]
            dealt[order, place] = labels[shuffled]
        again = fitted.scores(dealt.reshape(count, -1)).reshape(dealt.shape)
        for is_better in (dealt * again).sum(axis=(0, 2)) >= reached:
            better, tried = better + int(is_better), tried + 1
            if better == _ENOUGH:
                return better / tried
    return (better + 1) / (most + 1)


def _area(scores: Floats, inside: NDArray[np.bool_]) -> float:
    ranks = scipy.stats.rankdata(scores)
    count = int(inside.sum())
    return float((ranks[inside].sum() - count * (count + 1) / 2) / (count * (inside.size - count)))


def read_points(path: Path | str, data: ShadowScores) -> Any:
    """Read the points that scores are about: what `blind_baselines` takes.

    path: a table (CSV or Parquet) with a row for each record and any columns, whose column
        ``record`` names them where the scores are a table as well; the array ``points``, or the
        only one, of a file of arrays, whose first axis counts records; or ``.txt``, a line each.
    Raises InputError: a record has no row, or two.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind in {".npy", ".npz", ".safetensors"}:
        arrays = arrays_of(path)
        if len(arrays) > 1 and "points" not in arrays:
            raise InputError(f"{path} lacks the array `points`; it has {', '.join(arrays)}")
        return np.atleast_1d(arrays.get("points", next(iter(arrays.values()))))
    if kind == ".txt":
        with parsing(path, "text"), open_text(path) as file:
            return file.read().splitlines()
    table = read_table(path)
    if "record" not in table.columns:
        return table
    named = table.set_index(table["record"].astype(str)).drop(columns="record")
    wanted = named.index if data.names is None else pd.Index(data.names)
    if (wrong := named.index[named.index.duplicated()].union(wanted.difference(named.index))).size:
        raise InputError(f"{path} must have one row for each record that has scores, as {wrong[0]}")
    return named.loc[wanted]


def features_of(points: Any) -> Floats:
    """Describe points by simple features, shape (points, features), standardised; no label is used.
    Raises InputError: they are no table, texts or numbers, or a number is not finite.
    """
    if is_frame(points):
        numeric = [name for name in points.columns if points[name].dtype.kind in "biuf"]
        numbers = points[numeric].to_numpy(dtype=np.float64, na_value=np.nan)
        texts = points.drop(columns=numeric).astype(str)
        cells = [
            {f"{name}={cell}" for name, cell in zip(texts.columns, row, strict=True)}
            | _pieces(" ".join(row))
            for row in texts.itertuples(index=False, name=None)
        ]
        parts = [_bins(numbers, numeric), _words(cells)]
    elif isinstance(points, np.ndarray) and points.dtype.kind in "biuf":
        flat = points.reshape(len(points), -1).astype(np.float64)
        if np.isnan(flat).any():
            point, place = np.argwhere(np.isnan(flat))[0]
            raise InputError(f"`points` must hold no NaN, as number {place} of point {point} is")
        parts = [_bins(flat, range(flat.shape[1]))]
    elif all(isinstance(text, str) for text in points):
        sizes = np.array([(len(text), len(set(text))) for text in points], dtype=np.float64)
        parts = [_bins(sizes.reshape(-1, 2), ("length", "signs")), _words([*map(_pieces, points)])]
    else:
        raise InputError(_NO_POINTS)
    features = np.hstack(parts)
    spread = features.std(axis=0)
    features = features[:, spread > 0]
    return ((features - features.mean(axis=0)) / spread[spread > 0]).clip(-8, 8)


def _words(texts: Sequence[set[str]]) -> Floats:
    """Mark which of the words that most texts hold, but not all, each one holds."""
    counts = Counter(word for words in texts for word in words)
    frequencies = [(-count, word) for word, count in counts.items() if 1 < count < len(texts)]
    columns = {word: place for place, (_, word) in enumerate(heapq.nsmallest(_WORDS, frequencies))}
    matrix = np.zeros((len(texts), len(columns)))
    for row, words in zip(matrix, texts, strict=True):
        row[[columns[word] for word in words & columns.keys()]] = 1.0
    return matrix


def _pieces(text: str) -> set[str]:
    return set(_PIECES.findall(text[:_CHARACTERS].lower()))


def _bins(numbers: Floats, names: Sequence[Any] | range) -> Floats:
    """Describe numbers by their rank and by which of some bins they are in; empty cells apart.

    More than a hundred columns, as of pixels, are first summed up and projected at random.
    """
    if np.isinf(numbers).any():
        point, place = np.argwhere(np.isinf(numbers))[0]
        raise InputError(f"`points` must be finite, unlike {names[place]} of point {point}")
    empty = np.isnan(numbers)
    if numbers.shape[1] > _COLUMNS:
        known = np.where(empty, 0.0, numbers)
        steps, ends = np.abs(np.diff(known, axis=1)), np.quantile(known, (0, 0.25, 0.5, 0.75, 1), 1)
        summary = [known.mean(axis=1), known.std(axis=1), steps.mean(axis=1), *ends]
        ways = np.random.default_rng(0).normal(size=(known.shape[1], _COLUMNS - len(summary)))
        numbers = np.column_stack([*summary, known @ (ways / math.sqrt(known.shape[1]))])
        empty = empty.any(axis=1, keepdims=True)
    columns = [empty.astype(np.float64)]
    for column in numbers.T:
        known = np.isfinite(column)
        rank = np.full(len(column), 0.5)
        if known.any():
            rank[known] = (scipy.stats.rankdata(column[known]) - 0.5) / known.sum()
        inside = np.minimum((rank * _BINS).astype(int), _BINS - 1)
        columns += [rank[:, None], (inside[:, None] == np.arange(_BINS)) & known[:, None]]
    return np.hstack(columns)
