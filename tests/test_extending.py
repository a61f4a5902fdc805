"""The templates for new parts work: each is played, by its file and by its line in the registry."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from narcissus import bounds, load_study, run
from narcissus.errors import InputError, StoreError, StudyError
from narcissus.kinds.table import experiment as experiments
from narcissus.kinds.table.kind import prepare
from narcissus.study import registry

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "examples" / "extending"
PAGE = ROOT / "docs" / "develop" / "extending.md"
LINES = {  # a template: its room in the registry, its name there, its module, its attribute
    place.partition(":")[0].rpartition(".")[2]: (room, name, *place.split(":"))
    for room, names in tomllib.loads((TEMPLATES / "registry.toml").read_text()).items()
    for name, place in names.items()
}
STATEMENT = "capped"
PARTS = sorted(LINES.keys() - {STATEMENT})


def copy(folder, *templates):
    """Copy the table and the files of templates to a folder; return the study of the first."""
    for name in ["people.csv", *(f"{t}{end}" for t in templates for end in (".py", ".toml"))]:
        if (TEMPLATES / name).exists():
            shutil.copy(TEMPLATES / name, folder)
    return folder / f"{templates[0]}.toml"


def play(path, *, allow_code):
    audit = run(load_study(path, allow_code=allow_code), workers=1)
    record = audit.to_dict()
    results = [row.model_dump(mode="json") for row in audit.record.rows]
    assert results
    if record["kind"] == "game":  # parts of one's own are drawn otherwise, and taken as given
        found = record["result"]
        results = [found["play"]["trials"], found.get("exact", {}).get("needed", {}).get("value")]
    return json.dumps(results, sort_keys=True), record["status"]


def register(source, rooms, name, module, attribute, monkeypatch):
    """Put a file into the package, and its line into the registry."""
    spec = importlib.util.spec_from_file_location(module, source)
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module, made)
    spec.loader.exec_module(made)
    monkeypatch.setitem(getattr(registry, rooms), name, f"{module}:{attribute}")


@pytest.mark.parametrize("template", PARTS)
@pytest.mark.one_in(3)
def test_a_template_is_played_by_its_file_and_by_its_line(template, tmp_path, monkeypatch):
    rooms, name, module, attribute = LINES[template]
    study = copy(tmp_path, template)
    by_file = play(study, allow_code=True)
    assert by_file[1] in ("no threshold", "met", "inconclusive")

    source = tmp_path / f"{module.rpartition('.')[2]}.py"
    register(source, rooms, name, module, attribute, monkeypatch)
    text = study.read_text(encoding="utf-8")
    assert f'"{source.stem}:{attribute}"' in text
    study.write_text(text.replace(f"{source.stem}:{attribute}", name), encoding="utf-8")
    assert play(study, allow_code=False) == by_file


def test_an_attack_by_columns_serves_lists_of_joint_values_and_none(tmp_path, monkeypatch):
    path = copy(tmp_path, "by_column")
    shares = []
    for most in (experiments.MAX_JOINT, 1):
        monkeypatch.setattr(experiments, "MAX_JOINT", most)
        study = load_study(path, allow_code=True)
        with study.code.in_use():
            ready = prepare(study.settings, tmp_path, entropy=1)
            shares.append([ready.play(f"{t}/0")["modes/hits"] for t in range(3)])
        assert ready.factored == (most == 1)
    assert shares[0] == shares[1]


def test_a_plain_function_needs_no_line_and_is_asked_for_permission(tmp_path):
    assert "half" not in LINES
    study = copy(tmp_path, "half")
    with pytest.raises(StudyError, match="allow"):
        load_study(study)
    record, again = (run(load_study(study, allow_code=True), workers=1) for _ in range(2))
    assert record.record.title.startswith("Rows of the function `half`")
    assert record.status == "no threshold"
    bounds = [row for row in record.record.rows if row.role == "bound"]
    assert {row.quantity.grade for row in bounds} == {"not assessed"}
    assert record.record.rows == again.record.rows


def test_the_statement_is_one_file_and_one_line(tmp_path, monkeypatch):
    rooms, name, module, attribute = LINES[STATEMENT]
    study = copy(tmp_path, STATEMENT)
    with pytest.raises(StudyError, match="one of bayesian, "):
        load_study(study)
    register(tmp_path / f"{name}.py", rooms, name, module, attribute, monkeypatch)
    record = run(load_study(study), workers=1).to_dict()
    assert record["status"] == "exceeded"
    assert record["result"]["statement"] == {
        "name": name,
        "words": "success <= 0.5",
        "definition": "Example 2026, Definition 1",
        "scope": "this one world",
        "delta": 0.5,
    }
    told = study.read_text(encoding="utf-8") + '[side-information]\nname = "rows"\nrows = 1\n'
    study.write_text(told, encoding="utf-8")
    with pytest.raises(InputError, match="told nothing"):
        load_study(study)


def test_the_theorem_is_asked_by_everybody_once_it_has_its_line(tmp_path, monkeypatch):
    copy(tmp_path, "union", "ask_union")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = runpy.run_path(str(tmp_path / "ask_union.py"))
    theorem = before["UNION"]
    assert not [bound for bound in before["known"] if bound.theorem == theorem.statement]
    monkeypatch.setitem(bounds.THEOREMS, theorem.id, theorem)
    after = runpy.run_path(str(tmp_path / "ask_union.py"))["known"]
    (own,) = [bound for bound in after if bound.theorem == theorem.statement]
    assert own == before["asked"]
    assert own.value >= bounds.best(before["known"]).value


def test_the_theorem_reaches_the_people_of_a_table(tmp_path, monkeypatch):
    """With whatever number of workers, as a bound of its own on how many are reconstructed."""
    study = copy(tmp_path, "flattened", "union", "ask_union")
    monkeypatch.syspath_prepend(str(tmp_path))
    theorem = runpy.run_path(str(tmp_path / "ask_union.py"))["UNION"]
    text = study.read_text(encoding="utf-8").replace(
        "epsilon = 1", 'epsilon = 0.1\nnoise = "laplace"\n[bounds]\nconfidence = [0.3]'
    )
    study.write_text(text, encoding="utf-8")

    def proved(workers):
        record = run(load_study(study, allow_code=True), workers=workers).record
        return [row for row in record.rows if row.role == "bound"]

    before = proved(1)
    monkeypatch.setitem(bounds.THEOREMS, theorem.id, theorem)
    for workers in (1, 2):
        after = proved(workers)
        [own] = [row for row in after if row.quantity.id == theorem.id]
        assert (own.of, own.quantity.grade) == ("bound on targets", "proved")
        assert 3 <= own.value < own.about.of_population == own.about.people == 6
        assert [row for row in after if row.quantity.id != theorem.id] == before
    run(load_study(study, allow_code=True), workers=1, folder=tmp_path / "out")
    monkeypatch.delitem(bounds.THEOREMS, theorem.id)
    with pytest.raises(StoreError):  # its trials lack what the theorem says, or have it
        run(load_study(study, allow_code=True), workers=1, folder=tmp_path / "out")


def test_the_page_names_every_template():
    files = {path.stem for path in TEMPLATES.glob("*.py")} - {"ask_union"}
    assert set(re.findall(r"^\| [^|]* \| `(\w+)` \|", PAGE.read_text(), flags=re.M)) == files
    assert files == {*LINES, "half", "union"}
