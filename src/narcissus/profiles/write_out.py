"""A small game written out: the exact resilience of a mechanism, against every attacker.

For a release ``y`` (with what the attacker was told) and an attempt ``z``, let
``s(y, z) = Pr[R(S, z) = 1, M(S) = y]`` and ``b(y, z) = Pr[M(S) = y, R(T, z) = 1]``. The mechanism
is (epsilon, delta)-resilient against all attackers if and only if

    delta >= delta(epsilon) = sum_y max(0, max_z [ s(y, z) - e^epsilon b(y, z) ]),

since the best attacker picks the best attempt for each release, or none. For a family, every
distribution is written out; a statement for all is one for the worst.

In a conversation the gain is summed over the answers, which the attacker does not choose, and
maximised over the questions, which it does: the best attacker, of all whose questions may depend on
the answers so far, is found by backward induction. One who stops earlier gains no more than one who
asks on and ignores the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._arrays import TIE, Floats
from narcissus._validation import non_negative, probability
from narcissus.attacks.guess import BestPredicate, BestQuestions, Lookup, Plan
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.knowledge import refine
from narcissus.knowledge.base import Surprisals, is_listed
from narcissus.mechanisms.base import ReleaseChannel, WritesConversations, is_interactive
from narcissus.success.relations.base import matched, table
from narcissus.success.statements import SAME, KeptSurprisal
from narcissus.worlds.base import Batch, Enumeration, key_of
from narcissus.worlds.finite import Finite

Numbers = NDArray[np.int64]

LIMIT = 20_000_000
"""Largest number of (data set, release) pairs that is written out."""

WORK = 20_000_000_000
"""Largest number of (data set, release, guess) triples that is gone through."""

MOST = 30_000
"""Conversations that are written out, whatever the limit: some seconds."""

ROUNDING = 1e-12
"""Rounding allowed where an exact delta is compared with the one of a statement."""


@dataclass(frozen=True)
class Guesses:
    """A block of guesses against all releases, for one value of what the attacker is told."""

    told: int  # index of that value
    guesses: Numbers  # numbers of the guesses, shape (g,)
    success: Floats  # s(y, z), shape (g, Y)
    baseline: Floats  # b(y, z), shape (g, Y)


@dataclass(frozen=True)
class Best:
    """The attacker with the largest gap at an epsilon, updated block by block.

    What each release adds, by what is told, each of shape (Y,).
    """

    epsilon: float
    gain: dict[int, Floats]  # to ``success - e^epsilon baseline``
    success: dict[int, Floats]
    baseline: dict[int, Floats]
    # the best guess, -1 for none; without meaning where attempts join several guesses
    guess: dict[int, Numbers]

    @classmethod
    def nothing(
        cls, epsilon: float, told: Sequence[int], width: int, *, abstain: bool = True
    ) -> Best:
        """Start with the attacker who makes no attempt, or who still has to make one."""
        start = 0.0 if abstain else -math.inf
        return cls(
            epsilon,
            {k: np.full(width, start) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.full(width, -1, dtype=np.int64) for k in told},
        )

    def add(self, block: Guesses, *, additive: bool) -> None:
        k, releases = block.told, np.arange(block.success.shape[1])
        factor = math.exp(self.epsilon)
        value = block.success - factor * block.baseline
        # What gains only by rounding is not attempted, and of equals the first is: which attacker
        # is shown depends on no last digit. The gain is the largest all the same.
        rounding = TIE * (block.success + factor * block.baseline)
        if additive:
            chosen = value > rounding
            self.gain[k][:] += np.maximum(value, 0).sum(axis=0)
            self.success[k][:] += np.where(chosen, block.success, 0).sum(axis=0)
            self.baseline[k][:] += np.where(chosen, block.baseline, 0).sum(axis=0)
            return
        best_gain = self.success[k] - factor * self.baseline[k]
        best_gain[np.isneginf(self.gain[k])] = -np.inf
        block_gain = value.max(axis=0)
        top = np.argmax(value >= block_gain - rounding, axis=0)
        better = np.flatnonzero(block_gain > best_gain + rounding[top, releases])
        chosen = top[better]
        np.maximum(self.gain[k], block_gain, out=self.gain[k])
        self.success[k][better] = block.success[chosen, better]
        self.baseline[k][better] = block.baseline[chosen, better]
        self.guess[k][better] = block.guesses[chosen]

    def asking(self, leaves: Callable[[Floats], NDArray[np.bool_]]) -> Best:
        """Keep, of whole conversations, those to which the best questions lead."""
        masks = {k: leaves(gain) for k, gain in self.gain.items()}

        def only(parts: dict[int, Any], other: float) -> dict[int, Any]:
            return {k: np.where(masks[k], array, other) for k, array in parts.items()}

        gain, success, baseline = only(self.gain, 0.0), only(self.success, 0.0), self.baseline
        return Best(self.epsilon, gain, success, only(baseline, 0.0), only(self.guess, -1))

    @property
    def delta(self) -> float:
        """Total gain of the attacker, at least 0."""
        return max(0.0, _total(self.gain))

    @property
    def rates(self) -> tuple[float, float]:
        """Return its success and its baseline."""
        return _total(self.success), _total(self.baseline)


def _total(parts: dict[int, Floats]) -> float:
    """Sum without rounding: profiles may be as small as 1e-90."""
    return math.fsum(float(x) for part in parts.values() for x in part[part != 0])


_CHUNK = 8_000_000
_KEPT = 10_000_000


@dataclass(frozen=True)
class WrittenOut:
    """A game with all its data sets, releases and guesses."""

    game: Game
    enumeration: Enumeration  # all data sets, split by what the attacker is told
    channel: ReleaseChannel  # all releases, with their probability for each data set
    guesses: Any  # all attempts worth making
    count: int  # number of guesses
    abstain: bool = True  # whether an attacker may make no attempt; membership predicates may
    # records in front whose order counts, where that of all others does not; None: all
    places: int | None = None

    @property
    def additive(self) -> bool:
        """Whether attempts are put together from the guesses (membership predicates)."""
        return bool(getattr(self.game.relation, "additive", False))

    @property
    def pairs(self) -> int:
        """Number of (data set, release) pairs with a probability above 0."""
        return int(self.channel.matrix.nnz)

    @cached_property
    def told(self) -> list[int]:
        """Indices of the values that the attacker may be told."""
        return [int(k) for k in np.unique(self.enumeration.known)]

    @cached_property
    def fixed(self) -> Floats:
        """``Pr[R(T, z) = 1]`` of each guess made without looking, shape (guesses,)."""
        world = self.enumeration
        mean = world.weight @ world.fresh
        looser = self.game.looser or self.game.relation
        parts = [table(looser, world.data, self.guesses, part) @ mean for part in self.parts()]
        return np.concatenate(parts)

    def parts(self) -> Iterator[Numbers]:
        """Yield the numbers of all guesses, in blocks that fit into memory."""
        wide = max(len(self.enumeration.data), self.channel.matrix.shape[1])
        step = max(1, _CHUNK // wide)
        for start in range(0, self.count, step):
            yield np.arange(start, min(self.count, start + step))

    def blocks(self) -> Iterable[Guesses]:
        """Yield all guesses in blocks; a small game keeps them for the next call."""
        if self.count * self.channel.matrix.shape[1] * len(self.told) <= _KEPT:
            return self._kept
        return self._blocks()

    @cached_property
    def _kept(self) -> list[Guesses]:
        return list(self._blocks())

    def _blocks(self) -> Iterator[Guesses]:
        world, matrix = self.enumeration, self.channel.matrix
        game = self.game
        groups = [(k, np.flatnonzero(world.known == k)) for k in self.told]
        joint: dict[int, Any] = {
            k: sparse.diags_array(world.weight[v] @ world.sample[v]) @ matrix for k, v in groups
        }
        if matrix.nnz > 0.1 * matrix.shape[0] * matrix.shape[1]:
            joint = {k: part.toarray() for k, part in joint.items()}  # BLAS is much faster
        released = {k: (world.weight[v, None] * world.sample[v]) @ matrix for k, v in groups}
        criterion, looser = game.kept, game.looser or game.relation
        for part in self.parts():
            holds = table(game.relation, world.data, self.guesses, part)
            again = holds if game.looser is None else table(looser, world.data, self.guesses, part)
            for k, v in groups:
                if criterion is not None:
                    holds = self._counted(game.relation, criterion, part, k)
                    if criterion.of_fresh is not None:
                        again = self._counted(looser, criterion.of_fresh, part, k)
                success = np.asarray(holds @ joint[k])
                baseline = (again @ world.fresh[v].T) @ np.asarray(released[k])
                yield Guesses(k, part, success, baseline)

    @cached_property
    def surprisals(self) -> Surprisals:
        """How surprising each row stays, for each thing that may be told."""
        return Surprisals(self.enumeration, self.game.rows_of(self.enumeration.data))

    def _counted(self, relation: Any, kept: KeptSurprisal, part: Numbers, told: int) -> Floats:
        """Return which guesses recover a row that counts, for one thing told; (guesses, D)."""
        surprisals = self.surprisals
        counts = kept.enough(surprisals.told(told), surprisals.plain)
        rows = (matched(relation, self.enumeration.data, self.guesses, number) for number in part)
        return np.array([(row & counts).any(axis=1) for row in rows], dtype=np.float64)

    def sweep(self, epsilons: Sequence[float]) -> list[Best]:
        """Compute the best attacker at each epsilon, any real numbers, in one pass.

        For membership predicates the maximum over guesses is the sum of what is positive.
        """
        width = self.channel.matrix.shape[1]
        may = self.abstain or self.additive
        attackers = [Best.nothing(epsilon, self.told, width, abstain=may) for epsilon in epsilons]
        for block in self.blocks():
            for best in attackers:
                best.add(block, additive=self.additive)
        return attackers

    def deltas(self, epsilons: Sequence[float]) -> Floats:
        """Compute ``delta(epsilon)`` at each epsilon, any real numbers."""
        return np.asarray([best.delta for best in self.sweep(epsilons)])

    def delta(self, epsilon: float) -> float:
        """Compute ``delta(epsilon)``, the smallest delta with which the mechanism is resilient."""
        return float(self.deltas([non_negative("epsilon", epsilon)])[0])

    def epsilon(self, delta: float) -> float:
        """Compute the smallest epsilon with ``delta(epsilon) <= delta``; infinite if none has."""
        probability("delta", delta)
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
            if high > 700:
                return math.inf
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high

    def best(self, epsilon: float) -> list[tuple[int, int, int, float]]:
        """Return the best attempt for each release: (told, release, guess or -1, gain)."""
        best = self.sweep([epsilon])[0]
        return [
            (k, y, int(best.guess[k][y]), float(best.gain[k][y]))
            for k in self.told
            for y in range(len(best.gain[k]))
        ]

    def attacker(self, epsilon: float) -> Any:
        """Return the best attacker at an epsilon, ready to play."""
        if getattr(self.game.side, "whole", False) and not isinstance(self.game.world, Finite):
            raise InputError(
                "the best attacker who is told `nature` cannot be played here; ask for the exact "
                "answer alone, which is about that attacker"
            )
        keys = [key_of(release) for release in self.channel.releases]
        label_keys = {k: key_of(self.enumeration.labels[k]) for k in self.told}
        if not self.additive:
            entries = self.best(epsilon)
            return Lookup(
                self.guesses, {(label_keys[k], keys[y]): z for k, y, z, _ in entries if z >= 0}
            )
        factor = math.exp(epsilon)
        masks: dict[Any, NDArray[np.bool_]] = {}
        for block in self.blocks():
            gains = block.success > factor * block.baseline
            for y, key in enumerate(keys):
                mask = masks.setdefault(
                    (label_keys[block.told], key), np.zeros(self.count, dtype=bool)
                )
                mask[block.guesses] = gains[:, y]
        return BestPredicate(self.guesses, masks)

    def rates(self, epsilon: float) -> tuple[float, float]:
        """Compute exact success and baseline of the attacker with the largest gap at an epsilon.

        At ``-math.inf`` the baseline counts for nothing: the success is the largest there is.
        """
        return self.sweep([epsilon])[0].rates

    def robust(self, epsilon: float) -> tuple[float, float]:
        """Compute the exact least ``delta`` of the fixed baseline at an epsilon, and that baseline.

        Cohen et al. 2024, Definition 1.4: best success with the release, less ``e^epsilon`` times
        the best fixed guess.
        """
        best = float(self.fixed.max(initial=0.0))
        return max(0.0, self._largest_success() - math.exp(epsilon) * best), best

    def _largest_success(self) -> float:
        return self.light(np.zeros(self.count), 0.0)

    def beyond(self, tau: float) -> float:
        """Compute the exact least ``epsilon`` of the threshold baseline (Definition 1.5)."""
        return self.light(self.fixed, tau)

    def light(self, weights: Floats, limit: float) -> float:
        """Compute the best success of attempts whose weight is at most a limit."""
        top: dict[int, Floats] = {}
        for block in self.blocks():
            allowed = weights[block.guesses] <= limit * (1 + SAME)
            if not allowed.any():
                continue
            now = top.setdefault(block.told, np.zeros(block.success.shape[1]))
            np.maximum(now, block.success[allowed].max(axis=0), out=now)
        return math.fsum(float(x) for values in top.values() for x in values)


@dataclass
class _Heard:
    """A node of the tree: the questions that may follow, or the conversation's number."""

    leaf: int = -1
    asks: list[tuple[Any, list[tuple[Any, _Heard]]]] = field(
        default_factory=list[tuple[Any, list[tuple[Any, Any]]]]
    )


