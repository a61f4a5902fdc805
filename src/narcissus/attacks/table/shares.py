"""Shares: parts of the types of people, which stay where they are and answer for themselves.

What a posterior needs of the people of a large release are sums over all of them
(`narcissus.attacks.table.dual`). So the types are split into shares; each stays with somebody, who
may be a worker on another machine. A question goes to all of them, with numbers of the cells; the
answers, numbers of the cells as well, are added in the order of the shares. How people are split
depends on their number alone, so that no digit depends on who holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.gathers import Gathers
from narcissus.attacks.table.response import by_the_diagonal, by_the_whole
from narcissus.errors import NarcissusError
from narcissus.knowledge.columns import Targets, Types
from narcissus.mechanisms import TableQueries
from narcissus.success import ColumnsRight

TYPES = 1 << 16
"""Most types of a share."""

BELIEFS = 1 << 21
"""Most types times values of a share: 16 MB of beliefs."""


def shares_of(types: int, values: int) -> int:
    return -(-types // max(1, min(TYPES, BELIEFS // values)))


class Share:
    """Some types of people: what is believed of them, and what they add to the cells.

    Parameters
    ----------
    gathers
        The types and their cells.
    log_prior
        Of each type, shape (types, values).
    number
        Of the share: its probes are drawn by it.
    """

    def __init__(self, gathers: Gathers, log_prior: Floats, number: int = 0) -> None:
        self.gathers = gathers
        self.log_prior = log_prior
        self.terms: Floats | None = None
        self.types = np.zeros((0, 0))
        """What is believed of each type, shape (types, values), since `believe`."""
        self._now = log_prior  # with own terms
        self._raw = self.types  # own terms, not scaled yet
        self._people = gathers.types.people.astype(np.float64)
        self._where: NDArray[np.intp] | slice = slice(None)
        self._rng = np.random.default_rng(number)  # part of the method, not of the trial

    def cells(self) -> NDArray[np.int64]:
        """Return the numbers of the cells that somebody of the share may be in, ascending."""
        return self.gathers.cells

    def among(self, cells: NDArray[np.int64]) -> None:
        """Hear of which cells all vectors are; those that come back are of the share's own."""
        self._where = np.searchsorted(cells, self.gathers.cells)

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return the sum over people of ``log Z``, and the expected counts of the cells."""
        gathers = self.gathers
        raised, sums = gathers.raised(theta[self._where]), gathers.nothing()
        total = 0.0
        for block in range(len(gathers.blocks)):
            belief, log_sum = self._block(block, raised)
            people = self._people[gathers.blocks[block]]
            total += float(people @ log_sum)
            belief *= people[:, None]
            gathers.scatter(block, sums, gathers.summed(belief))
        return total, gathers.lowered(sums)

    def believe(self, theta: Floats) -> tuple[Floats, Floats]:
        """Work out and keep what is believed; give counts of the cells and their variance."""
        gathers = self.gathers
        raised = gathers.raised(theta[self._where])
        sums, squares = gathers.nothing(), gathers.nothing()
        types = np.empty_like(self.log_prior)
        for block, where in enumerate(gathers.blocks):
            types[where], _ = self._block(block, raised)
            people = self._people[where, None]
            parts = gathers.summed(types[where])
            gathers.scatter(block, sums, (people * part for part in parts))
            gathers.scatter(block, squares, (people * part * (1 - part) for part in parts))
        self.types = types
        return gathers.lowered(sums), np.maximum(gathers.lowered(squares), 0.0)

    def curve(self, vector: Floats) -> Floats:
        """Multiply a vector by the covariance of the cells' counts, people being independent."""
        gathers = self.gathers
        raised, sums = gathers.raised(vector[self._where]), gathers.nothing()
        for block, where in enumerate(gathers.blocks):
            belief = self.types[where]
            field = gathers.queries.spread(gathers.gathered(block, raised))
            field = field - np.einsum("tv,tv->t", field, belief)[:, None]
            field *= belief * self._people[where, None]
            gathers.scatter(block, sums, gathers.summed(field))
        return gathers.lowered(sums)

    def probe(self) -> Floats:
        """Draw normal errors of the cells' counts with the covariance that beliefs give them."""
        gathers = self.gathers
        sums = gathers.nothing()
        for block, where in enumerate(gathers.blocks):
            belief = self.types[where]
            root = np.sqrt(belief)
            draw = root * self._rng.standard_normal(belief.shape)
            draw -= belief * draw.sum(axis=1, keepdims=True)
            draw *= np.sqrt(self._people[where, None])
            gathers.scatter(block, sums, gathers.summed(draw))
        return gathers.lowered(sums)

    def respond(self, curvature: Floats, whole: bool) -> None:
        """Work out the own terms, by the whole matrix or by its diagonal; `correct` adds them.

        curvature: the variance of the noise, shape (cells,); for the diagonal that of the counts
            besides.
        whole: whether by the whole matrix; all types must be of this share.
        """
        response = by_the_whole if whole else by_the_diagonal
        self._raw = response(self.gathers, self.types, curvature[self._where])

    def correct(self, factor: float) -> float:
        """Add the own terms so many times; give by how much that moves people, in nats in all."""
        terms = -0.5 * (self._raw * factor)
        change = terms if self.terms is None else terms - self.terms
        self.terms, self._now = terms, self.log_prior + terms
        mean = np.einsum("tv,tv->t", self.types, change)
        moved = np.einsum("tv,tv->t", self.types, np.abs(change - mean[:, None]))
        return float((moved * self._people).sum())

    def result(self) -> Floats:
        """Return what is believed of each type, shape (types, values)."""
        return self.types

    def _block(self, block: int, raised: list[Floats]) -> tuple[Floats, Floats]:
        """Return the beliefs of a block's types, and the logarithms of their sums."""
        gathers = self.gathers
        logits = gathers.queries.spread(gathers.gathered(block, raised))
        logits += self._now[gathers.blocks[block]]
        top = _largest(logits)
        logits -= top[:, None]
        np.exp(logits, out=logits)
        total = logits @ np.ones(logits.shape[1])
        logits *= (1 / total)[:, None]
        return logits, np.log(total) + top


