"""Samples of secret and output, coded once: numbers for secrets, numbers for distinct outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._pandas import pd
from narcissus.errors import InputError
from narcissus.results import Grade, Result

Codes = NDArray[np.intp]
Matrix = NDArray[np.float64]

FEWEST = 10  # Fewest samples of a secret: they are split in parts, and each part needs some
_FEWEST_OF_TWO = 8  # The same of the two commonest secrets, where no two have as many


@dataclass(frozen=True)
class SampledResult(Result):
    """A result that rests on samples of a channel."""

    @property
    def grade(self) -> Grade:
        return "sampled"


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a channel."""

    secret: Codes  # Number of each sample's secret, shape (samples,)
    output: Codes  # Number of each sample's output among the distinct outputs, shape (samples,)
    names: tuple[str, ...]  # Names of the secrets
    # The distinct outputs, shape (distinct, columns), as numbers; None if some are not numeric
    points: Matrix | None
    # Whether outputs repeat so seldom that they say nothing about each other without assumptions:
    # fewer than half of the samples share their output with another
    continuous: bool
    # Secrets with too few samples, and how many each has
    left_out: tuple[tuple[str, int], ...] = ()
    # Number of the secret that each distinct output names, shape (distinct,); None if some name
    # none, or have several columns
    shown: Codes | None = None

    @property
    def size(self) -> int:
        return len(self.secret)

    @property
    def distinct(self) -> int:
        """Number of distinct outputs."""
        return int(self.output.max()) + 1

    def counts(self, chosen: Codes | None = None) -> Any:
        """Return how often each secret had each output, a CSR array (distinct outputs, secrets)."""
        output = self.output if chosen is None else self.output[chosen]
        secret = self.secret if chosen is None else self.secret[chosen]
        shape = (self.distinct, len(self.names))
        made = sparse.csr_array((np.ones(len(output)), (output, secret)), shape=shape)
        made.sum_duplicates()
        return made

    def each(self, chosen: Codes) -> Codes:
        """Return how many of some samples each secret has, shape (secrets,)."""
        return np.bincount(self.secret[chosen], minlength=len(self.names))

    def training(self, chosen: Codes) -> tuple[Matrix, Codes]:
        """Return numeric outputs, shape (samples, columns), and secrets of some samples."""
        assert self.points is not None
        return self.points[self.output[chosen]], self.secret[chosen]


def samples(secrets: Any, outputs: Any, *, fewest: int = FEWEST) -> Samples:
    """Check and code samples.

    secrets: The secret of each sample, shape (samples,), of any type.
    outputs: The output of each sample: shape (samples,) or (samples, columns), an array or data
        frame; rows that are equal are the same output.
    fewest: Fewest samples of a secret; those with fewer are left out, and named in ``left_out``.
        Eight are enough of the two commonest where no two have as many.
    """
    who: pd.Series[Any] = (
        secrets if isinstance(secrets, pd.Series) else pd.Series(np.asarray(secrets).ravel())
    )
    frame = _frame(outputs)
    if len(who) != len(frame):
        raise InputError(f"there are {len(who)} secrets for {len(frame)} outputs")
    if not len(who):
        raise InputError("there are no samples")
    if who.isna().any() or frame.isna().any().any():
        raise InputError("secrets and outputs must not have missing values (NaN)")
    codes, labels = pd.factorize(who.reset_index(drop=True), sort=True)
    names: tuple[str, ...] = tuple([str(label) for label in labels])
    if len(names) < 2:
        raise InputError(
            f"the samples have one secret only ({str(labels[0])!r}): a leakage needs "
            "two to tell apart; take samples of at least two secrets"
        )
    have = np.bincount(codes)
    fewest = min(fewest, max(_FEWEST_OF_TWO, int(np.partition(have, -2)[-2])))
    few = np.flatnonzero(have < fewest)
    if len(have) - len(few) < 2:
        code = few[np.argmin(have[few])]
        others = f" (and {len(few) - 1} more secrets have too few)" if len(few) > 1 else ""
        raise InputError(
            f"the secret {names[code]!r} has {have[code]} samples, fewer than the {fewest} needed"
            f"{others}; collect more of it: two secrets at least must have enough"
        )
    left_out = tuple((names[i], int(have[i])) for i in few)
    if left_out:
        mask = have[codes] >= fewest
        frame = frame[mask].reset_index(drop=True)
        names = tuple(name for name, n in zip(names, have, strict=True) if n >= fewest)
        codes = np.unique(codes[mask], return_inverse=True)[1]
    numeric = all(
        pd.api.types.is_numeric_dtype(t) and not pd.api.types.is_bool_dtype(t) for t in frame.dtypes
    )
    points: Matrix | None = None
    if numeric:
        values = frame.to_numpy(dtype=np.float64)
        if not np.isfinite(values).all():
            name = frame.columns[int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])]
            raise InputError(
                f"outputs must be finite numbers, and column {name!r} has an infinite one: "
                "infinities have no distances; remove these samples, or give words instead"
            )
        output, points = _distinct_points(values)
    else:
        output = np.zeros(len(frame), dtype=np.intp)
        for column in frame.columns:
            extra, levels = pd.factorize(frame[column])
            output = pd.factorize(output * max(1, len(levels)) + extra)[0]
    secret = np.asarray(codes, dtype=np.intp)
    shown = _shown(names, frame, output) if frame.shape[1] == 1 else None
    return Samples(secret, output, names, points, hardly_repeat(output), left_out, shown)