@dataclass(frozen=True)
class Tree:
    """All conversations with a mechanism about a list of data sets."""

    # a release is a whole conversation, questions with answers; the chance is that of the answers
    channel: ReleaseChannel
    _root: _Heard

    def best_leaves(self, gain: Floats) -> NDArray[np.bool_]:
        """Return which conversations the best questions lead to, given the gain of each."""
        mask = np.zeros(len(gain), dtype=bool)
        mask[_value(self._root, gain)[1]] = True
        return mask

    def plan(self, gain: Floats, guess: Numbers) -> Plan:
        """Return the best questions as a plan, with the attempt at the end of each conversation."""
        return _plan(self._root, gain, guess)


def _value(heard: _Heard, gain: Floats) -> tuple[float, list[int]]:
    """Return the largest gain from here on, and the conversations that it comes from."""
    if heard.leaf >= 0:
        return float(gain[heard.leaf]), [heard.leaf]
    best, leaves = -np.inf, list[int]()
    for _, answers in heard.asks:
        parts = [_value(after, gain) for _, after in answers]
        value = sum(part for part, _ in parts)
        if value > best:
            best, leaves = value, [leaf for _, some in parts for leaf in some]
    return best, leaves


def _plan(heard: _Heard, gain: Floats, guess: Numbers) -> Plan:
    if heard.leaf >= 0:
        return Plan(None, {}, int(guess[heard.leaf]))
    values = [sum(_value(after, gain)[0] for _, after in answers) for _, answers in heard.asks]
    question, answers = heard.asks[int(np.argmax(values))]
    return Plan(question, {key_of(answer): _plan(after, gain, guess) for answer, after in answers})


