"""The error of a study is divided among all of its limits: many claims, all at the edge."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import narcissus
from narcissus.counts import TablesGame, WantedSecret
from narcissus.counts import game as tables
from narcissus.game.loop import BlockScores
from narcissus.judgement import JudgedCriterion
from narcissus.kinds.engine import Kind
from narcissus.kinds.secrets.kind import KIND as SECRETS
from narcissus.observer import SILENT
from narcissus.study.kinds import KINDS, OF_PAPERS, RunOptions
from narcissus.study.reading import read_record
from narcissus.study.registry import loaded
from narcissus.success.statements import Scores

STUDIES = Path(__file__).parents[1] / "study"
KEPT = sorted([*STUDIES.glob("kept/*.json"), *STUDIES.glob("records/last/*.json")])
KEPT = [path for path in KEPT if path.stem not in OF_PAPERS.keys() - KINDS.keys()]
AT_EACH_SETTING = {"table"}
"""Kinds whose claims are tested in sequence: each has the whole error."""
OLDER = {"samples"}
"""Records of an older rule, by which each of two numbers had the whole error."""


def spent(kind, findings):
    """Return the error that is spent on all limits by which criteria are judged, together."""
    rows = {
        id(row): row.quantity
        for judged in kind.conclude(findings).each
        if isinstance(judged, JudgedCriterion)
        for row in (*judged.attacks, *judged.measures)
        if not row.quantity.grade.startswith("proved")
    }
    return sum(1 - found.confidence for found in rows.values() if found.confidence is not None)


def require_divided(kind, findings):
    error = 1 - kind.confidence(findings.result)
    claims = getattr(findings.result, "claims", None)
    assert spent(kind, findings) <= error + 1e-9
    if claims is not None:
        assert claims * (1 - findings.result.claim_confidence) <= error + 1e-9


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_kept_records_spend_no_more_than_their_error(path):
    record = read_record(path)
    kind = loaded(KINDS[record.kind])
    if (
        path.stem in OLDER
        or record.kind in AT_EACH_SETTING
        or kind.confidence(record.result) is None
    ):
        return
    require_divided(kind, kind.found(record.criteria, record.result))


def test_every_kind_has_a_kept_record_or_is_named():
    assert {read_record(path).kind for path in KEPT} | AT_EACH_SETTING == set(KINDS)


# Played anew: what is kept does not change with the code


MODELS = 300


def secrets_at(hits):
    """Judge a study of eight settings and two attacks, each of which named so many secrets."""
    study = narcissus.load_study(
        {
            "kind": "secrets",
            "prior": [{"name": "uniform", "n": 4}, {"name": "zipf", "n": 4}],
            "mechanism": {"name": "ngram-dp-sgd", "epsilon": [0.5, 1.0, 2.0, 8.0], "steps": 2},
            "attacks": {"argmax": {}, "ranking": {}},
            "threshold": {"success": 0.5},
            "run": {"models": MODELS, "seed": 1},
        }
    ).settings
    work = SECRETS.prepare(study, Path(), RunOptions(0, SILENT))

    def blocks(won):
        scores = Scores(
            np.arange(MODELS) < won, np.full(MODELS, 0.25), 0, np.zeros(MODELS),
            np.ones(MODELS, dtype=bool),
        )  # fmt: skip
        return [BlockScores(scores, 0, [])]

    scored = [{name: blocks(hits) for name in ("argmax", "ranking")} for _ in work.scenarios]
    return SECRETS.measured(work, scored)


def test_secrets_at_the_edge_of_every_setting_are_exceeded_only_by_all_limits_together():
    """The most hits that 16 limits at once leave open: one alone would refute a half already."""
    family = 16
    chance = 0.05 / 2 / family
    edge = int(stats.binom.isf(chance, MODELS, 0.5))  # that many or fewer are left open
    assert stats.binom.sf(edge - 1, MODELS, 0.5) < 0.025  # and alone they would not be
    findings = secrets_at(edge)
    require_divided(SECRETS, findings)
    levels = [row.quantity.confidence for row in findings.select(role="attack")]
    assert levels == pytest.approx([1 - 0.05 / family] * family)
    assert SECRETS.conclude(findings).status != "exceeded"
    assert SECRETS.conclude(secrets_at(edge + 1)).status == "exceeded"


def test_limits_of_published_tables_share_one_error():
    """Three limits of each attack: with people, without them, and the difference."""
    people = pd.DataFrame({"name": list("abcd" * 3), "ill": ["no", "yes", "no"] * 4})
    task = WantedSecret("ill", ("name",))
    wanted = TablesGame(people, lambda some, rng: [], task, left_out=0.25)
    rng = np.random.default_rng(1)
    shares = rng.integers(0, 4, (40, len(tables.PRIORS), 2)) / 3

    class Read:
        """Reads the tables as a coin."""

        def __init__(self):
            self.how = dict.fromkeys(tables.PRIORS, "enumerated")

        def right(self, some, prior):
            return np.arange(len(some)) % 2 == 0

        def certain(self, some):
            return 0

    how = np.zeros((40, len(tables.PRIORS)), dtype=int)
    found = tables.concluded(wanted, shares, how, Read(), 0.95)
    limits = [x for one in found.attacks for x in vars(one).values() if hasattr(x, "confidence")]
    assert len(limits) == 3 * len(tables.PRIORS)
    assert sum(1 - x.confidence for x in limits) == pytest.approx(0.05)


@pytest.fixture
def seen(monkeypatch):
    """Give all findings of studies that are played, each with its kind."""
    noted, found = [], Kind.found

    def note(self, *args):
        noted.append((self, found(self, *args)))
        return noted[-1][1]

    monkeypatch.setattr(Kind, "found", note)
    return noted


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_both_numbers_of_a_sampled_channel_share_one_error(seen, tmp_path, level):
    """Bayes security and Bayes risk had limits of 95% each: .10 was spent of .05."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"secret": rng.integers(0, 3, 400), "output": rng.integers(0, 3, 400)})
    frame.to_csv(tmp_path / "samples.csv", index=False)
    study = {
        "kind": "channel", "channel": {"samples": str(tmp_path / "samples.csv")},
        "threshold": {"beta_star": 0.9, "bayes_risk": 0.5}, "run": {"confidence": level},
    }  # fmt: skip
    audit = narcissus.run(narcissus.load_study(study), rng=1)
    assert audit.record.result.leakage.confidence == level
    for kind, findings in seen:
        require_divided(kind, findings)
        limits = {row.quantity.confidence for row in findings.rows if row.quantity.low is not None}
        assert sorted(limits) == pytest.approx([1 - (1 - level) / 2])


def test_whatever_a_given_file_decides_shares_one_error(seen):
    """Risks, groups and copies: twelve claims and more, of one study."""
    rng = np.random.default_rng(1)
    real, control, made = (pd.DataFrame(rng.integers(0, 3, (150, 4)), columns=list("abcd"))
                           for _ in range(3))  # fmt: skip
    audit = narcissus.audit_synthetic(
        real, made, control=control, unknown=["d"], groups=["a"],
        threshold={"at_most": 0.1, "worst_group": 0.2}, rng=1,
    )  # fmt: skip
    assert audit.status in ("not shown", "exceeded")
    assert len(seen[0][1].criteria) > 12
    for kind, findings in seen:
        require_divided(kind, findings)
