"""The first looks at samples are the estimate of the rest."""

import pytest

from narcissus.errors import LongWorkError
from narcissus.observer import SilentObserver
from narcissus.study.channel import kind
from narcissus.study.channel.kind import Looks
from narcissus.study.kinds import RunOptions


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.mark.parametrize(("hours", "raises"), [(63 / 3600 - 1e-6, True), (63 / 3600, False)])
def test_the_first_look_that_takes_time_decides(monkeypatch, hours, raises):
    """Six looks of 1 ms, 1, 2, 4, 8 and 16 seconds; then of 62 with the first that shows."""
    clock = Clock()
    monkeypatch.setattr(kind, "time", clock)
    looks = Looks(RunOptions(1, SilentObserver(), hours=hours))
    looks.start("sample sizes", 7)
    clock.now += 0.001
    looks.advance()
    clock.now += 63 / 62
    if raises:
        with pytest.raises(LongWorkError, match="about 63 seconds of work: 5 looks"):
            looks.advance()
        return
    looks.advance()
    clock.now += 1e6  # decided once: what is nearly done is not given up
    looks.advance()
    looks.finish()