def _largest(logits: Floats) -> Floats:
    """Return the largest of each row; of few columns faster than NumPy's own."""
    if logits.shape[1] > 32:
        return logits.max(axis=1)
    top = logits[:, 0].copy()
    for column in logits.T[1:]:
        np.maximum(top, column, out=top)
    return top


@dataclass(frozen=True, eq=False)
class ShareOf:
    """Makes a share, wherever that is: what is known of its types, in the order of them."""

    queries: TableQueries
    success: ColumnsRight
    codes: NDArray[np.int32]
    prior: Floats
    people: NDArray[np.intp]
    number: int

    def __call__(self) -> Share:
        every = np.arange(len(self.people))
        gathers = Gathers(
            Targets(self.queries, self.codes, self.prior, self.success),
            Types(every, every, self.people),
        )
        with np.errstate(divide="ignore"):
            return Share(gathers, np.log(self.prior), self.number)


class HeldShares(Protocol):
    """Things that are held somewhere and answer questions, each by a method of its own."""

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes nothing; give the answers in order."""
        ...

    def tell(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes what is held; give the answers in order."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


class Holder(Protocol):
    """Holds things that it is told how to make."""

    def hold(self, makers: Sequence[Callable[[], Any]]) -> HeldShares: ...


class HeldHere:
    """Things held in this process."""

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self.things = [make() for make in makers]

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method; give the answers in order."""
        return [getattr(thing, name)(*arguments) for thing in self.things]

    tell = ask

    def close(self) -> None:
        """Let go of them."""
        self.things.clear()


_holder: ContextVar[Holder | None] = ContextVar("holder", default=None)


@contextmanager
def holding(holder: Holder) -> Generator[None]:
    """Have the shares of large releases held by somebody, within the block."""
    before = _holder.set(holder)
    try:
        yield
    finally:
        _holder.reset(before)


class Shares:
    """All types of people, share by share.

    Attributes
    ----------
    cells
        The numbers of the cells within somebody's reach, in the order of all vectors over cells.
    people
        How many people there are.
    size
        Types times values.
    """

    def __init__(self, held: HeldShares, people: int, size: int) -> None:
        self.people, self.size = people, size
        self._held = held
        own = held.ask("cells")
        self.cells: NDArray[np.int64] = own[0] if len(own) == 1 else np.unique(np.concatenate(own))
        self._places = [np.searchsorted(self.cells, cells) for cells in own]
        if len(own) > 1:
            held.tell("among", self.cells)

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Ask each share; give the answers in order."""
        return self._held.ask(name, *arguments)

    def tell(self, name: str, *arguments: Any) -> list[Any]:
        """Ask what changes the shares; give the answers in order."""
        return self._held.tell(name, *arguments)

    def added(self, answers: Sequence[Floats]) -> Floats:
        """Add numbers of the shares' own cells, in the order of the shares: shape (cells,)."""
        total = np.zeros(len(self.cells))
        for place, answer in zip(self._places, answers, strict=True):
            total[place] += answer
        return total


@contextmanager
def split(targets: Targets) -> Generator[Shares]:
    """Have everybody held in shares: here if they are few, else by whoever holds them now."""
    types, (people, values) = targets.types, targets.prior.shape
    number = shares_of(types.number, values)
    edges = [types.number * place // number for place in range(number + 1)]
    holder = _holder.get() if number > 1 else None
    makers = [_maker(targets, *pair, n) for n, pair in enumerate(pairwise(edges))]
    held = HeldHere(makers) if holder is None else holder.hold(makers)
    try:
        yield Shares(held, people, types.number * values)
    except NarcissusError:  # nobody may be left to let go
        raise
    except Exception:
        held.close()
        raise
    held.close()


def _maker(targets: Targets, begin: int, end: int, number: int) -> ShareOf:
    first = targets.types.first[begin:end]
    people = targets.types.people[begin:end]
    codes, prior = targets.codes[first], targets.prior[first]
    return ShareOf(targets.queries, targets.success, codes, prior, people, number)
