"""Channels: the probability of each output for each secret, checked once, in floats or fractions.

Also their hyper-distributions: an attacker's posteriors, and how likely each is.
Source: Alvim et al. 2020, chapter 4.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus._arrays import Floats
from narcissus._pandas import is_frame, pd
from narcissus._validation import (
    distribution,
    kept,
    non_negative,
    refuse_lossy,
)
from narcissus._visible import cell
from narcissus.errors import InputError, TooLargeError
from narcissus.results import Grade, Result

AS_WRITTEN = "the release draws with these very chances, also as a computer rounds its noise"
"""What must hold of a program for a channel's numbers to be about it."""

Matrix = NDArray[np.float64]

if TYPE_CHECKING:

    class HasChannel(Protocol):
        """What has a channel: a `ClosedForm`, a `RationalChannel`, a `Design`."""

        def channel(self) -> Channel: ...

    ChannelLike: TypeAlias = "Channel | HasChannel | ArrayLike | pd.DataFrame | sparse.sparray"
    PriorLike: TypeAlias = "ArrayLike | pd.Series[float] | Mapping[str, float]"

ROW_SUM_TOLERANCE = 1e-9  # How far a row may be from summing to one; nothing is renormalised


@dataclass(frozen=True)
class ProvedResult(Result):
    """A result that follows from a known channel or guarantee, without sampling."""

    @property
    def grade(self) -> Grade:
        return "proved"


@dataclass(frozen=True, eq=False)
class Channel:
    """A channel: ``matrix[s, o]`` is the probability of output ``o`` when the secret is ``s``.

    Made by `channel`, which checks what it is given; rows are secrets.
    """

    matrix: Any  # Shape (secrets, outputs), float64; a NumPy array, or a SciPy CSR array
    secrets: tuple[str, ...]
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", kept(self.matrix))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.secrets), len(self.outputs)

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    @cached_property
    def dense(self) -> Matrix:
        """The matrix as a NumPy array."""
        return self.matrix.toarray() if self.is_sparse else self.matrix

    def row(self, secret: int) -> Matrix:
        """Return the output distribution of the secret with this number, shape (outputs,)."""
        return self.matrix[[secret]].toarray()[0] if self.is_sparse else self.matrix[secret]

    def column_max(self) -> Matrix:
        """Return the largest entry of each column, shape (outputs,)."""
        top = self.matrix.max(axis=0)
        return top.toarray().ravel() if self.is_sparse else top

    def column_min(self) -> Matrix:
        """Return the smallest entry of each column, shape (outputs,)."""
        minima = self.matrix.min(axis=0)
        return minima.toarray().ravel() if self.is_sparse else minima

    def scaled(self, weights: Matrix) -> Any:
        """Return the matrix with each row multiplied by its weight (the joint distribution)."""
        if self.is_sparse:
            return (sparse.diags_array(weights) @ self.matrix).tocsr()
        return self.matrix * weights[:, None]

    def rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> Channel:
        """Return the channel restricted to some secrets, by number."""
        return Channel(self.matrix[chosen], tuple(self.secrets[i] for i in chosen), self.outputs)

    def pair_names(self, pair: tuple[int, int]) -> tuple[str, str]:
        return self.secrets[pair[0]], self.secrets[pair[1]]

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.dense, index=list(self.secrets), columns=list(self.outputs))

    def __repr__(self) -> str:
        kind = ", sparse" if self.is_sparse else ""
        return f"Channel({len(self.secrets)} secrets, {len(self.outputs)} outputs{kind})"


def check_names(option: str, given: Iterable[str], secrets: Sequence[str], thing: str) -> None:
    """Refuse an option that does not name each secret of a channel and no other."""
    missing = [s for s in secrets if s not in given]
    unknown = sorted(set(given) - set(secrets))
    wrong = [f"has no {thing} for the secret {missing[0]!r}"] if missing else []
    wrong += [f"names {unknown[0]!r}, which is no secret of the channel"] if unknown else []
    if wrong:
        hint = " (the first line of a file names its columns)" if option == "groups" else ""
        raise InputError(f"`{option}` {' and '.join(wrong)}{hint}")


class Numbers(NamedTuple):
    """What a mechanism in closed form leaks."""

    beta_star: float
    capacity: float  # ``sum_o max_s C_so``
    bayes_risk: float  # For the uniform prior; never as what is left of 1
    local_epsilon: float  # Smallest epsilon of epsilon-LDP; ``inf`` if there is none


