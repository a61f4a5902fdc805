"""Each attempt to break out is stopped by every kind of walls, and would succeed without them."""

import pytest

from narcissus.extraction._burglars import BURGLARS
from narcissus.extraction._runs import run_once


def test_every_burglar_is_stopped(isolation):
    assert dict(isolation.checks) == {b.name: b.stopped for b in BURGLARS}
    assert len(isolation.checks) == len(BURGLARS)
    assert "seccomp" in isolation.layers


DANGEROUS = ("reads /etc", "lists", "writes", "changes", "makes a link", "empties")


@pytest.mark.parametrize(
    "burglar",
    [b for b in BURGLARS if b.name.startswith(DANGEROUS)],
    ids=lambda b: b.name,
)
def test_the_burglars_are_dangerous_without_walls(burglar, quick):
    """The checks would notice missing walls: unprotected, the same programs break in."""
    run = run_once(burglar.source.encode(), b"the release", quick, "none")
    assert burglar.says not in run.output
