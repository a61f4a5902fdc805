"""The walk-throughs of models, executed: their commands, their Python, their study files."""

import re
import shlex
import shutil
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
IMAGES, LANGUAGE = (ROOT / "examples" / name for name in ("image-models", "language-models"))


def blocks(page, kind):
    """Return the blocks of a kind in a guide of models, but sessions that show their output."""
    text = (ROOT / "docs" / "guides" / "models" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(?!\$ )(.*?)```", text, flags=re.S)


def walk(folder, examples):
    """Run the command of a page, from the folder of the project as a reader does."""
    (folder / "examples").symlink_to(ROOT / "examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (command,) = blocks(examples.name, "console")
        with pytest.raises(SystemExit) as ended:
            main([*shlex.split(command)[1:], "--quiet"])
    return folder, ended.value.code


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return walk(tmp_path_factory.mktemp("images"), IMAGES)


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    return walk(tmp_path_factory.mktemp("language"), LANGUAGE)


@pytest.mark.models
@pytest.mark.nightly
def test_the_study_of_images_finds_what_came_often(images):
    folder, code = images
    record = read_record(folder / "results" / "images" / "record.json")
    result = record.result
    assert (code, record.status) == (1, "exceeded")
    assert [group.copies for group in result.groups] == [(), (1,), (5,), (20,)]
    often, once = result.groups[3], result.groups[1]
    assert often.recovered == often.total
    assert often.shown_gain > 0.25  # of few images, whose share varies as that of fresh ones
    assert once.share < 0.1
    assert all(group.fresh.value < 0.1 for group in result.groups)
    assert all(group.shadows.value < 0.1 for group in result.groups)
    shown = [one for one in result.pictures if one.copies == 20]
    assert all(one.to_trained < result.close < one.to_fresh for one in shown)
    model = folder / "results" / "images" / "model"
    assert {path.name for path in model.iterdir()} >= {"model.safetensors", "unet.json"}
    picture, report = '<img src="data:image/png', folder / "results" / "images" / "report.html"
    assert picture not in report.read_text()  # the page that is shown
    with pytest.raises(SystemExit) as ended:
        main(["report", str(report.parent), "--internal"])
    assert ended.value.code == 0
    assert picture in report.read_text()


def test_the_example_that_needs_no_extra_is_played():
    record = narcissus.run(narcissus.load_study(IMAGES / "mixture.toml")).record
    whole, *_, often = record.result.groups
    assert record.status == "exceeded"
    assert often.recovered == often.total
    assert whole.fresh.value == 0


def test_the_studies_of_images_are_those_of_the_examples(tmp_path):
    (first,) = map(tomllib.loads, blocks(IMAGES.name, "toml"))
    second = tomllib.loads(blocks("folders", "toml")[1])
    quick = tomllib.loads((IMAGES / "quick.toml").read_text())
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
def test_examples_of_images_are_studies(name):
    assert narcissus.load_study(IMAGES / name).kind == "image-model"


@pytest.mark.parametrize(("name", "count", "side"), [("few", 180, 8), ("pictures", 600, 16)])
def test_the_pictures_are_as_the_page_says(name, count, side):
    found = read_images(IMAGES / f"{name}.npy", IMAGES / f"{name}.txt")
    assert (len(found), found.shape) == (count, (side, side, 1))
    assert found.copies.max() == 1


@pytest.mark.models
@pytest.mark.nightly
def test_the_study_of_the_page_finds_what_was_learnt_by_heart(language):
    folder, code = language
    record = read_record(folder / "results" / "quick" / "record.json")
    assert (code, record.status) == (1, "exceeded")
    assert record.result.program.quality > record.criteria[1].at_most
    for attack in record.result.attacks:
        whole, *_, often = attack.groups
        assert (often.copies, often.recovered) == ((25,), often.total)
        assert whole.fresh.value == 0
    (canaries,) = record.result.canaries
    assert canaries.named > canaries.by_chance
    assert all(one.above.value > 0.9 for one in record.result.scores if one.name != "lower")
    assert {path.name for path in (folder / "results" / "quick" / "model").iterdir()} >= {
        "config.json", "model.safetensors", "tokenizer.json",
    }  # fmt: skip
    assert (folder / "results" / "quick" / "report.html").is_file()


@pytest.mark.models
@pytest.mark.nightly
def test_the_program_of_the_page_extracts_and_only_from_this_model(language):
    folder, _ = language
    record = read_record(folder / "results" / "quick" / "record.json")
    program = record.result.program
    success = {row.name: row.value for row in record.rows if row.of == "success"}
    assert program.verdict == "extraction"
    assert success.pop("with the release") == 1
    assert set(success.values()) == {0}
    assert "on shadow data" in success
    assert program.quality > 0.2
    assert program.endings == {"finished": 10}


def test_the_program_of_the_page_is_that_of_the_example():
    (shown,) = blocks(LANGUAGE.name, "python")
    assert shown.strip() == (LANGUAGE / "ask.py").read_text().strip()


@pytest.mark.models
@pytest.mark.nightly
def test_the_released_folder_is_a_checkpoint_like_any_other(language, tmp_path):
    """The study of the page of folders, with the model that the first study has left."""
    folder, _ = language
    lines = (LANGUAGE / "few.txt").read_text().splitlines()
    unique = list(dict.fromkeys(lines))
    (tmp_path / "trained_on.txt").write_text("\n".join(unique[:20]))
    (tmp_path / "held_out.txt").write_text("\n".join(unique[20:40]))
    (tmp_path / "checkpoint").symlink_to(folder / "results" / "quick" / "model")
    (tmp_path / "other").symlink_to(folder / "results" / "quick" / "reference")
    study = tomllib.loads(blocks("folders", "toml")[0])
    shutil.copytree(folder / "results" / "quick" / "reference", tmp_path / "shadow")
    study["model"]["shadows"] = ["shadow"]
    study |= {"generation": {"samples": 20, "top": 5}, "run": {"seed": 1}}
    record = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record
    assert not record.result.by_chance
    assert record.result.has_reference
    assert any("was not trained on them" in one for one in record.assumptions)
    assert any(one.startswith("shadow models") for one in record.assumptions)
    completion = record.result.groups_by_attack["completion"][0]
    [of_shadow] = completion.by_shadows
    assert of_shadow / completion.total == completion.reference.value  # the same model
    study["model"]["shadows"] = ["other"]
    with pytest.raises(InputError, match="must be different folders"):
        narcissus.load_study(study, folder=tmp_path).settings.model.build()


@pytest.mark.parametrize("name", ["quick.toml", "letters.toml", "ngram.toml"])
@pytest.mark.models
def test_examples_are_studies(name):
    assert narcissus.load_study(LANGUAGE / name).kind == "language-model"
    keys = tomllib.loads(blocks(LANGUAGE.name, "toml")[0]).keys()
    assert keys <= {"kind", *type(narcissus.load_study(LANGUAGE / name).settings).model_fields}
