"""The one way into a study of any kind: what is asked of it is used, or refused."""

from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.observer import SILENT
from narcissus.study.kinds import KINDS, RunOptions, study_kind
from narcissus.study.load import load_study

FRAMES = Path(__file__).parents[1] / "frames"
STUDIES = {
    "channel": "channel-table",
    "classifier": "classifier-digits",
    "copyright": "copyright-verse",
    "extraction": "extraction-cut",
    "game": "game-met",
    "image-model": "images-mixture",
    "language-model": "language-ngram",
    "membership": "membership-met",
    "published-tables": "published-met",
    "secrets": "secrets-sweep",
    "synthetic": "synthetic-fresh",
    "table": "table-few-trials",
}
OF_RECORDS = {"extraction", "table"}
"""Kinds that write what is about single records."""


@pytest.mark.parametrize("asked", ["policy", "internal"])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_no_kind_passes_over_a_policy_or_a_file_for_records(name, asked, tmp_path):
    """A policy that nobody reads would let pass what it forbids."""
    study = load_study(FRAMES / f"{STUDIES[name]}.toml", allow_code=True)
    kind, options = study_kind(name), {asked: tmp_path / "absent" / "file.toml"}
    assert study.kind == name
    if asked == "internal" and name in OF_RECORDS:
        assert not kind.no_records
        return
    with pytest.raises(InputError, match=r"polic|records|no such file"):
        kind.play(study.settings, study.folder, RunOptions(1, SILENT, **options))
