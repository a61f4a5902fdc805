"""riskcal: the trade-off curve of the Gaussian mechanism at low false-positive rates."""

from importlib.metadata import version

from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal.analysis import get_beta_from_pld
from scipy.stats import norm

print("riskcal", version("riskcal"), "with dp-accounting", version("dp-accounting"))
print("Gaussian mechanism, sigma 1: false-positive rate, true-positive rate: riskcal's, exact")
gaussian = pld.from_gaussian_mechanism(1.0)
mass = gaussian._pmf_remove.to_dense_pmf()._probs.sum()
for rate in (1e-4, 1e-6, 1e-8, 1e-9, 1e-10):
    found = 1 - get_beta_from_pld(gaussian, alpha=rate)
    truth = norm.cdf(norm.ppf(rate) + 1)
    print(f"  {rate:.0e}: {found:.3e}   {truth:.3e}{'   below chance' if found < rate else ''}")
print(f"sum of the probability masses that it reads: {mass:.10f}")
