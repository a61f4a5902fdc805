"""Files and records of version 0.1 say what they said, in the words of today."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from narcissus.cli.records import differences
from narcissus.errors import StudyError
from narcissus.study import Study, load_study
from narcissus.study.kinds import study_kind
from narcissus.study.plugins import OwnCode
from narcissus.study.record import finite
from narcissus.study.toml import read_document, validate

THEN = Path(__file__).with_name("earlier")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CHANGED = {"acs"}
"""Examples that say another thing now: the prior of then is refuted by the table."""
NOW = {
    path.stem: path
    for path in EXAMPLES.rglob("*.toml")
    if (THEN / path.name).exists() and path.stem not in CHANGED  # others came later
}


def settings_of(path):
    """Read a study without looking at what it names."""
    document = read_document(path)
    kind = document.data.pop("kind", "table")
    code = OwnCode(allowed=True)
    with code.in_use():
        return Study(kind, validate(study_kind(kind).model, document), document.folder, code)


def test_every_example_has_its_file_of_then():
    assert set(NOW) | CHANGED | {"own", "own-game"} == {path.stem for path in THEN.glob("*.toml")}


@pytest.mark.parametrize("name", NOW)
def test_a_file_of_then_gives_the_settings_of_now(name):
    then, now = settings_of(THEN / f"{name}.toml"), settings_of(NOW[name])
    assert list(differences(then.to_dict(), now.to_dict())) == []
    assert then.digest == now.digest


def test_parts_of_ones_own_of_then_are_made_with_their_options(monkeypatch):
    table = settings_of(THEN / "own.toml").settings
    assert table.attacks["same"].build().value == 1
    assert table.attacks["mine:Same"].build().value == 0
    assert table.attacks["mine:Same"].also == {"trials": 1}
    assert table.attacks["mean-field"].to_dict() == {
        "name": "posterior", "trials": None, "sweeps": 9, "tolerance": 1e-6,
        "scale": None, "overlap": None,
    }  # fmt: skip
    assert (table.attacks["slow"].name, table.attacks["slow"].also["trials"]) == ("gibbs", 2)
    assert table.prior.name == "mine:prior"
    game = settings_of(THEN / "own-game.toml").settings
    assert game.attack[0].build().row == 1
    assert game.world.options["parts"][1].build().n == 3
    assert game.success.build().attempts == [[0, 0, 0], [1, 1, 1]]


def test_what_a_file_of_then_has_wrong_is_said_with_its_line(tmp_path):
    text = (THEN / "own.toml").read_text(encoding="utf-8")
    shutil.copy(THEN / "mine.py", tmp_path)
    path = tmp_path / "s.toml"
    for old, new, line, said in (
        (
            'kind = "mine:prior"',
            'kind = "mine:prior"\nparents = 2',
            11,
            "prior.parents`: the",
        ),
        ("options = { value = 1 }", "options = { valu = 1 }", 0, "did you mean `value`"),
        ("options = { value = 1 }", "options = { name = 1 }", 0, "unknown key"),
        ('method = "gibbs"', 'method = "gibs"', 21, "attacks.slow.method"),
        ('kind = "marginals"', 'kind = "marginal"', 12, "did you mean `marginals`"),
    ):
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(StudyError) as refused:
            load_study(path, allow_code=True)
        assert said in str(refused.value)
        assert not line or f"line {line}" in str(refused.value)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [("randomized-response:values", "is not KEY=VALUE"), ("randomised-response:values=2", "mean")],
)
def test_the_text_of_a_mechanism_of_then_may_be_wrong(tmp_path, mechanism, said):
    path = tmp_path / "c.toml"
    path.write_text(f'kind = "channel"\n[channel]\nmechanism = "{mechanism}"\n')
    with pytest.raises(StudyError, match=f"line 3: `channel.mechanism`.*{said}"):
        load_study(path)


def test_levels_without_noise_stand_as_none_in_a_record():
    study = settings_of(NOW["affairs"])
    assert finite(study.to_dict())["mechanism"]["epsilon"][-1] is None
    assert study.settings.mechanism.levels[-1] == float("inf")
