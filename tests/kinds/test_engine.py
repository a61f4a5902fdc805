"""The one way into a study of any kind: what is asked of it is used, or refused."""

import shutil
from pathlib import Path

import pytest

from narcissus import _files
from narcissus.errors import InputError
from narcissus.kinds.synthetic import kind as synthetic
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


READ = [
    ("channel-table", "channel.csv"),
    ("channel-table", "prior.csv"),
    ("extraction-cut", "archive.txt"),
    ("extraction-cut", "cut.txt"),
    ("extraction-cut", "secret.txt"),
    ("images-mixture", "captions.txt"),
    ("images-mixture", "images.npy"),
    ("language-ngram", "letters.txt"),
    ("membership-met", "quiet.npz"),
    ("published-met", "area.csv"),
    ("published-met", "published_people.csv"),
    ("synthetic-fresh", "control.csv"),
    ("synthetic-fresh", "fresh.csv"),
    ("synthetic-fresh", "real.csv"),
    ("table-few-trials", "people.csv"),
    ("table-release", "counts.csv"),
]


@pytest.mark.parametrize(("name", "file"), READ)
def test_a_file_that_is_replaced_after_it_was_checked_is_an_error(
    name, file, tmp_path, monkeypatch
):
    """A digest of other bytes than those that were read would be about another release."""
    shutil.copytree(FRAMES / "data", tmp_path / "data")
    shutil.copy(FRAMES / f"{name}.toml", tmp_path)
    study = load_study(tmp_path / f"{name}.toml", allow_code=True)
    synthetic._LAST.clear()  # the check has read them; else it is not done again
    note, replaced = _files.note_reading, list[Path]()

    def note_and_replace(path, status):
        note(path, status)
        if path.name == file and not replaced:
            replaced.append(path)
            (tmp_path / "same").write_bytes(path.read_bytes())
            (tmp_path / "same").replace(path)

    monkeypatch.setattr(_files, "note_reading", note_and_replace)
    with pytest.raises(InputError, match=rf"{file} was changed, replaced or removed"):
        study_kind(study.kind).play(study.settings, study.folder, RunOptions(1, SILENT))
    assert len(replaced) == 1
