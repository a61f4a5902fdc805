"""Exact answers for small worlds: profiles, best attackers, memorized information."""

from narcissus.profiles.attacker import Bayes
from narcissus.profiles.memorized import memorized_information
from narcissus.profiles.profile import (
    EPSILONS,
    Profile,
    Smallest,
    profile,
    sampled_profile,
    smallest,
)
from narcissus.profiles.write_out import LIMIT, WORK, WrittenOut, write_out

__all__ = [
    "EPSILONS",
    "LIMIT",
    "WORK",
    "Bayes",
    "Profile",
    "Smallest",
    "WrittenOut",
    "memorized_information",
    "profile",
    "sampled_profile",
    "smallest",
    "write_out",
]
