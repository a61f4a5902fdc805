"""Studies that commands write."""

import pytest

from narcissus.cli.study_file import refuse_existing, written_to
from narcissus.errors import InputError


def test_a_file_is_replaced_only_if_that_was_said(tmp_path):
    path = tmp_path / "s.toml"
    refuse_existing(None, force=False)
    refuse_existing(path, force=False)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists"):
        refuse_existing(path, force=False)
    refuse_existing(path, force=True)


def test_it_is_said_how_it_is_played(tmp_path, capsys):
    path = tmp_path / "s.toml"
    written_to(path, "text")
    assert path.read_text(encoding="utf-8") == "text"
    assert f"narcissus audit {path}" in capsys.readouterr().out
    written_to(path, "more", quiet=True)
    assert capsys.readouterr().out == ""
    with pytest.raises(InputError, match="cannot write"):
        written_to(tmp_path / "no" / "s.toml", "text")
