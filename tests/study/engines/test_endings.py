"""Why a process ended, in words."""

import pytest

from narcissus.study.engines import endings


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (3, 4, "memory ran out: use fewer --workers"),
        (3, 3, "not for want of memory"),
        (None, None, "cannot be told"),
    ],
)
def test_the_kernel_is_asked_about_memory(before, after, says):
    assert says in endings.how_it_ended(-9, before, after)


def test_counts_of_the_kernel_are_read():
    count = endings.oom_kills()
    assert count is None or count >= 0
