"""How long a comparison takes: a password is compared with the attacker's guess, byte by byte.

A line in (the password), a line out (nanoseconds, the median of five comparisons). `--safe` takes
the standard library's comparison, which looks at all bytes whatever they are.
"""

import hmac
import statistics
import sys
import time

GUESS = "correct horse battery staple"


def early_exit(one, other):
    """Stop at the first byte that differs."""
    if len(one) != len(other):
        return False
    place = 0
    while place < len(one) and one[place] == other[place]:
        place += 1
    return place == len(one)


compare = hmac.compare_digest if "--safe" in sys.argv else early_exit
guess = GUESS.encode()
for line in sys.stdin:
    password = line.rstrip("\n").ljust(len(GUESS), ".").encode()
    times = []
    for _ in range(5):
        began = time.perf_counter_ns()
        compare(password, guess)
        times.append(time.perf_counter_ns() - began)
    print(round(statistics.median(times)), flush=True)
