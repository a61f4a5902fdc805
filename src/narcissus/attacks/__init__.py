"""Attacks: what the attacker does with a release."""
