"""jax_privacy: the p-value of one-run auditing below the mean, against an explicit mechanism."""

import jax_privacy
import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor, Explicit, _one_run_p_value

print("jax_privacy", jax_privacy.__version__)
p = _one_run_p_value(m=3, n_guess=3, n_correct=1, eps=0.1, delta=0.01)
print(f"3 canaries, 3 guesses, 1 right, epsilon .1, delta .01: p-value {p:.6f}")
print("an (.1, .01)-DP mechanism has 1 or more right with chance 0.900893 (swanberg_failures.py)")
one_right = CanaryScoreAuditor(np.array([1.0]), np.array([1.0, 1.0]))
found = one_right.epsilon_one_run(0.9, 0.01, threshold_strategy=Explicit(0.5))
print(f"epsilon_one_run at significance .9 refutes epsilon below {found:.4f}")
