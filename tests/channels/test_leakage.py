"""How estimates are printed."""

import pytest

from narcissus.channels.leakage import LeakageEstimate
from narcissus.results import Estimate


@pytest.mark.parametrize(
    ("low", "high", "printed", "least"),
    [
        (0.123449, 0.234501, "0.1234 to 0.2346", "88.2"),  # 100 - 50 * 0.234501 = 88.27
        (None, 0.3, "no limit to 0.3000", "85.0"),
        (0.12999, None, "0.1299 to no limit", "50.0"),
    ],
)
def test_printed_limits_still_hold(low, high, printed, least):
    beta = Estimate(0.2, low, high, 0.95, 1000)
    risk = Estimate(0.4, 0.39999, 0.40001, 0.95, 1000)
    said = str(
        LeakageEstimate(
            beta, risk, 0.5, ("a", "b"), 2, 1000, 0.95, {"nearest": 0.4}, "nearest", False, ()
        )
    )
    assert f"limits {printed}" in said
    assert f"right in at least {least} of 100 attempts" in said
    assert "limits 0.3999 to 0.4001" in said
