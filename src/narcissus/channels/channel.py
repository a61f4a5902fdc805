"""Channels: the probability of each output for each secret, checked once and then trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus._pandas import is_frame, pd
from narcissus._validation import distribution, non_negative
from narcissus.errors import InputError

Matrix = NDArray[np.float64]

ROW_SUM_TOLERANCE = 1e-9
"""How far a row may be from summing to one; nothing is renormalised."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A channel: ``matrix[s, o]`` is the probability of output ``o`` when the secret is ``s``.

    Made by `channel`, which checks what it is given; rows are secrets.

    Attributes
    ----------
    matrix
        Shape (secrets, outputs), float64; a NumPy array, or a SciPy CSR array.
    secrets, outputs
        Their names, all different.
    """

    matrix: Any
    secrets: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of secrets and of outputs."""
        return len(self.secrets), len(self.outputs)

    @property
    def is_sparse(self) -> bool:
        """Return whether the matrix is kept sparse."""
        return not isinstance(self.matrix, np.ndarray)

    @cached_property
    def dense(self) -> Matrix:
        """The matrix as a NumPy array."""
        return self.matrix.toarray() if self.is_sparse else self.matrix

    def row(self, secret: int) -> Matrix:
        """Return the output distribution of the secret with this number, shape (outputs,)."""
        if self.is_sparse:
            return self.matrix[[secret]].toarray()[0]
        return self.matrix[secret]

    def column_max(self) -> Matrix:
        """Return the largest entry of each column, shape (outputs,)."""
        if self.is_sparse:
            return self.matrix.max(axis=0).toarray().ravel()
        return self.matrix.max(axis=0)

    def column_min(self) -> Matrix:
        """Return the smallest entry of each column, shape (outputs,)."""
        if self.is_sparse:
            return self.matrix.min(axis=0).toarray().ravel()
        return self.matrix.min(axis=0)

    def scaled(self, weights: Matrix) -> Any:
        """Return the matrix with each row multiplied by its weight (the joint distribution)."""
        if self.is_sparse:
            return (sparse.diags_array(weights) @ self.matrix).tocsr()
        return self.matrix * weights[:, None]

    def rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> Channel:
        """Return the channel restricted to some secrets, by number."""
        return Channel(self.matrix[chosen], tuple(self.secrets[i] for i in chosen), self.outputs)

    def pair_names(self, pair: tuple[int, int]) -> tuple[str, str]:
        """Return the names of two secrets."""
        return self.secrets[pair[0]], self.secrets[pair[1]]

    def to_frame(self) -> pd.DataFrame:
        """Return the matrix as a data frame, secrets as its index."""
        return pd.DataFrame(self.dense, index=list(self.secrets), columns=list(self.outputs))

    def __repr__(self) -> str:
        kind = ", sparse" if self.is_sparse else ""
        return f"Channel({len(self.secrets)} secrets, {len(self.outputs)} outputs{kind})"


