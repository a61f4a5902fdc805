"""Synthetic rows from a Gaussian copula: every column's frequencies, and how columns rank together.

Source: Nelsen 2006, chapter 3.1, for the family; Patki, Wedge and Veeramachaneni 2016 (the
Synthetic Data Vault) for this use of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from narcissus.mechanisms.marginals import Codes, Floats
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True)
class GaussianCopula(TableMechanism):
    """Rows sampled anew from a Gaussian copula that was fitted to the people.

    Each value becomes the normal score of the middle of its ranks; the correlations of the scores
    are those of the copula, and each column keeps its frequencies. Values of a column without
    order are ranked by how frequent they are, the most frequent first (of equally frequent ones
    the earlier label): a different ranking would keep other dependences. Nothing is guaranteed.
    """

    @property
    def label(self) -> str:
        """How the rows are made."""
        return "copula"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return "Rows of a Gaussian copula"

    def prepare(self, columns: Columns) -> PreparedRows:
        """Fit the columns of any table."""
        return PreparedRows.of(columns, _Sampler(columns.sizes, columns.ordered))


@dataclass(frozen=True)
class _Sampler:
    """Makes rows of rows."""

    # sizes, ordered: Of each column, as in `Columns`
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Fit the copula, and sample as many rows from it."""
        n, d = codes.shape
        margins = [self._margin(codes[:, c], c) for c in range(d)]
        scores = np.stack([normal[codes[:, c]] for c, (_, _, normal) in enumerate(margins)], axis=1)
        normals = rng.standard_normal((n, d)) @ _root(scores)
        ranks = special.ndtr(normals)
        return np.stack(
            [
                values[np.minimum(np.searchsorted(ends, ranks[:, c], "right"), len(values) - 1)]
                for c, (values, ends, _) in enumerate(margins)
            ],
            axis=1,
        )

    def _margin(self, column: Codes, c: int) -> tuple[Codes, Floats, Floats]:
        """Return the values that occur in their ranking, where each ends, and scores by value."""
        counts = np.bincount(column, minlength=self.sizes[c])
        ranking = np.arange(len(counts)) if self.ordered[c] else np.argsort(-counts, kind="stable")
        ranking = ranking[counts[ranking] > 0]
        shares = counts[ranking] / counts.sum()
        ends = np.cumsum(shares)
        scores = np.zeros(len(counts))
        scores[ranking] = special.ndtri(ends - shares / 2)
        return ranking.astype(np.int32), ends, scores


def _root(scores: Floats) -> Floats:
    """Get a square root of the scores' correlations, shape (d, d); a constant column has none."""
    centred = scores - scores.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > 1e-12 * np.sqrt(len(scores))
    unit = np.where(varies, centred / np.where(varies, lengths, 1.0), 0.0)
    correlations = unit.T @ unit
    np.fill_diagonal(correlations, 1.0)
    values, vectors = np.linalg.eigh(correlations)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
