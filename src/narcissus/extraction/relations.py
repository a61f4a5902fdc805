"""When an output counts as extraction: the relations of Cohen et al. 2024.

A relation decides whether an output is a valid extraction of a data set, and names valid outputs
that are cheap to print. The complexity of the set of valid outputs is the least over its members,
so every member named here lowers the upper estimate, and none can make it wrong.

Source: Cohen et al. 2024, appendix D, with Examples D.4 to D.6; Narcissus theory 7.
"""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.spatial import distance

from narcissus._validation import between, integer, positive
from narcissus.errors import InputError
from narcissus.extraction.complexity import python_string
from narcissus.extraction.eidetic import eidetic_counts
from narcissus.extraction.files import DataSet, parse_rows

# Finds the words of a greedy covering code up to the one numbered N, and prints that one.
_COVERING = (
    "u=set(range(1<<{d}))\n"
    "for _ in range({n}+1):z=max(range(1<<{d}),key=lambda z:sum((z^x).bit_count()<={r}for x in u))"
    ";u={{x for x in u if(z^x).bit_count()>{r}}}\n"
    "print(f'{{z:0{d}b}}')"
)
_HEADER = "#coding:L1\n"
_BLOCK = 512  # rows whose distances are held together
_BYTES = "int.from_bytes(ord(c)^{mask} for c in"
Rows = NDArray[np.float64]


class OutputRelation(ABC):
    """A relation between data sets and printed outputs.

    It is a `narcissus.success.relations.Relation`, so games can use it, and can also judge one
    fixed release.
    """

    @abstractmethod
    def counts(self, data: DataSet, output: bytes) -> bool:
        """Check whether ``output`` is a valid extraction of ``data``."""

    @abstractmethod
    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield valid outputs that are short when compressed; none if none can count."""

    @abstractmethod
    def describe(self) -> str:
        """Describe in words when an output counts."""

    def program_sizes(self, data: DataSet) -> dict[str, int]:
        """Return the sizes in bytes of programs, known by other means, whose output counts."""
        return {}

    def holds(
        self, data: Sequence[DataSet], attempt: Sequence[bytes], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Score a batch of a game, shape (trials,)."""
        return np.array([self.counts(d, o) for d, o in zip(data, attempt, strict=True)], dtype=bool)