@dataclass(frozen=True)
class ClosedForm:
    """What every mechanism in closed form offers."""

    by_matrix = False  # no field: whether its numbers come from its channel

    @property
    def secrets(self) -> int:
        raise NotImplementedError

    @cached_property
    def numbers(self) -> Numbers:
        raise NotImplementedError

    @property
    def beta_star(self) -> float:
        """Bayes security."""
        return self.numbers.beta_star

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
        """Multiplicative capacity."""
        return self.numbers.capacity

    @property
    def local_epsilon(self) -> float:
        return self.numbers.local_epsilon

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta at ``epsilon`` (the LDP profile)."""
        raise NotImplementedError

    @property
    def guessing_error(self) -> float:
        """Error of guessing without the output, uniform prior."""
        return 1 - 1 / self.secrets

    @property
    def bayes_risk(self) -> float:
        """Error of the best attacker, uniform prior."""
        return self.numbers.bayes_risk

    def channel(self) -> Channel:
        """Return the channel, where the outputs are finitely many and fit."""
        raise InputError(
            f"{type(self).__name__} has continuous or infinitely many outputs, so no matrix; "
            "use its closed form, `repeated_security` for several outputs, or the geometric "
            "mechanism for a discrete one"
        )


def formula_of(matrix: ChannelLike) -> ClosedForm | None:
    """Return a mechanism whose numbers come from formulas; None for what goes by its matrix."""
    return matrix if isinstance(matrix, ClosedForm) and not matrix.by_matrix else None


def channel(
    matrix: ChannelLike,
    *,
    secrets: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    tolerance: float = ROW_SUM_TOLERANCE,
) -> Channel:
    """Make a channel from a matrix, and check it.

    matrix: Shape (secrets, outputs): an array, nested lists, a SciPy sparse matrix, a data frame
        (whose index and columns name secrets and outputs), a `Channel`, or what has one: a
        `ClosedForm`, a `RationalChannel`, a `Design`. Entries in [0, 1], each row summing to one
        within ``tolerance``.
    secrets, outputs: Names; by default those of the data frame, or ``"s1", "s2", ...`` and ``"o1",
        ...``.
    tolerance: Largest deviation of a row sum from one. Rows are taken as they are, never
        renormalised.

    >>> channel([[0.75, 0.25], [0.25, 0.75]], secrets=["no", "yes"])
    Channel(2 secrets, 2 outputs)
    """
    source = getattr(matrix, "channel", None)
    if callable(source):
        source = source()
    if isinstance(source, Channel):
        matrix = source
    if isinstance(matrix, Channel):
        return matrix
    non_negative("tolerance", tolerance)
    if is_frame(matrix):
        secrets = list(matrix.index) if secrets is None else secrets
        outputs = list(matrix.columns) if outputs is None else outputs
        matrix = matrix.to_numpy()
    refuse_lossy("matrix", matrix)
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
        remark = f" ({bad.size} rows in all)" if bad.size > 1 else ""
        raise InputError(
            f"row {worst + 1} (secret {secret_names[worst]!r}) sums to {sums[worst]:.12g}, off by "
            f"{sums[worst] - 1:+.3g}{remark}; each row must sum to 1 within {tolerance:g}: "
            "correct the file, nothing is renormalised silently"
        )
    return Channel(values, secret_names, output_names)


def same_secrets(which: str, first: tuple[str, ...], second: tuple[str, ...]) -> None:
    """Refuse two channels with other secrets, or the same in another order."""
    if first == second:
        return
    difference = f"{len(first)} and {len(second)} secrets"
    if len(first) == len(second):
        a, b = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
        difference = f"{a!r} in one has the place of {b!r} in the other"
    raise InputError(f"channels {which} must have the same secrets in the same order: {difference}")


def _refuse_entry(values: Any, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    if sparse.issparse(values):
        coordinates: Any = cast(Any, values).tocoo()
        wrong = int(np.flatnonzero(~((coordinates.data >= 0) & (coordinates.data <= 1)))[0])
        s, o = int(coordinates.coords[0][wrong]), int(coordinates.coords[1][wrong])
        value = float(coordinates.data[wrong])
    else:
        s, o = (int(i) for i in np.argwhere(~((values >= 0) & (values <= 1)))[0])
        value = float(values[s, o])
    fault = "is missing (NaN)" if math.isnan(value) else f"is {value!r}"
    raise InputError(
        f"the entry in row {s + 1} (secret {secrets[s]!r}), column {o + 1} "
        f"(output {outputs[o]!r}) {fault}; probabilities must be in [0, 1]"
    )


def names_of(what: str, names: Iterable[Any] | None, size: int, letter: str) -> tuple[str, ...]:
    """Return ``size`` different names as strings."""
    if names is None:
        return tuple(f"{letter}{i + 1}" for i in range(size))
    texts = tuple(str(name) for name in names)
    if len(texts) != size:
        raise InputError(f"`{what}` must name all {size} {what}, got {len(texts)} names")
    if len(set(texts)) != size:
        seen: set[str] = set()
        twice = next(t for t in texts if t in seen or seen.add(t))
        raise InputError(f"`{what}` must have different names; {twice!r} appears there twice")
    return texts


def prior_for(channel: Channel, prior: PriorLike | None) -> Matrix:
    """Return a prior over the secrets of a channel, checked; None means uniform.

    prior: A probability per secret, shape (secrets,), in the channel's order; or a series or a dict
        from the secrets' names. It must sum to one within 1e-9.
    """
    n = channel.shape[0]
    if prior is None:
        return np.full(n, 1 / n)
    if isinstance(prior, pd.Series):
        if prior.index.has_duplicates:
            twice = prior.index[prior.index.duplicated()][0]
            raise InputError(f"`prior` names the secret {str(twice)!r} twice")
        prior = {str(k): float(v) for k, v in prior.items()}
    if isinstance(prior, Mapping):
        check_names("prior", prior, channel.secrets, "probability")
        prior = [prior[s] for s in channel.secrets]
    values = distribution("prior", cast(ArrayLike, prior))
    if values.size != n:
        raise InputError(f"`prior` must have an entry for each of {n} secrets, got {values.size}")
    return values


def require_two(prior: Matrix, secrets: Sequence[str]) -> None:
    """Refuse a prior with all mass on one secret, where ``beta(pi, C)`` is 0/0."""
    if np.count_nonzero(prior) == 1:
        raise InputError(
            f"`prior` puts all mass on one secret ({secrets[int(np.argmax(prior))]!r}): there is "
            "nothing left to guess, and Bayes security is undefined; give two secrets at least a "
            "positive mass"
        )


def of_program(program: Callable[[Any], Hashable], secrets: Iterable[Any]) -> Channel:
    """Return the channel of a program without coins: what it returns for a secret is the output.

    >>> of_program(lambda pin: pin % 3, range(7)).outputs
    ('0', '1', '2')
    """
    names = list(secrets)
    if not names:
        raise InputError("`secrets` is empty")
    answers = [program(symbol) for symbol in names]
    outputs = list(dict.fromkeys(answers))
    place = {symbol: i for i, symbol in enumerate(outputs)}
    values = np.zeros((len(names), len(outputs)))
    values[np.arange(len(names)), [place[symbol] for symbol in answers]] = 1.0
    return channel(values, secrets=names, outputs=outputs)


SAME = 1e-12  # Largest difference of two posteriors that are one but for rounding


@dataclass(frozen=True, eq=False)
class Hyper:
    """What an attacker may come to believe."""

    outer: Floats  # Chance of each posterior, descending, shape (k,)
    inner: Floats  # The posteriors, shape (k, secrets)


def hyper(matrix: ChannelLike, prior: PriorLike | None = None) -> Hyper:
    """Return the posteriors of a channel under a prior, equal ones joined.

    Source: Alvim et al. 2020, definition 4.6.
    """
    c = channel(matrix)
    joint = (prior_for(c, prior)[:, None] * c.dense).T
    chance = joint.sum(axis=1)
    joint, chance = joint[chance > 0], chance[chance > 0]
    groups = _groups(joint / chance[:, None])
    outer = np.array([chance[g].sum() for g in groups])
    inner = np.array([joint[g].sum(axis=0) for g in groups]) / outer[:, None]
    order = np.argsort(-outer, kind="stable")
    return Hyper(outer[order], inner[order])


def reduced(matrix: ChannelLike) -> Channel:
    """Join the outputs that tell the same, and leave out those that never come.

    Any attacker does as well with what is left (Alvim et al. 2020, definition 4.9).
    """
    c = channel(matrix)
    columns = c.dense.T
    total = columns.sum(axis=1)
    there = np.flatnonzero(total > 0)
    groups = _groups(columns[there] / total[there, None])
    values = np.stack([columns[there[g]].sum(axis=0) for g in groups], axis=1)
    names = ["+".join(c.outputs[there[i]] for i in g) for g in groups]
    return channel(values, secrets=c.secrets, outputs=names)


def _groups(rows: Floats) -> list[list[int]]:
    """Return the positions of equal rows, in the order of the first of each."""
    groups: list[list[int]] = []
    for i, row in enumerate(rows):
        for group in groups:
            if np.abs(rows[group[0]] - row).max() <= SAME:
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


MOST_STEPS = 20_000_000  # Most entries that a search over all pairs of secrets looks at

MOST_FIGURES = 1_000  # Most places before or after the point of a decimal

Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class RationalChannel:
    """A channel whose probabilities are fractions; each row sums to exactly one.

    Made by `rational_channel`, which checks what it is given. Every measure is exact: sums,
    products and maxima of fractions.
    """

    rows: tuple[Row, ...]  # A row a secret, an entry an output
    secrets: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.secrets), len(self.outputs)

    @cached_property
    def columns(self) -> tuple[Row, ...]:
        return tuple(zip(*self.rows, strict=True))

    def channel(self) -> Channel:
        """Return the nearest channel of floats."""
        floats = [[float(number) for number in row] for row in self.rows]
        return channel(floats, secrets=self.secrets, outputs=self.outputs)

    def beta_star(self) -> tuple[Fraction, tuple[str, ...]]:
        """Return the Bayes security, and two secrets that reach it (of one secret none)."""
        n, m = self.shape
        if n * (n - 1) // 2 * m > MOST_STEPS:
            raise TooLargeError(
                f"all pairs of {n} secrets with {m} outputs are {n * (n - 1) // 2 * m:,} fractions "
                f"to look at, at most {MOST_STEPS:,}; take `beta_star` of `.channel()`"
            )
        unit = math.lcm(*(number.denominator for row in self.rows for number in row))
        whole = [[int(number * unit) for number in row] for row in self.rows]
        best, pair = unit, self.secrets[:2] if n > 1 else ()
        for i, first in enumerate(whole):
            for j in range(i):
                overlap = sum(map(min, first, whole[j]))
                if overlap < best:
                    best, pair = overlap, (self.secrets[j], self.secrets[i])
        return Fraction(best, unit), pair

    def bayes_vulnerability(self, prior: Any = None) -> Fraction:
        """Get how often the best attacker names the secret in one guess; uniform prior if none."""
        return sum(map(max, self._joint(self.prior(prior))), Fraction())

    def _joint(self, weights: Row) -> list[list[Fraction]]:
        """Return the joint chances, a list per output."""
        return [[w * c for w, c in zip(weights, column, strict=True)] for column in self.columns]

    def bayes_risk(self, prior: Any = None) -> Fraction:
        """Return how often the best attacker is wrong."""
        return 1 - self.bayes_vulnerability(prior)

    def capacity(self) -> Fraction:
        """Return the multiplicative capacity, ``sum_o max_s C_so``."""
        return sum(map(max, self.columns), Fraction())

    def g_vulnerability(self, gain: Any, prior: Any = None) -> Fraction:
        """Return ``sum_o max_w sum_s pi_s C_so gain[w, s]``; a row of the gain per guess."""
        joint, table = self._joint(self.prior(prior)), self._gain(gain)
        return sum((max(inner(row, column) for row in table) for column in joint), Fraction())

    def g_leakage(self, gain: Any, prior: Any = None) -> Fraction:
        """Return the multiplicative g-leakage."""
        weights, table = self.prior(prior), self._gain(gain)
        before = max(inner(row, weights) for row in table)
        if before <= 0:
            raise InputError(f"the best gain without the output is {before}; it must be above 0")
        return self.g_vulnerability(table, weights) / before

    def prior(self, prior: Any) -> Row:
        """Return a prior over the secrets in fractions; None means uniform."""
        n = len(self.secrets)
        if prior is None:
            return (Fraction(1, n),) * n
        if isinstance(prior, Mapping):
            if set(prior) != set(self.secrets):
                raise InputError(f"`prior` must name the secrets {', '.join(self.secrets[:10])}")
            prior = [prior[name] for name in self.secrets]
        values = tuple(fraction(number) for number in prior)
        if len(values) != n or min(values) < 0 or sum(values) != 1:
            raise InputError(
                f"`prior` must be {n} fractions of at least 0 that sum to exactly 1, got "
                f"{len(values)} that sum to {sum(values)}"
            )
        return values

    def _gain(self, gain: Any) -> list[Row]:
        table = [tuple(fraction(number) for number in row) for row in gain]
        if not table or any(len(row) != len(self.secrets) for row in table):
            raise InputError(
                f"`gain` must have a row per guess and a column per secret ({len(self.secrets)})"
            )
        return table


def rational_channel(
    matrix: Any,
    *,
    secrets: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
) -> RationalChannel:
    """Make a channel of fractions, and check it.

    matrix: A row per secret, a column per output: fractions, whole numbers, decimals, texts such as
        ``"1/3"`` and ``"0.1"``, or floats, which are taken as exactly the binary number they are.
    secrets, outputs: Their names; ``"s1"``, ``"o1"``, ... if left out.

    >>> c = rational_channel([["1/3", "2/3"], ["1/2", "1/2"]])
    >>> c.beta_star()
    (Fraction(5, 6), ('s1', 's2'))
    """
    if isinstance(matrix, RationalChannel):
        return matrix
    if isinstance(matrix, ClosedForm):
        matrix = matrix.channel()
    if isinstance(matrix, Channel):
        secrets, outputs = secrets or matrix.secrets, outputs or matrix.outputs
        matrix = matrix.dense
    rows = tuple(tuple(fraction(number) for number in row) for row in matrix)
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("`matrix` must have a row per secret, all as long as there are outputs")
    names = names_of("secrets", secrets, len(rows), "s")
    for name, row in zip(names, rows, strict=True):
        if min(row) < 0:
            raise InputError(f"the row of secret {name!r} has the entry {min(row)}, below 0")
        if sum(row) != 1:
            raise InputError(
                f"the row of secret {name!r} sums to {_shown(sum(row))} and not to exactly 1; "
                "write fractions as texts, such as '1/3', since a float is the binary number "
                "nearest to what was meant"
            )
    return RationalChannel(rows, names, names_of("outputs", outputs, len(rows[0]), "o"))


def fraction(value: Any) -> Fraction:
    """Return a number or a text such as ``"1/3"`` as a fraction."""
    try:
        if isinstance(value, str) and "/" in value:
            return Fraction(value.strip())
        if isinstance(value, Fraction):
            return value
        if isinstance(value, str | Decimal):
            exact = Decimal(value.strip() if isinstance(value, str) else value)
            if abs(exact.adjusted()) <= MOST_FIGURES:  # 1e999999999 would fill the memory
                return Fraction(exact)
        if isinstance(value, numbers.Integral):
            return Fraction(int(value))  # NumPy's own would overflow
        if isinstance(value, numbers.Real):
            return Fraction(float(value))
    except (ValueError, ArithmeticError):
        pass
    raise InputError(f"{cell(value)} is no fraction; write numbers as 1/3 or 0.25")


def inner(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(first, second, strict=True)), Fraction())


def _shown(value: Fraction | int) -> str:
    """Return a fraction as text, or how far from 1 it is where its digits would fill the line."""
    text = str(value)
    if len(text) <= 24:
        return text
    try:
        return f"1 {float(value - 1):+.3g}"
    except OverflowError:
        return "more than 1e308 in size"


@dataclass(frozen=True)
class ExactSummary(ProvedResult):
    """Bayes security, risk and capacity without any rounding."""

    secrets: int
    beta_star: Fraction
    pair: tuple[str, ...]  # Two secrets that reach it; none if there is one secret
    bayes_risk: Fraction  # For the prior, as are the guessing error, beta and the leakage
    guessing_error: Fraction
    beta: Fraction | None  # None where nothing is left to guess
    capacity: Fraction  # Multiplicative, as is the leakage
    leakage: Fraction

    def to_dict(self) -> dict[str, Any]:
        fields = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in fields.items()}

    def __str__(self) -> str:
        at = f" at the secrets {self.pair[0]!r} and {self.pair[1]!r}" if self.pair else ""
        beta = "" if self.beta is None else f", beta {_both(self.beta)}"
        return (
            f"EXACT, in fractions: Bayes security {_both(self.beta_star)}{at}\n"
            f"  Bayes risk {_both(self.bayes_risk)}, guessing error {_both(self.guessing_error)}"
            f"{beta}\n  capacity {_both(self.capacity)}, leakage {_both(self.leakage)}"
        )


def exact_summary(matrix: Any, prior: Any = None) -> ExactSummary:
    """Compute what a channel of fractions leaks.

    matrix: What `rational_channel` takes.

    >>> print(exact_summary([["1/3", "2/3"], ["1/2", "1/2"]]))
    EXACT, in fractions: Bayes security 5/6 (0.833333) at the secrets 's1' and 's2'
      Bayes risk 5/12 (0.416667), guessing error 1/2 (0.5), beta 5/6 (0.833333)
      capacity 7/6 (1.16667), leakage 7/6 (1.16667)
    """
    c = rational_channel(matrix)
    weights = c.prior(prior)
    security, pair = c.beta_star()
    right, guess = c.bayes_vulnerability(weights), max(weights)
    beta = (1 - right) / (1 - guess) if guess < 1 else None
    return ExactSummary(
        len(c.secrets), security, pair, 1 - right, 1 - guess, beta, c.capacity(), right / guess
    )


def _both(value: Fraction) -> str:
    return f"{value} ({float(value):.6g})" if value.denominator > 1 else str(value)
