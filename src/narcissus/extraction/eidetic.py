"""Occurrences of strings in a training text: k-eidetic counts, thousands of strings in one pass.

A suffix array of the text would take five times its size and a minute to build. The strings are few
and short in comparison, so they are indexed instead: they form a trie whose steps are words of
eight bytes. The text is read once, as 64-bit words at each of the eight alignments, and every
position walks down the trie together with thousands of others. The work is the length of the text,
plus one step for each word of a string that a position shares: linear in the worst case for strings
without a long common repetition.

Source: Cohen et al. 2024, D.2 (k-eidetic memorisation after Carlini et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

_Words = NDArray[np.uint64]
_Indices = NDArray[np.int64]

_CHUNK = 2**22  # positions walked at a time: small enough for the cache, large enough for NumPy
_FILTER_BITS = 20
_MIXERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_MASKS = np.array([(1 << (8 * r)) - 1 for r in range(8)] + [2**64 - 1], dtype=np.uint64)


@dataclass(frozen=True)
class EideticCounts:
    """Numbers of occurrences of strings."""

    # start positions of each string within documents, overlaps included, shape (strings,)
    occurrences: _Indices
    # documents that contain each string, shape (strings,): a string is k-eidetic memorised
    # where this is at most ``k`` (and a model prints it)
    documents: _Indices


def eidetic_counts(
    strings: Sequence[str | bytes],
    text: str | bytes | Sequence[str | bytes],
    *,
    starts: Sequence[int] | NDArray[np.integer] | None = None,
    observer: Observer = SILENT,
) -> EideticCounts:
    """Count the places and the documents of a text in which each string occurs.

    strings: strings to find, none empty; text is taken as UTF-8.
    text: the training text: one string, or a sequence of documents.
    starts: byte offset of each document in one string, ascending from 0; None: one document.

    >>> counts = eidetic_counts(["ana", "nas"], ["bananas", "ananas"])
    >>> counts.occurrences.tolist(), counts.documents.tolist()
    ([4, 2], [2, 2])
    """
    wanted = [s.encode() if isinstance(s, str) else bytes(s) for s in strings]
    if any(not s for s in wanted):
        raise InputError("`strings` must not be empty strings")
    if isinstance(text, str | bytes):
        body = text.encode() if isinstance(text, str) else text
        begin = np.array([0] if starts is None else starts, dtype=np.int64)
    else:
        if starts is not None:
            raise InputError("`starts` is for one string; a sequence of documents has its own")
        documents = [d.encode() if isinstance(d, str) else d for d in text]
        lengths = np.array([len(d) for d in documents], dtype=np.int64)
        begin = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        body = b"".join(documents)
    if begin.size and (begin[0] != 0 or (np.diff(begin) < 0).any() or begin[-1] > len(body)):
        raise InputError("`starts` must ascend from 0 and stay within the text")
    unique = sorted(set(wanted))
    number = {s: i for i, s in enumerate(unique)}
    trie = _Trie(unique)
    counter = _Counter(trie, body, begin, observer)
    counts = counter.count()
    order = np.array([number[s] for s in wanted], dtype=np.int64)
    return EideticCounts(counts[0][order], counts[1][order])


class _Table:
    """An exact map from (node, word) to a number, looked up for whole arrays."""

    def __init__(self, entries: dict[tuple[int, int], int]) -> None:
        nodes = np.array([k[0] for k in entries], dtype=np.int64)
        words = np.array([k[1] for k in entries], dtype=np.uint64)
        values = np.array(list(entries.values()), dtype=np.int64)
        self._multiplier = np.uint64(_MIXERS[0])
        keys = self._mix(nodes, words)
        while np.unique(keys).size < keys.size:  # two entries under one key: mix otherwise
            self._multiplier = np.uint64((int(self._multiplier) * 5 + 2) % 2**64)
            keys = self._mix(nodes, words)
        order = np.argsort(keys)
        self._keys, self._nodes = keys[order], nodes[order]
        self._words, self._values = words[order], values[order]
        self._filter = np.zeros(2**_FILTER_BITS, dtype=np.bool_)
        self._filter[self._slots(keys)] = True

    def _mix(self, nodes: _Indices, words: _Words) -> _Words:
        mixed = (words ^ (nodes.astype(np.uint64) * np.uint64(_MIXERS[1]))) * self._multiplier
        return mixed ^ (mixed >> np.uint64(32))

    @staticmethod
    def _slots(keys: _Words) -> _Words:
        return (keys * np.uint64(_MIXERS[1])) >> np.uint64(64 - _FILTER_BITS)

    def find(self, nodes: _Indices, words: _Words) -> tuple[_Indices, _Indices]:
        """Return the positions of the queries that are in the table, and their numbers."""
        keys = self._mix(nodes, words)
        near = np.flatnonzero(self._filter[self._slots(keys)])
        place = np.searchsorted(self._keys, keys[near])
        np.minimum(place, self._keys.size - 1, out=place)
        same = (self._words[place] == words[near]) & (
            self._nodes[place] == (nodes[near] if nodes.size > 1 else nodes)
        )
        return near[same], self._values[place[same]]


class _Trie:
    """The strings as paths of words; ``steps[k]`` leads from level k to level k + 1."""

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.lengths = np.array([len(s) for s in strings], dtype=np.int64)
        steps: list[dict[tuple[int, int], int]] = []
        tails: list[dict[int, dict[tuple[int, int], int]]] = []
        ends: dict[int, int] = {}
        nodes = 1  # 0 is the root
        for number, string in enumerate(strings):
            node, words, rest = 0, len(string) // 8, len(string) % 8
            while len(steps) <= words:
                steps.append({})
                tails.append({})
            for level in range(words):
                word = int.from_bytes(string[8 * level : 8 * level + 8], "little")
                node_after = steps[level].setdefault((node, word), nodes)
                nodes += node_after == nodes
                node = node_after
            if rest:
                word = int.from_bytes(string[8 * words :], "little")
                tails[words].setdefault(rest, {})[node, word] = number
            else:
                ends[node] = number
        self.steps = [_Table(s) if s else None for s in steps]
        self.tails = [{r: _Table(t) for r, t in level.items()} for level in tails]
        self.ends = np.full(nodes, -1, dtype=np.int64)
        self.ends[list(ends)] = list(ends.values())


class _Counter:
    """One pass over the text."""

    def __init__(self, trie: _Trie, text: bytes, starts: _Indices, observer: Observer) -> None:
        self._trie, self._starts, self._observer = trie, starts, observer
        self._length = len(text)
        longest = int(trie.lengths.max(initial=0))
        # Words are read past the end; what reaches there is dropped by its length.
        self._padding = longest // 8 * 8 + 16
        self._text = np.zeros(self._length + self._padding, dtype=np.uint8)
        self._text[: self._length] = np.frombuffer(text, np.uint8)
        # The end of each document, with its number, for every position: by search, not by table.
        self._ends = np.append(starts[1:], self._length)
        self._spanning = -1
        self._seen = np.zeros(trie.lengths.size, dtype=np.bool_)

    def count(self) -> tuple[_Indices, _Indices]:
        strings = self._trie.lengths.size
        occurrences = np.zeros(strings, dtype=np.int64)
        documents = np.zeros(strings, dtype=np.int64)
        if strings == 0 or self._starts.size == 0:
            return occurrences, documents
        self._observer.start("count strings in the text", self._length)
        for chunk in range(0, self._length, _CHUNK):
            stop = min(chunk + _CHUNK, self._length)
            parts = [self._walk(chunk, stop, shift) for shift in range(8)]
            which = np.concatenate([p[0] for p in parts])
            where = np.concatenate([p[1] for p in parts])
            document = np.searchsorted(self._starts, where, side="right") - 1
            inside = where + self._trie.lengths[which] <= self._ends[document]
            which, document = which[inside], document[inside]
            occurrences += np.bincount(which, minlength=strings)
            documents += self._new_documents(which, document, stop)
            self._observer.advance(stop - chunk)
        self._observer.finish()
        return occurrences, documents

    def _walk(self, chunk: int, stop: int, shift: int) -> tuple[_Indices, _Indices]:
        """Return (string, position) of every match that starts in the chunk at this alignment."""
        trie = self._trie
        view = self._text[chunk + shift : stop + self._padding - (8 - shift)]
        words: _Words = view[: view.size // 8 * 8].view("<u8")
        count = max(0, -(-(stop - chunk - shift) // 8))
        at: _Indices = np.arange(count)
        node: _Indices = np.zeros(1, dtype=np.int64)  # the root, for all of them
        matches: list[tuple[_Indices, _Indices]] = []
        for level, (step, tails) in enumerate(zip(trie.steps, trie.tails, strict=True)):
            here = words[level : level + count] if level == 0 else words[at + level]
            for rest, table in tails.items():
                hit, number = table.find(node, here & _MASKS[rest])
                matches.append((number, at[hit]))
            if step is None:
                break
            hit, node = step.find(node, here)
            at = at[hit]
            if at.size == 0:
                break
            number = trie.ends[node]
            ending = number >= 0
            matches.append((number[ending], at[ending]))
        which = np.concatenate([f[0] for f in matches]) if matches else np.zeros(0, dtype=np.int64)
        index = np.concatenate([f[1] for f in matches]) if matches else np.zeros(0, dtype=np.int64)
        return which, chunk + shift + 8 * index

    def _new_documents(self, which: _Indices, document: _Indices, stop: int) -> _Indices:
        """Count pairs of string and document that no earlier chunk counted.

        Only the document in which the chunk begins can have occurred before.
        """
        total = self._starts.size
        pairs = np.unique(which * total + document)
        which, document = pairs // total, pairs % total
        known = (document == self._spanning) & self._seen[which]
        counts = np.bincount(which[~known], minlength=self._seen.size)
        last = int(np.searchsorted(self._starts, stop - 1, side="right") - 1)
        if last != self._spanning:
            self._spanning = last
            self._seen[:] = False
        self._seen[which[document == last]] = True
        return counts