def lines_of(output: bytes) -> list[str]:
    """Return the non-blank lines of an output; none if it is no text."""
    try:
        return [line for line in output.decode("utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError:
        return []


@dataclass(frozen=True)
class Verbatim(OutputRelation):
    """The output is the whole data set (apart from a final line break)."""

    def counts(self, data: DataSet, output: bytes) -> bool:
        return output.rstrip(b"\r\n") == data.raw.rstrip(b"\r\n")

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        yield data.raw.rstrip(b"\r\n")

    def describe(self) -> str:
        return "the output is the data set, byte for byte (a line break at the end aside)"


@dataclass(frozen=True)
class Strings(OutputRelation):
    """Relation (a), for language models: lines of the output that are rare strings of the data.

    A line counts if it has at least ``bytes_each`` bytes after compression with zlib, and occurs in
    at least one and at most ``k`` records of the data (`eidetic_counts`). The output counts if at
    least ``at_least`` different lines count and together have at least ``bytes_total`` bytes after
    compression.

    Source: Cohen et al. 2024, D.2 and D.3.

    at_least: Different lines that must count.
    k: Most records of the data in which a line may occur.
    bytes_each: Least length of a line under zlib, in bytes.
    bytes_total: Least length of all of them under zlib, in bytes.
    """

    at_least: int = 1
    k: int = 1
    bytes_each: int = 1
    bytes_total: int = 1

    def __post_init__(self) -> None:
        for name in ("at_least", "k", "bytes_each", "bytes_total"):
            integer(name, getattr(self, name), low=1)

    def counting(self, data: DataSet, lines: list[str]) -> list[str]:
        """Return the lines that count, without repetition."""
        unique = [s for s in dict.fromkeys(lines) if _packed(s) >= self.bytes_each]
        if not unique:
            return []
        counts = eidetic_counts(unique, data.records).documents
        return [s for s, n in zip(unique, counts, strict=True) if 1 <= n <= self.k]

    def _enough(self, lines: list[str]) -> bool:
        return len(lines) >= self.at_least and _packed("\n".join(lines)) >= self.bytes_total

    def counts(self, data: DataSet, output: bytes) -> bool:
        return self._enough(self.counting(data, lines_of(output)))

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield lists of the cheapest records, as many as necessary.

        Parts of records could be cheaper still; the caller adds observed outputs that count.
        """
        good = self.counting(data, list(data.records))
        good.sort(key=_packed)
        if self._enough(good):
            # the total grows with the list
            sizes = range(self.at_least, len(good))
            extra = bisect_left(sizes, True, key=lambda size: self._enough(good[:size]))
            yield "\n".join(good[: self.at_least + extra]).encode()

    def describe(self) -> str:
        records = "record" if self.k == 1 else "records"
        return (
            f"the output has at least {self.at_least} different line(s) that occur in 1 to "
            f"{self.k} {records} of the data and keep {self.bytes_each} byte(s) or more under "
            f"zlib, together {self.bytes_total} or more"
        )


def _packed(text: str) -> int:
    return len(zlib.compress(text.encode(), 9, wbits=-15))


@dataclass(frozen=True)
class HammingBall(OutputRelation):
    """A line of the output agrees with a record, both of 0 and 1, except for a share.

    Some record and some line of the output, of the same length ``d``, differ in at most
    ``share * d`` places: Examples D.4 (one record, share 1/2), D.5 (one record, share 1/4) and
    D.6 (many records).

    share: Largest share of places that differ, in [0, 1).
    lines: Most lines of an output.

    The paper puts the complexity of Examples D.5 and D.6 at ``(1 - o(1)) d/2``. That is too large
    **[new]**: a program may number the words of a covering code and print the one near the record,
    which takes ``(1 - H(share)) d + O(log d)`` bits, 0.19 d at share 1/4 (the code exists by greedy
    covering, and the program finds it, slowly). `program_sizes` holds the size of that program, so
    a quality computed from half the bits would overstate the evidence.
    """

    share: float
    lines: int = 100

    def __post_init__(self) -> None:
        between("share", self.share, 0, 1, open_high=True)
        integer("lines", self.lines, low=1)

    def _bits(self, data: DataSet) -> list[str]:
        if any(set(r) - {"0", "1"} for r in data.records):
            raise InputError(f"{data.name} must hold lines of 0 and 1 only")
        return list(data.records)

    def counts(self, data: DataSet, output: bytes) -> bool:
        guesses = [g for g in lines_of(output) if not set(g) - {"0", "1"}]
        if len(guesses) > self.lines:
            return False
        numbers = [(len(r), int(r, 2)) for r in self._bits(data)]
        return any(
            len(g) == d and (int(g, 2) ^ record).bit_count() <= self.share * d
            for g in guesses
            for d, record in numbers
        )

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield records, with as many trailing zeros (or ones) as the share allows."""
        for record in self._bits(data)[:16]:
            yield record.encode()
            for filler in "01":
                room = math.floor(self.share * len(record))
                prefix_length, spent = len(record), 0
                while prefix_length and spent + (record[prefix_length - 1] != filler) <= room:
                    spent += record[prefix_length - 1] != filler
                    prefix_length -= 1
                yield (record[:prefix_length] + filler * (len(record) - prefix_length)).encode()

    def program_sizes(self, data: DataSet) -> dict[str, int]:
        d = min(len(r) for r in self._bits(data))
        return {"covering code": self.covering_program_size(d)}

    def covering_program_size(self, d: int) -> int:
        """Compute the size in bytes of the program that makes a covering code and prints a word of
        it.

        Greedy covering of ``2^d`` strings by balls of volume ``V`` needs at most ``2^d / V (1 + ln
        V)`` words (Lovasz 1975), whose number bounds the digits or bytes that name one. One of the
        256 byte masks leaves at most 7 in 256 bytes to escape (averaged over the masks, quote,
        backslash and line ends cost one byte more each, and zero three).
        """
        radius = math.floor(self.share * d)
        log_volume = float(
            special.logsumexp(
                [
                    special.gammaln(d + 1) - special.gammaln(i + 1) - special.gammaln(d - i + 1)
                    for i in range(radius + 1)
                ]
            )
        )
        log_words = d * math.log(2) - log_volume + math.log1p(log_volume)
        digits = max(1, math.ceil(log_words / math.log(10)))
        size = max(1, math.ceil(log_words / math.log(256)))
        rest = len(self._covering(d, "", "")) + len(_HEADER) + len(_BYTES.format(mask=255)) + 3
        return min(len(self._covering(d, "", "")) + digits, rest + size + 7 * size // 256)

    def covering_program(self, d: int, number: int) -> bytes:
        """Write that program, its number in digits or bytes, whichever is shorter.

        It finishes in reasonable time for small ``d`` only.
        """
        raw = number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
        masked = [(python_string(bytes(c ^ mask for c in raw)), mask) for mask in range(256)]
        text, mask = min(masked, key=lambda one: len(one[0]))
        call = _BYTES.format(mask=mask) + text.decode("latin-1") + ")"
        in_bytes = self._covering(d, _HEADER, call).encode("latin-1")
        if number >= 10**999:  # Python reads no literal of more than 4,300 digits
            return in_bytes
        return min(self._covering(d, "", str(number)).encode(), in_bytes, key=len)

    def _covering(self, d: int, header: str, number: str) -> str:
        return header + _COVERING.format(d=d, r=math.floor(self.share * d), n=number)

    def describe(self) -> str:
        return (
            f"one of at most {self.lines} lines differs from a record of its length in at most "
            f"{100 * self.share:g}% of the bits"
        )


def printed(rows: Rows) -> bytes:
    """Print rows, one a line, to the last bit."""
    return "\n".join(" ".join(map(repr, row)) for row in rows.tolist()).encode()


def _output_rows(output: bytes, columns: int) -> Rows | None:
    rows = parse_rows("\n".join(lines_of(output)))
    return rows if rows is not None and rows.shape[1] == columns else None


def _that_count(
    relation: OutputRelation, data: DataSet, rows: Rows, radius: float
) -> Iterator[bytes]:
    """Yield valid prints of rows, from coarse to fine."""
    return (output for output in _coarse(rows, radius) if relation.counts(data, output))


def _coarse(rows: Rows, radius: float) -> Iterator[bytes]:
    """Print rows as coarsely as ``radius`` may allow, as whole multiples of steps where possible.

    The steps halve from too coarse to fine.
    """
    step = 4 * radius / math.sqrt(rows.shape[1])
    for _ in range(6):
        digits = max(0, math.ceil(-math.log10(step)) + 1)
        rounded = np.round(rows / step) * step
        yield (
            "\n".join(
                " ".join(f"{x:.{digits}f}".rstrip("0").rstrip(".") or "0" for x in row)
                for row in rounded
            )
            .replace("-0 ", "0 ")
            .encode()
        )
        step /= 2


@dataclass(frozen=True)
class Near(OutputRelation):
    """Relation (b), for diffusion models: close to an item that is far from all others.

    The first row of the output lies within ``radius`` of a row of the data whose distance to every
    other row is above ``isolation``. Departing from the paper, copies of the same row count as one
    row (``merge_copies``): otherwise a duplicated item, the very one that models memorise, could
    never count.

    Source: Cohen et al. 2024, D.3.

    radius: Largest L2 distance to the item.
    isolation: Least distance of the item to all others.
    merge_copies: Count copies of one row as one item.
    """

    radius: float
    isolation: float
    merge_copies: bool = True

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        positive("isolation", self.isolation)
        if self.radius >= self.isolation:
            raise InputError(
                f"`radius` must be below `isolation`, got {self.radius} and {self.isolation}"
            )

    def counts(self, data: DataSet, output: bytes) -> bool:
        rows = _output_rows(output, data.rows.shape[1])
        isolated = _isolated(data, self.isolation, self.merge_copies)
        if rows is None or not isolated.size:
            return False
        return bool((distance.cdist(rows[:1], isolated) < self.radius).any())

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield isolated items, as coarsely as the radius allows."""
        for row in _isolated(data, self.isolation, self.merge_copies)[:64]:
            yield from _that_count(self, data, row[None], self.radius)

    def describe(self) -> str:
        return (
            f"the output is within {self.radius:g} (L2) of an item of the data that is farther "
            f"than {self.isolation:g} from all others"
        )


@lru_cache(maxsize=32)
def _isolated(data: DataSet, isolation: float, merge_copies: bool) -> Rows:
    rows = np.unique(data.rows, axis=0) if merge_copies else data.rows
    return rows[nearest_other(rows, rows, np.arange(len(rows))) > isolation]


def nearest_other(rows: Rows, others: Rows, but: NDArray[np.integer]) -> Rows:
    """Return each row's distance to the nearest of ``others``, except the one numbered ``but``."""
    distances = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = distance.cdist(rows[start : start + _BLOCK], others)
        block[np.arange(len(block)), but[start : start + _BLOCK]] = np.inf
        distances[start : start + _BLOCK] = block.min(axis=1)
    return distances


@dataclass(frozen=True)
class Close(OutputRelation):
    """Relation (c), for classifiers: at least ``at_least`` rows have a close reconstruction.

    Close means an L2 distance below ``radius`` or, if ``correlation`` is given, a normalised
    cross-correlation of at least that.

    Source: Cohen et al. 2024, D.3.

    at_least: Items that must have a reconstruction.
    radius: Largest L2 distance.
    correlation: Or least normalised cross-correlation, in (0, 1].
    """

    at_least: int
    radius: float | None = None
    correlation: float | None = None

    def __post_init__(self) -> None:
        integer("at_least", self.at_least, low=1)
        if (self.radius is None) == (self.correlation is None):
            raise InputError("give one of `radius` and `correlation`")
        if self.radius is not None:
            positive("radius", self.radius)
        if self.correlation is not None:
            between("correlation", self.correlation, 0, 1, open_low=True)

    def reconstructed(self, data: Rows, rows: Rows) -> NDArray[np.bool_]:
        """Check whether each row of the data has a close row in the output, shape (n,)."""
        if self.radius is not None:
            return distance.cdist(data, rows).min(axis=1) < self.radius
        assert self.correlation is not None
        return (normalised(data) @ normalised(rows).T).max(axis=1) >= self.correlation

    def counts(self, data: DataSet, output: bytes) -> bool:
        rows = _output_rows(output, data.rows.shape[1])
        return rows is not None and int(self.reconstructed(data.rows, rows).sum()) >= self.at_least

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield the fewest rows that suffice, those that compress best, as coarsely as possible."""
        rows = data.rows
        if rows.shape[0] < self.at_least:
            return
        norms = np.linalg.norm(rows - rows.mean(axis=1, keepdims=True), axis=1)
        radius = self.radius
        if radius is None:
            assert self.correlation is not None
            radius = float(np.median(norms) * math.sqrt(2 * (1 - self.correlation)) + 1e-9)
        sizes = [len(zlib.compress(next(_coarse(row[None], radius)))) for row in rows]
        for pool in (np.argsort(sizes, kind="stable"), np.argsort(norms, kind="stable")):
            yield from _that_count(self, data, rows[pool[: self.at_least]], radius)

    def describe(self) -> str:
        how = (
            f"within {self.radius:g} (L2)"
            if self.radius is not None
            else f"at a normalised cross-correlation of {self.correlation:g} or more"
        )
        return f"at least {self.at_least} item(s) of the data have a reconstruction {how}"


def normalised(rows: Rows) -> Rows:
    """Scale rows to mean 0 and length 1, for normalised cross-correlation; flat rows to 0."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 1e-12)