def restricted(data: Samples, secrets: Codes) -> Samples:
    """Return the samples of some secrets only.

    secrets: their numbers, in rising order.
    """
    place = np.full(len(data.names), -1, dtype=np.intp)
    place[secrets] = np.arange(len(secrets))
    mine = place[data.secret] >= 0
    codes, output = np.unique(data.output[mine], return_inverse=True)
    points = None if data.points is None else data.points[codes]
    names = tuple([data.names[number] for number in secrets])
    return Samples(place[data.secret[mine]], output.ravel(), names, points, data.continuous)


def _shown(names: tuple[str, ...], frame: pd.DataFrame, output: Codes) -> Codes | None:
    """Return the number of the secret that each distinct output is."""
    values = frame.iloc[:, 0].to_numpy()[np.unique(output, return_index=True)[1]]
    labels: Any = names
    if np.issubdtype(values.dtype, np.number):
        try:
            labels = [float(name) for name in names]
        except ValueError:
            return None
    else:
        values = values.astype(str)
    if len(set(labels)) < len(names):
        return None
    place = np.asarray(pd.Index(labels).get_indexer(pd.Index(values)), dtype=np.intp)
    return None if (place < 0).any() else place


def hardly_repeat(output: Codes) -> bool:
    """Return whether fewer than half of the samples share their output with another."""
    return float((np.bincount(output)[output] > 1).mean()) < 0.5


def _frame(outputs: Any) -> pd.DataFrame:
    if isinstance(outputs, pd.DataFrame):
        frame = outputs.reset_index(drop=True)
    elif isinstance(outputs, pd.Series):
        frame = outputs.reset_index(drop=True).to_frame()
    else:
        array = np.asarray(outputs)
        if array.ndim not in (1, 2):
            raise InputError(f"`outputs` must have one or two dimensions, got {array.ndim}")
        frame = pd.DataFrame(array.reshape(len(array), -1 if array.size else 1))
    if frame.shape[1] == 0:
        raise InputError("`outputs` has no columns")
    return frame


def _distinct_points(values: Matrix) -> tuple[Codes, Matrix]:
    if values.shape[1] == 1:
        codes, levels = pd.factorize(values[:, 0])
        return np.asarray(codes, dtype=np.intp), np.asarray(levels, dtype=np.float64)[:, None]
    output = np.zeros(len(values), dtype=np.intp)
    for column in values.T:
        extra, levels = pd.factorize(column)
        output = pd.factorize(output * len(levels) + extra)[0]
    first = np.unique(output, return_index=True)[1]
    return np.asarray(output, dtype=np.intp), values[first]
