"""The Hamming examples: a bit string that agrees with a record except for a share of its places.

Source: Cohen et al. 2024, Examples D.4 to D.6; Narcissus theory 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from scipy import special

from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.extraction.complexity import python_string
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations.base import OutputRelation, lines_of

# Finds the words of a greedy covering code up to the one numbered N, and prints that one.
_COVERING = (
    "u=set(range(1<<{d}))\n"
    "for _ in range({n}+1):z=max(range(1<<{d}),key=lambda z:sum((z^x).bit_count()<={r}for x in u))"
    ";u={{x for x in u if(z^x).bit_count()>{r}}}\n"
    "print(f'{{z:0{d}b}}')"
)
_HEADER = "#coding:L1\n"
_BYTES = "int.from_bytes(ord(c)^{mask} for c in"


@dataclass(frozen=True)
class HammingBall(OutputRelation):
    """A line of the output agrees with a record, both of 0 and 1, except for a share.

    Some record and some line of the output, of the same length ``d``, differ in at most
    ``share * d`` places: Examples D.4 (one record, share 1/2), D.5 (one record, share 1/4) and
    D.6 (many records).

    Parameters
    ----------
    share
        Largest share of places that differ, in [0, 1).
    lines
        Most lines of an output.

    Notes
    -----
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
        given = [g for g in lines_of(output) if not set(g) - {"0", "1"}]
        if len(given) > self.lines:
            return False
        numbers = [(len(r), int(r, 2)) for r in self._bits(data)]
        return any(
            len(g) == d and (int(g, 2) ^ record).bit_count() <= self.share * d
            for g in given
            for d, record in numbers
        )

    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield records, with as many trailing zeros as the share allows."""
        for record in self._bits(data)[:16]:
            yield record.encode()
            for filler in "01":
                room = math.floor(self.share * len(record))
                kept, spent = len(record), 0
                while kept and spent + (record[kept - 1] != filler) <= room:
                    spent += record[kept - 1] != filler
                    kept -= 1
                yield (record[:kept] + filler * (len(record) - kept)).encode()

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
            special.logsumexp([
                special.gammaln(d + 1) - special.gammaln(i + 1) - special.gammaln(d - i + 1)
                for i in range(radius + 1)
            ])
        )  # fmt: skip
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
