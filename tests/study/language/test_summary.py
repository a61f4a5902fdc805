"""All limits hold at once, each at the level of its share of the error."""

import pytest

from narcissus.evidence import clopper_pearson, each_confidence


def test_every_limit_is_a_claim(audit):
    results = audit.record.results
    groups = [group for one in results.attacks for group in one.groups]
    limits = [one for g in groups for one in (g.fresh, g.reference) if one is not None]
    limits += [one.above for one in results.membership]
    told = sum(len(one.rates) for one in results.membership)
    assert results.claims == len(limits) + told + len(results.canaries)
    assert results.claim_confidence == each_confidence(0.95, results.claims)
    assert {one.confidence for one in limits} == {results.claim_confidence}


def test_limits_are_those_of_the_counts(audit):
    whole = audit.record.results.attacks[0].whole
    fresh = whole.fresh
    wanted = clopper_pearson(
        round(fresh.value * fresh.trials), fresh.trials, confidence=fresh.confidence
    )
    assert (fresh.low, fresh.high) == (wanted.low, wanted.high)
    assert fresh.trials == audit.record.results.fresh
    assert whole.gain.low == pytest.approx(whole.share - fresh.high)
