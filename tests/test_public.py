"""The front of the package: public names and rooms exist, are cheap, and are what is generated."""

import importlib.util
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import narcissus

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def public():
    """Give docs/public.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_public", ROOT / "docs" / "public.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_generated_is_up_to_date(public):
    for path, text in public.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make docs`"


def test_a_changed_list_is_noticed(public, monkeypatch):
    monkeypatch.setitem(public.NAMES, "bounds", "certify")
    stale = [p.name for p, text in public.pages().items() if p.read_text("utf-8") != text]
    assert stale == ["__init__.py"]


@pytest.mark.parametrize("name", sorted(narcissus.PUBLIC))
def test_a_public_name_is_that_of_its_room(name):
    room = import_module(narcissus.PUBLIC[name])
    assert getattr(narcissus, name) is getattr(room, name)
    assert name in getattr(room, "__all__", [name])


@pytest.mark.repeats(4, 1, "step")
def test_a_room_is_an_attribute(step):
    """Each in a process of its own, which another room is not imported in; they share SciPy."""
    code = """
import os, sys, narcissus
import pandas, pydantic, scipy.optimize, scipy.stats
for room in list(narcissus.ROOMS)[:: int(sys.argv[1])]:
    child = os.fork()
    if child == 0:
        os._exit(getattr(narcissus, room).__name__ != f"narcissus.{room}")
    assert os.waitpid(child, 0)[1] == 0, room
"""
    subprocess.run([sys.executable, "-c", code, str(step)], check=True)


def test_every_room_is_listed():
    folders = {path.parent.name for path in (ROOT / "src" / "narcissus").glob("*/__init__.py")}
    assert set(narcissus.ROOMS) == folders - {"app", "cli"}
    assert set(narcissus.ROOMS) | set(narcissus.PUBLIC) <= set(dir(narcissus))


def test_the_package_loads_nothing_until_it_is_asked():
    code = "import narcissus, sys; assert not {'numpy', 'pandas', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        narcissus.audti
