"""What a channel in closed form offers, and the limits of its matrix."""

from __future__ import annotations

from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import ClosedForm
from narcissus.channels.local_dp import local_dp_delta, local_dp_epsilon
from narcissus.channels.measures import bayes_risk, capacity
from narcissus.errors import TooLargeError

MOST_ENTRIES = 150_000_000


def check_size(secrets: float, outputs: float) -> None:
    """Refuse a matrix of more than 150 million entries, with its size."""
    secrets, outputs = float(secrets), float(outputs)  # whole numbers may be of any size
    if secrets * outputs > MOST_ENTRIES:
        raise TooLargeError(
            f"the channel would have {secrets:.3g} secrets x {outputs:.3g} outputs "
            f"({8 * secrets * outputs / 2**30:.3g} GiB); use the closed form "
            "(`beta_star`, `capacity`, `delta`), which needs no matrix"
        )


class OfMatrix(ClosedForm):
    """A mechanism whose numbers all come from its channel.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    by_matrix = True

    @property
    def beta_star(self) -> float:
        """From the channel."""
        return beta_star(self.channel()).value

    @property
    def pair(self) -> tuple[str, ...]:
        """From the channel."""
        return beta_star(self.channel()).pair

    @property
    def indices(self) -> tuple[int, ...]:
        """From the channel."""
        return beta_star(self.channel()).indices

    @property
    def capacity(self) -> float:
        """From the channel."""
        return capacity(self.channel())

    @property
    def bayes_risk(self) -> float:
        """From the channel, where a risk near 0 keeps its digits."""
        return bayes_risk(self.channel())

    @property
    def local_epsilon(self) -> float:
        """From the channel."""
        return local_dp_epsilon(self.channel())

    def delta(self, epsilon: float) -> float:
        """From the channel."""
        return local_dp_delta(self.channel(), epsilon)


def numbered(count: int) -> tuple[str, ...]:
    """Name secrets 1, 2, 3, ..."""
    return tuple(str(i + 1) for i in range(count))
