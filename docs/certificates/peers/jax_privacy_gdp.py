"""jax_privacy: epsilon_from_gdp on scores that tell nothing of membership."""

import jax_privacy
import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor, _clopper_pearson_upper
from scipy.stats import norm

print("jax_privacy", jax_privacy.__version__)
print("members 1/2, 3/2, .., n - 1/2, others 0, 1, .., n - 1; significance .05, delta 1e-5")
for n in (20, 100, 1000):
    mixed = CanaryScoreAuditor(np.arange(n) + 0.5, np.arange(n))
    print(
        f"  n {n}: epsilon_from_gdp {mixed.epsilon_from_gdp(0.05, 1e-5):.3f}"
        f"   epsilon_clopper_pearson {mixed.epsilon_clopper_pearson(0.05, 1e-5):.3f}"
    )
rng = np.random.default_rng(1)
above = [
    CanaryScoreAuditor(rng.normal(size=100), rng.normal(size=100)).epsilon_from_gdp(0.05, 1e-5)
    for _ in range(200)
]
over = np.mean(np.array(above) > 0)
print(f"  200 audits of pure noise, n 100: above 0 in {over:.3f} (a lower limit: at most .05)")
print(f"  their median: {np.median(above):.2f}, where the truth is 0")


def with_the_sign(auditor, significance=0.05):
    """The largest mu of the same limits where both upper limits sum to less than one."""
    members, others = auditor._fn_counts[-1], auditor._tn_counts[-1]
    share = significance / (2 * len(auditor._fn_counts))
    fnr = _clopper_pearson_upper(auditor._fn_counts, members, share)
    fpr = _clopper_pearson_upper(others - auditor._tn_counts, others, share)
    return max(0.0, float(np.max(norm.isf(fpr) - norm.ppf(fnr))))


rng = np.random.default_rng(1)
signed = [
    with_the_sign(CanaryScoreAuditor(rng.normal(size=100), rng.normal(size=100)))
    for _ in range(200)
]
print(f"  the same limits, mu with its sign: above 0 in {np.mean(np.array(signed) > 0):.3f}")