@dataclass(frozen=True)
class ClosedForm:
    """What every mechanism in closed form offers."""

    by_matrix = False  # no field: whether its numbers come from its channel

    @property
    def secrets(self) -> int:
        """Number of secrets."""
        raise NotImplementedError

    @property
    def beta_star(self) -> float:
        """Bayes security."""
        raise NotImplementedError

    @property
    def indices(self) -> tuple[int, ...]:
        """Two secrets that reach it, by number from 0 (all pairs do in a symmetric mechanism)."""
        return 0, self.secrets - 1

    @property
    def pair(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(str(number + 1) for number in self.indices)

    @property
    def capacity(self) -> float:
        """Multiplicative capacity, ``sum_o max_s C_so``."""
        raise NotImplementedError

    @property
    def local_epsilon(self) -> float:
        """Smallest epsilon of epsilon-LDP; ``inf`` if there is none."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta at ``epsilon`` (the LDP profile)."""
        raise NotImplementedError

    @property
    def guessing_error(self) -> float:
        """Error of guessing without the output, uniform prior."""
        return 1 - 1 / self.secrets

    @property
    def bayes_risk(self) -> float:
        """Error of the best attacker, uniform prior; never as what is left of 1."""
        raise NotImplementedError

    def channel(self) -> Channel:
        """Return the channel, where the outputs are finitely many and fit.

        Raises
        ------
        InputError
            The outputs are continuous or infinitely many.
        TooLargeError
            The matrix would be too large; the message says how large.
        """
        raise InputError(
            f"{type(self).__name__} has continuous or infinitely many outputs, so no matrix; "
            "use its closed form, `repeated_security` for several outputs, or the geometric "
            "mechanism for a discrete one"
        )


def formula_of(matrix: Any) -> ClosedForm | None:
    """Return a mechanism whose numbers come from formulas; None for what goes by its matrix."""
    return matrix if isinstance(matrix, ClosedForm) and not matrix.by_matrix else None


def channel(
    matrix: Any,
    *,
    secrets: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    tolerance: float = ROW_SUM_TOLERANCE,
) -> Channel:
    """Make a channel from a matrix, and check it.

    Parameters
    ----------
    matrix
        Shape (secrets, outputs): an array, nested lists, a SciPy sparse matrix, a data frame
        (whose index and columns name secrets and outputs), a `Channel`, or what has one: a
        `ClosedForm`, a `RationalChannel`, a `Design`. Entries in [0, 1], each row summing to one
        within ``tolerance``.
    secrets, outputs
        Names; by default those of the data frame, or ``"s1", "s2", ...`` and ``"o1", ...``.
    tolerance
        Largest deviation of a row sum from one. Rows are taken as they are, never renormalised.

    Raises
    ------
    InputError
        Not a matrix, NaN, entries outside [0, 1], rows that do not sum
        to one (the first is named, with its sum), or names that are missing or repeated.

    Examples
    --------
    >>> channel([[0.75, 0.25], [0.25, 0.75]], secrets=["no", "yes"])
    Channel(2 secrets, 2 outputs)
    """
    own = getattr(matrix, "channel", None)
    if callable(own):
        own = own()
    if isinstance(own, Channel):
        matrix = own
    if isinstance(matrix, Channel):
        return matrix
    non_negative("tolerance", tolerance)
    if is_frame(matrix):
        secrets = list(matrix.index) if secrets is None else secrets
        outputs = list(matrix.columns) if outputs is None else outputs
        matrix = matrix.to_numpy()
    if sparse.issparse(matrix):
        values: Any = sparse.csr_array(cast(Any, matrix), dtype=np.float64)
        values.sum_duplicates()
        entries: Matrix = values.data
    else:
        try:
            values = np.ascontiguousarray(matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"`matrix` must be a matrix of numbers: {error}") from error
        entries = values
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"`matrix` must have a row per secret, a column per output; got shape {values.shape}"
        )
    n, m = values.shape
    secret_names = names_of("secrets", secrets, n, "s")
    output_names = names_of("outputs", outputs, m, "o")
    # NaN makes both comparisons false, so it is caught here too.
    if not (float(entries.min(initial=0)) >= 0 and float(entries.max(initial=0)) <= 1):
        _refuse_entry(values, secret_names, output_names)
    sums = np.asarray(values.sum(axis=1)).ravel()
    bad = np.flatnonzero(~(np.abs(sums - 1) <= tolerance))
    if bad.size:
        worst = int(bad[0])
        more = f" ({bad.size} rows in all)" if bad.size > 1 else ""
        raise InputError(
            f"row {worst + 1} (secret {secret_names[worst]!r}) sums to {sums[worst]:.12g}, off by "
            f"{sums[worst] - 1:+.3g}{more}; each row must sum to 1 within {tolerance:g}: "
            "correct the file, nothing is renormalised silently"
        )
    return Channel(values, secret_names, output_names)


