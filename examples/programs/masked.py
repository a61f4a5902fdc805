"""A masked look-up in the S-box of PRESENT, with a record of what its operations handle.

A line in (a nibble of the key, 0 to 15), a line out: the number of ones in each value that the code
writes, in its order, as a probe on a chip would show it. A fresh mask hides the key's nibble in
each of them; two together give it away. `--flawed` forgets to change the mask at the output.
"""

import secrets
import sys

SBOX = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2]
PLAIN = 0x9
FLAWED = "--flawed" in sys.argv


class Probe:
    """Writes values, and records how many ones they have."""

    def __init__(self):
        self.trace = []

    def write(self, value):
        """Take a value, and note how many ones it has."""
        self.trace.append(value.bit_count())
        return value


def masked_look_up(key, probe):
    """Give S(plain ^ key) ^ mask_out and mask_out, from plain and key ^ mask_in alone."""
    mask_in = probe.write(secrets.randbelow(16))
    mask_out = mask_in if FLAWED else probe.write(secrets.randbelow(16))
    table = [0] * 16
    for x in range(16):
        table[x ^ mask_in] = SBOX[x] ^ mask_out
    hidden = probe.write(key ^ mask_in)
    place = probe.write(PLAIN ^ hidden)
    return probe.write(table[place]), mask_out


for line in sys.stdin:
    key, probe = int(line), Probe()
    value, mask = masked_look_up(key, probe)
    assert value ^ mask == SBOX[PLAIN ^ key]
    print(*probe.trace, sep=",", flush=True)
