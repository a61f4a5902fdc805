"""The notebooks of the documentation run from the top, and say what is stored in them."""

import importlib.util
import json
from pathlib import Path

import pytest
from matplotlib import pyplot

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"), reverse=True)


@pytest.fixture(scope="module")
def make():
    """Give docs/notebooks/make.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_notebooks_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code(*sources):
    cells = [
        {"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources
    ]
    return {"cells": cells}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
@pytest.mark.one_in(2)
def test_a_notebook_gives_what_is_stored_in_it(make, path, tmp_path, monkeypatch):
    if "statsmodels" in path.read_text(encoding="utf-8"):
        pytest.importorskip("statsmodels", reason="the extra `examples` is not installed")
    monkeypatch.chdir(tmp_path)
    pyplot.figure()  # as another test may leave one
    stored = read(path)
    assert make.texts(make.executed(stored)) == make.texts(stored)
    assert not list(tmp_path.iterdir())  # and leaves nothing behind


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_small_whole_and_of_the_format(path):
    notebook = read(path)
    assert path.stat().st_size < 150 * 1024
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {key for cell in cells for out in cell["outputs"] for key in out.get("data", {})}
    assert {"text/plain", "image/png"} <= kinds


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {"audit_a_table", "play_a_game"}


def test_cells_share_their_names_and_give_their_last_value(make):
    found = make.executed(code("x = 2\nprint(x)", "x + 1", "x;\ny = 1", "None"))
    assert make.texts(found) == [[["2\n"]], [["3"]], [], []]


def test_another_output_is_noticed(make, tmp_path, monkeypatch, capsys):
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(make.executed(code("1 + 1"))))
    monkeypatch.setattr(make, "NOTEBOOKS", [path])
    monkeypatch.setattr(make.sys, "argv", ["make.py", "--check"])
    assert make.main() == 0
    path.write_text(path.read_text().replace('"2"', '"3"'))
    assert make.main() == 1
    assert "n.ipynb gives something else now" in capsys.readouterr().out


def test_a_cell_that_fails_is_an_error(make):
    with pytest.raises(ZeroDivisionError):
        make.executed(code("1 / 0"))
