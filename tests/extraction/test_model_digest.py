"""What the digest of a model's folder covers."""

import pytest

from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.model_folders import CONFIGURATIONS, TABLES
from narcissus.extraction.unet import SETTINGS, WEIGHTS

READ = sorted({*CONFIGURATIONS, *TABLES, SETTINGS, WEIGHTS, "model.safetensors.index.json"})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "unet").mkdir()
    for place in (tmp_path, tmp_path / "unet"):
        for name in READ:
            (place / name).write_text(f"{place.name} {name}")
    return tmp_path


@pytest.mark.parametrize("part", [".", "unet"])
@pytest.mark.parametrize("name", READ)
def test_every_file_that_is_read_is_covered(folder, name, part):
    before = model_digest(folder)
    (folder / part / name).write_text("other")
    changed = model_digest(folder)
    (folder / part / name).unlink()
    assert len({before, changed, model_digest(folder)}) == 3


def test_names_count_and_what_is_not_read_does_not(folder):
    before = model_digest(folder)
    (folder / "README.md").write_text("words")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "when.json").write_text("{}")
    assert model_digest(folder) == before
    (folder / "config.json").rename(folder / "config2.json")
    assert model_digest(folder) != before


@pytest.mark.parametrize("name", ["unet/", "unet", "config.json", "vocab.txt"])
def test_what_is_not_published_does_not_count_and_is_not_opened(folder, name):
    before = model_digest(folder, [name])
    paths = [folder / name] if (folder / name).is_file() else [*(folder / name).iterdir()]
    for path in paths:
        path.unlink()
        path.symlink_to("nowhere")
    assert model_digest(folder, [name]) == before
