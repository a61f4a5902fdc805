"""Outputs as text: the whole data set, or rare strings of it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from narcissus._validation import integer
from narcissus.extraction.eidetic import eidetic_counts
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations.base import OutputRelation, lines_of


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

    Parameters
    ----------
    at_least
        Different lines that must count.
    k
        Most records of the data in which a line may occur.
    bytes_each
        Least length of a line under zlib, in bytes.
    bytes_total
        Least length of all of them under zlib, in bytes.
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
        found = eidetic_counts(unique, data.records).documents
        return [s for s, n in zip(unique, found, strict=True) if 1 <= n <= self.k]

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
            low, high = self.at_least, len(good)
            while low < high:  # the total grows with the list
                middle = (low + high) // 2
                if self._enough(good[:middle]):
                    high = middle
                else:
                    low = middle + 1
            yield "\n".join(good[:low]).encode()

    def describe(self) -> str:
        records = "record" if self.k == 1 else "records"
        return (
            f"the output has at least {self.at_least} different line(s) that occur in 1 to "
            f"{self.k} {records} of the data and keep {self.bytes_each} byte(s) or more under "
            f"zlib, together {self.bytes_total} or more"
        )


def _packed(text: str) -> int:
    return len(zlib.compress(text.encode(), 9, wbits=-15))
