"""Ask the theorem of union.py, and all shipped ones."""

from union import UNION

from narcissus.bounds import bounds_on, threat
from narcissus.guarantees import ApproximateDP, GaussianDP

ten = threat(prior=0.01, targets=10)
asked = UNION.bound(ten, ApproximateDP(1.0, 1e-3), 2)
assert round(asked.value, 6) == 0.140914
assert "needs a guarantee" in UNION.bound(ten, GaussianDP(1.0), 2).reason
known = bounds_on(ten, ApproximateDP(1.0, 1e-3), 2)
