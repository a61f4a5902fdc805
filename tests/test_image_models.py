"""The walk-through of models of images, executed: its command, its Python, its study files."""

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus.cli.main import main
from narcissus.errors import InputError
from narcissus.extraction.images import read_images
from narcissus.study import read_record

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "image-models.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "image-models"


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


@pytest.mark.models
def test_the_study_of_the_page_finds_what_came_often(played):
    folder, code = played
    record = read_record(folder / "results" / "images" / "record.json")
    results = record.results
    assert (code, record.status) == (1, "exceeded")
    assert [group.copies for group in results.groups] == [0, 1, 5, 20]
    often, once = results.groups[3], results.groups[1]
    assert often.reproduced == often.images
    assert often.gain.low > 0.8
    assert once.share < 0.1
    assert all(group.fresh.value < 0.1 for group in results.groups)
    assert all(group.shadows.value < 0.1 for group in results.groups)
    shown = [one for one in results.pictures if one.copies == 20]
    assert all(one.to_trained < results.close < one.to_fresh for one in shown)
    model = folder / "results" / "images" / "model"
    assert {path.name for path in model.iterdir()} >= {"model.safetensors", "unet.json"}
    picture, report = '<img src="data:image/png', folder / "results" / "images" / "report.html"
    assert picture not in report.read_text()  # the page that is shown
    with pytest.raises(SystemExit) as ended:
        main(["report", str(report.parent), "--internal"])
    assert ended.value.code == 0
    assert picture in report.read_text()


@pytest.mark.models
def test_the_python_of_the_page_runs(played, monkeypatch, capsys):
    folder, _ = played
    monkeypatch.chdir(folder)
    (code,) = blocks("python")
    exec(compile(code, "docs/image-models.md", "exec"), {})
    assert capsys.readouterr().out.startswith("all ")


def test_the_example_that_needs_no_extra_is_played():
    results = narcissus.run(narcissus.load_study(EXAMPLES / "mixture.toml")).record.results
    assert results.status == "exceeded"
    assert results.groups[-1].reproduced == results.groups[-1].images
    assert results.whole.fresh.value == 0


def test_the_studies_of_the_page_are_those_of_the_examples(tmp_path):
    first, second = map(tomllib.loads, blocks("toml"))
    quick = tomllib.loads((EXAMPLES / "quick.toml").read_text())
    for name in ("data", "duplicates", "relation"):
        assert quick[name] == first[name]
    assert first["model"].items() <= quick["model"].items()
    for name in ("trained_on", "held_out"):
        np.save(tmp_path / f"{name}.npy", np.zeros((1, 4, 4)))
        (tmp_path / f"{name}.txt").write_text("a caption\n")
    with pytest.raises(InputError, match="no such model folder"):  # all else is accepted
        narcissus.load_study(second, folder=tmp_path)


@pytest.mark.models
@pytest.mark.parametrize("name", ["quick.toml", "pictures.toml"])
def test_examples_are_studies(name):
    assert narcissus.load_study(EXAMPLES / name).kind == "image-model"


@pytest.mark.parametrize(("name", "count", "side"), [("few", 180, 8), ("pictures", 600, 16)])
def test_the_pictures_are_as_the_page_says(name, count, side):
    found = read_images(EXAMPLES / f"{name}.npy", EXAMPLES / f"{name}.txt")
    assert (len(found), found.shape) == (count, (side, side, 1))
    assert found.copies.max() == 1
