"""All limits hold at once, each at the level of its share of the error."""

import numpy as np
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.evidence import clopper_pearson, each_confidence, mean_limits
from narcissus.extraction.recovered import Division, TextDocument
from narcissus.report import render_text
from narcissus.study.language.schema import LanguageStudy
from narcissus.study.language.summary import AttackedDocuments, FoundAboutModel, summarised
from narcissus.study.results.language import LanguageResults


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


def test_a_shadow_model_is_a_trial():
    """Four documents in two groups, 19 shadows of which one gives away as many of the second."""
    trained = tuple(TextDocument(str(i), 1 + (i > 1)) for i in range(4))
    fresh = (TextDocument("x"), TextDocument("y", 2))
    by_shadows = np.zeros((19, 4), dtype=bool)
    by_shadows[0, 2:] = by_shadows[1, 0] = True
    recovered = np.array([True, False, True, True])
    attacked = AttackedDocuments(
        "completion", "", trained, fresh, recovered, np.zeros(2, dtype=bool), None,
        by_shadows=tuple(by_shadows),
    )  # fmt: skip
    study = LanguageStudy.model_validate(
        {
            "data": {"documents": "x"},
            "model": {"name": "ngram"},
            "groups": {"least_group": 1},
        }
    )
    division = Division(trained, fresh)
    found = FoundAboutModel("", 1, division, [attacked], {}, {}, (), None, has_reference=False)
    results = summarised(study, found)
    assert results.claims == 3 + 2 * 3  # fresh documents, and two limits of shadows, by group
    level = results.claim_confidence
    whole, once, twice = (group.shadows for group in results.attacks[0].groups)
    assert whole.recovered == (2, 1, *[0] * 17)
    assert (whole.as_many.value, whole.chance) == (0, 1 / 20)
    assert whole.as_many.high == clopper_pearson(0, 19, confidence=level).high
    wanted = mean_limits(np.array(whole.recovered) / 4, confidence=level)
    assert (whole.mean.value, whole.mean.high) == (wanted.value, wanted.high)
    assert (once.chance, twice.chance) == (2 / 20, 2 / 20)
    assert LanguageResults.model_validate_json(results.model_dump_json()) == results
    said = results.model_dump(mode="json")
    said["attacks"][0]["groups"][0]["shadows"]["recovered"][3] = 3
    with pytest.raises(ValidationError, match="does not follow from what each gave away"):
        LanguageResults.model_validate(said, strict=False)


def test_groups_of_few_documents_are_merged(load):
    """Of 30 documents 7 come four times: whether these are printed is about each of them."""
    audit = narcissus.run(load(groups={}))
    for attack in audit.record.results.attacks:
        assert [one.copies for one in attack.groups] == [0]
        assert attack.merged.left_out == ("number of copies",)
    assert "groups by “number of copies” are left out" in " ".join(
        render_text(audit.record).split()
    )