def same_secrets(which: str, first: tuple[str, ...], second: tuple[str, ...]) -> None:
    """Refuse two channels with other secrets, or the same in another order."""
    if first == second:
        return
    what = f"{len(first)} and {len(second)} secrets"
    if len(first) == len(second):
        a, b = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
        what = f"{a!r} in one stands where {b!r} does in the other"
    raise InputError(f"channels {which} must have the same secrets in the same order: {what}")


def _refuse_entry(values: Any, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    """Name the first entry that is not a probability."""
    if sparse.issparse(values):
        coordinates: Any = cast(Any, values).tocoo()
        wrong = int(np.flatnonzero(~((coordinates.data >= 0) & (coordinates.data <= 1)))[0])
        s, o = int(coordinates.coords[0][wrong]), int(coordinates.coords[1][wrong])
        value = float(coordinates.data[wrong])
    else:
        s, o = (int(i) for i in np.argwhere(~((values >= 0) & (values <= 1)))[0])
        value = float(values[s, o])
    what = "is missing (NaN)" if math.isnan(value) else f"is {value!r}"
    raise InputError(
        f"the entry in row {s + 1} (secret {secrets[s]!r}), column {o + 1} "
        f"(output {outputs[o]!r}) {what}; probabilities must be in [0, 1]"
    )


def names_of(what: str, names: Iterable[Any] | None, size: int, letter: str) -> tuple[str, ...]:
    """Return ``size`` different names as strings.
    Raises InputError: another number of names, or one that stands there twice.
    """
    if names is None:
        return tuple(f"{letter}{i + 1}" for i in range(size))
    texts = tuple(str(name) for name in names)
    if len(texts) != size:
        raise InputError(f"`{what}` must name all {size} {what}, got {len(texts)} names")
    if len(set(texts)) != size:
        seen: set[str] = set()
        twice = next(t for t in texts if t in seen or seen.add(t))
        raise InputError(f"`{what}` must have different names; {twice!r} stands there twice")
    return texts


def prior_for(
    channel: Channel, prior: ArrayLike | pd.Series[float] | dict[str, float] | None
) -> Matrix:
    """Return a prior over the secrets of a channel, checked; None means uniform.

    Parameters
    ----------
    channel
        The channel.
    prior
        A probability per secret, shape (secrets,), in the channel's order; or a series or a dict
        from the secrets' names. It must sum to one within 1e-9.

    Raises
    ------
    InputError
        Wrong length, unknown or missing secrets, entries outside [0, 1], or a sum other than one.
    """
    n = channel.shape[0]
    if prior is None:
        return np.full(n, 1 / n)
    if isinstance(prior, pd.Series):
        if prior.index.has_duplicates:
            twice = prior.index[prior.index.duplicated()][0]
            raise InputError(f"`prior` names the secret {str(twice)!r} twice")
        prior = {str(k): float(v) for k, v in prior.items()}
    if isinstance(prior, dict):
        missing = [s for s in channel.secrets if s not in prior]
        unknown = sorted(set(prior) - set(channel.secrets))
        if missing or unknown:
            say = f"has no probability for the secret {missing[0]!r}" if missing else ""
            say += " and " if missing and unknown else ""
            say += f"names {unknown[0]!r}, which is no secret of the channel" if unknown else ""
            raise InputError(f"`prior` {say}")
        prior = [prior[s] for s in channel.secrets]
    values = distribution("prior", cast(ArrayLike, prior))
    if values.size != n:
        raise InputError(f"`prior` must have an entry for each of {n} secrets, got {values.size}")
    return values


def require_two(prior: Matrix, secrets: Sequence[str]) -> None:
    """Refuse a prior with all mass on one secret, where ``beta(pi, C)`` is 0/0."""
    top = int(np.argmax(prior))
    if prior.size - np.count_nonzero(prior) == prior.size - 1:
        raise InputError(
            f"`prior` puts all mass on one secret ({secrets[top]!r}): there is nothing left to "
            "guess, and Bayes security is undefined; give two secrets at least a positive mass"
        )