def conversations(mechanism: WritesConversations, data: Batch, limit: int) -> Tree:
    """Write out every conversation about data sets, at most ``limit`` pairs of both."""
    releases: list[tuple[Any, ...]] = []
    rows: list[Floats] = []
    room = min(MOST, limit // len(data))

    def grow(weights: Floats, asked: tuple[tuple[Any, Any], ...]) -> _Heard:
        questions = mechanism.worth_asking(data, asked)
        if not len(questions):
            if len(rows) >= room:
                raise TooLargeError(
                    f"there are more than {room:,} conversations about {len(data):,} data sets, "
                    "too many to write out: allow fewer questions, make the world smaller, or play "
                    "the game instead"
                )
            rows.append(weights.sum(axis=1))
            releases.append(asked)
            return _Heard(len(rows) - 1)
        heard = _Heard()
        for question in questions:
            after = [
                (answer, grow(left, (*asked, (question, answer))))
                for answer, left in mechanism.advance(weights, data, question)
                if left.any()
            ]
            heard.asks.append((question, after))
        return heard

    root = grow(mechanism.begin(data), ())
    matrix = sparse.csr_array(np.array(rows).T)
    return Tree(ReleaseChannel(releases, matrix), root)


@dataclass(frozen=True)
class WrittenConversations(WrittenOut):
    """A game of conversations written out, with every question allowed after every answer.

    The best attacker asks, after each answer, the question with the largest gain.
    """

    tree: Any = None  # a `Tree`; what comes before has defaults

    def sweep(self, epsilons: Sequence[float]) -> list[Best]:
        """Compute the best attacker at each epsilon, asking only the best question at each node."""
        return [best.asking(self.tree.best_leaves) for best in super().sweep(epsilons)]

    def best(self, epsilon: float) -> list[tuple[int, int, int, float]]:
        """Return the best attacker's attempts, for conversations in which it makes one."""
        return [entry for entry in super().best(epsilon) if entry[2] >= 0]

    def _largest_success(self) -> float:
        return self.rates(-math.inf)[0]

    def light(self, weights: Floats, limit: float) -> float:
        allowed = weights <= limit * (1 + SAME)
        best = Best.nothing(-math.inf, self.told, self.channel.matrix.shape[1])
        for block in self.blocks():
            mask = allowed[block.guesses]
            if mask.any():
                some = (block.guesses[mask], block.success[mask], block.baseline[mask])
                best.add(Guesses(block.told, *some), additive=False)
        return best.asking(self.tree.best_leaves).rates[0]

    def attacker(self, epsilon: float) -> Any:
        best = self.sweep([epsilon])[0]
        label_numbers = {key_of(self.enumeration.labels[k]): k for k in self.told}
        plans = {
            key: self.tree.plan(best.gain[k], best.guess[k]) for key, k in label_numbers.items()
        }
        return BestQuestions(self.guesses, plans)


def write_out(
    game: Game, *, limit: int = LIMIT, work: int = WORK, abstain: bool = True
) -> WrittenOut:
    """Write a small game out.

    game: World, mechanism and relation can be written out, and the world is one distribution.
    limit: Largest number of (data set, release) pairs.
    work: Largest number of (data set, release, guess) triples.
    abstain: Whether an attacker may make no attempt.

    """
    exact = written(game.single("an exact answer"), limit=limit, work=work, abstain=abstain)
    require_true([exact])
    return exact


def require_true(written: Iterable[WrittenOut]) -> None:
    """Refuse a relation that holds for no data set and no attempt in any of the games."""
    name = ""
    for exact in written:
        if any(block.success.any() or block.baseline.any() for block in exact.blocks()):
            return
        name = type(exact.game.relation).__name__
    raise InputError(f"the relation {name} is never true, of any data set and attempt")


def written(game: Game, *, limit: int, work: int, abstain: bool) -> WrittenOut:
    """Write a game out, whether or not its relation ever holds; see `write_out`."""
    talks = is_interactive(game.mechanism)
    needs = {
        "world": "enumerate",
        "mechanism": "advance" if talks else "channel",
        "relation": "guesses",
    }
    for name, method in needs.items():
        part = getattr(game, name)
        if not hasattr(part, method):
            raise InputError(
                f"the {name} {type(part).__name__} cannot be written out for an exact answer; "
                "play the game instead"
            )
    if game.surprisal is not None and not is_listed(game.world, game.side):
        raise InputError("surprisal has no exact answer here; play the game instead")
    enumeration, places = _enumerate(game, limit)
    outcomes = getattr(game.mechanism, "outcomes", None)
    each = 1 if outcomes is None else outcomes((*np.shape(enumeration.data), 1)[1])
    _fits(
        len(enumeration.data) * each,
        limit,
        f"{len(enumeration.data):,} data sets with up to {amount(each)} releases each",
    )
    enumeration = refine(enumeration, game.side)
    tree = conversations(game.mechanism, enumeration.data, limit) if talks else None
    channel = game.mechanism.channel(enumeration.data) if tree is None else tree.channel
    how = {} if places is None else {"lumped": True}
    guesses = game.relation.guesses(enumeration.data, **how)
    count = len(guesses)
    label_count = len(np.unique(enumeration.known))
    if count * max(4 * channel.matrix.shape[1], int(channel.matrix.nnz)) * label_count > work:
        raise TooLargeError(
            f"an exact answer would go through {count:,} guesses for each of "
            f"{channel.matrix.shape[1]:,} releases and {channel.matrix.nnz:,} pairs of data set "
            "and release; play the game instead"
        )
    written_out = (game, enumeration, channel, guesses, count, abstain, places)
    return WrittenOut(*written_out) if tree is None else WrittenConversations(*written_out, tree)


def _enumerate(game: Game, limit: int) -> tuple[Enumeration, int | None]:
    """Write out the data sets; up to their order after the first few, if only these matter."""
    places = getattr(game.relation, "coordinates", None)
    if (
        places is not None
        and game.side is None
        and game.looser is None
        and getattr(game.mechanism, "exchangeable", False)
        and hasattr(game.world, "lumped")
        and places <= 30  # before the power is taken, which has as many bits
        and 2**places * game.world.n * game.world.n <= 400_000_000
    ):
        enumeration = game.world.lumped(places)
        if enumeration is not None:
            return enumeration, places
    size = game.world.count()
    _fits(size, limit, f"{amount(size)} data sets")
    return game.world.enumerate(), None


def amount(size: int) -> str:
    """Format a count, which may have thousands of digits."""
    return f"{size:,}" if size < 10**15 else f"about 10^{math.log10(size):.0f}"


def _fits(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise TooLargeError(
            f"the exact answer would write out {what}, {amount(size)} pairs; at most {limit:,} "
            "are. Make the world smaller, or ask for an estimate by sampling (`sampled_profile`; "
            "on the command line, `--sample`)"
        )


_SAID = {
    "world": "the user's world `{}` draws what it lists, as often as it says",
    "mechanism": "the user's mechanism `{}` releases as its channel says",
    "relation": "the user's relation `{}` lists every attempt worth making",
    "looser": "the user's relation `{}` lists every attempt worth making",
    "side": "the user's side information `{}` depends on the data set alone",
}


def number(delta: float, spec: str = ".6g") -> str:
    """Format an exact delta; 0 may be for a lost positive one, and is not written as 0.

    `ROUNDING` exceeds chances below 1e-308, and a gain lost between numbers equal in all digits.
    """
    return format(delta, spec) if delta else f"<{ROUNDING:g}"


@dataclass(frozen=True)
class Worst:
    """The distribution of a family on which some attacker has the largest gap."""

    member: str  # its name; empty where there is only one distribution
    exact: WrittenOut  # its game, written out
    best: Best  # its best attacker


@dataclass(frozen=True)
class WrittenFamily:
    """The games of all distributions of a family, written out, or of a single distribution."""

    members: dict[str, WrittenOut]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answers assume about parts of the user's own."""
        premises: list[str] = []
        for name, text in _SAID.items():
            for part in (getattr(member.game, name) for member in self.members.values()):
                if is_own(part):
                    function = getattr(part, "function", part)
                    premises.append(
                        text.format(getattr(function, "__name__", type(function).__name__))
                    )
        if any(not member.abstain and not member.additive for member in self.members.values()):
            premises.append("every attacker makes an attempt, as `abstain` says")
        return tuple(dict.fromkeys(premises))

    def worst(self, epsilons: Sequence[float]) -> list[Worst]:
        """Find the worst distribution at each epsilon; the first among equals.

        At ``-math.inf`` the baseline counts for nothing: the success is the largest there is.
        """
        cases: list[Worst] = []
        for name, exact in self.members.items():
            for place, best in enumerate(exact.sweep(epsilons)):
                case = Worst(name, exact, best)
                if place == len(cases):
                    cases.append(case)
                elif best.delta > cases[place].best.delta:
                    cases[place] = case
        return cases

    def sizes(self) -> dict[str, int]:
        """Count what was written out: all data sets, most releases and guesses of a member."""
        members = self.members.values()
        return {
            "data_sets": sum(len(exact.enumeration.data) for exact in members),
            "releases": max(int(exact.channel.matrix.shape[1]) for exact in members),
            "guesses": max(exact.count for exact in members),
        }

    def delta(self, epsilon: float) -> float:
        """Compute the smallest delta with which the mechanism is resilient for every member."""
        return max(exact.delta(epsilon) for exact in self.members.values())

    def epsilon(self, delta: float) -> float:
        """Compute the smallest epsilon with delta enough for every member; infinite if none is."""
        return max(exact.epsilon(delta) for exact in self.members.values())


def write_out_family(
    game: Game, *, limit: int = LIMIT, work: int = WORK, abstain: bool = True
) -> WrittenFamily:
    """Write out the game of every distribution of its world, a family or one distribution.

    The arguments are as for `write_out`; ``limit`` and ``work`` hold for all of them together.
    """
    members: dict[str, WrittenOut] = {}
    games = game.members()
    pairs = 0
    for name, member in games.items():
        members[name] = written(member, limit=limit, work=work // len(games), abstain=abstain)
        pairs += members[name].pairs
        if pairs > limit:
            raise TooLargeError(
                f"the first {len(members)} of {len(games)} distributions of the family "
                f"make more than {limit:,} pairs of data set and release; make the family smaller"
            )
    require_true(members.values())
    return WrittenFamily(members)
