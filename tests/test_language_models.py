"""The walk-through of language models, executed: its commands, its Python, its study files."""

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

import narcissus
from narcissus.cli.main import main
from narcissus.errors import InputError
from narcissus.study import read_record

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "language-models"

pytestmark = pytest.mark.models


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Run the command of the page, from the folder of the project as a reader does."""
    folder = tmp_path_factory.mktemp("walk")
    (folder / "examples").symlink_to(ROOT / "examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (command,) = blocks("console")
        with pytest.raises(SystemExit) as ended:
            main([*shlex.split(command)[1:], "--quiet"])
    return folder, ended.value.code


def test_the_study_of_the_page_finds_what_was_learnt_by_heart(played):
    folder, code = played
    record = read_record(folder / "results" / "quick" / "record.json")
    results = record.results
    assert (code, record.status) == (1, "exceeded")
    assert results.program_exceeds
    for attack in results.attacks:
        often = attack.groups[-1]
        assert (often.copies, often.recovered) == (25, often.documents)
        assert attack.whole.fresh.value == 0
    (canaries,) = results.canaries
    assert canaries.named > canaries.by_chance
    assert all(one.above.value > 0.9 for one in results.membership if one.score != "lower")
    assert {path.name for path in (folder / "results" / "quick" / "model").iterdir()} >= {
        "config.json", "model.safetensors", "tokenizer.json",
    }  # fmt: skip
    assert (folder / "results" / "quick" / "report.html").is_file()


def test_the_program_of_the_page_extracts_and_only_from_this_model(played):
    folder, _ = played
    program = read_record(folder / "results" / "quick" / "record.json").results.program
    assert program.verdict == "extraction"
    assert program.success.value == 1
    assert program.success_without_release.value == 0
    assert program.success_on_shadow.value == 0
    assert program.quality > 0.2
    assert program.endings == {"finished": 10}


def test_the_python_of_the_page_runs(played, monkeypatch, capsys):
    folder, _ = played
    monkeypatch.chdir(folder)
    code, shown = blocks("python")
    exec(compile(code, "docs/language-models.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "completion all" in printed
    assert shown.strip() == (EXAMPLES / "ask.py").read_text().strip()


def test_the_released_folder_is_a_checkpoint_like_any_other(played, tmp_path):
    """The second study of the page, with the model that the first one has left."""
    folder, _ = played
    lines = (EXAMPLES / "few.txt").read_text().splitlines()
    unique = list(dict.fromkeys(lines))
    (tmp_path / "trained_on.txt").write_text("\n".join(unique[:20]))
    (tmp_path / "held_out.txt").write_text("\n".join(unique[20:40]))
    (tmp_path / "checkpoint").symlink_to(folder / "results" / "quick" / "model")
    (tmp_path / "other").symlink_to(folder / "results" / "quick" / "reference")
    study = tomllib.loads(blocks("toml")[1])
    shutil.copytree(folder / "results" / "quick" / "reference", tmp_path / "shadow")
    study["model"]["shadows"] = ["shadow"]
    study |= {"generation": {"samples": 20, "top": 5}, "run": {"seed": 1}}
    record = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record
    assert not record.results.by_chance
    assert record.results.has_reference
    assert any("was not trained on them" in one for one in record.assumptions)
    assert any(one.startswith("shadow models") for one in record.assumptions)
    completion = record.results.attacks[1].whole
    assert completion.shadows.mean.value == completion.reference.value  # it is the same model
    study["model"]["shadows"] = ["other"]
    with pytest.raises(InputError, match="must be different folders"):
        narcissus.load_study(study, folder=tmp_path).settings.model.build()


@pytest.mark.parametrize("name", ["quick.toml", "letters.toml", "ngram.toml"])
def test_examples_are_studies(name):
    assert narcissus.load_study(EXAMPLES / name).kind == "language-model"
    keys = tomllib.loads(blocks("toml")[0]).keys()
    assert keys <= {"kind", *type(narcissus.load_study(EXAMPLES / name).settings).model_fields}
