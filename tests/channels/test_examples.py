import doctest
import importlib
import pkgutil
import sys

import pytest

import narcissus.channels as room


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(room.__path__)])
def test_examples_in_docstrings(name):
    if name == "_compiled":
        pytest.importorskip("numba")
    importlib.import_module(f"narcissus.channels.{name}")
    # By name, not by attribute: some modules are called like the function in them.
    result = doctest.testmod(sys.modules[f"narcissus.channels.{name}"])
    assert result.failed == 0


def test_every_public_name_has_a_docstring():
    for name in room.__all__:
        assert getattr(room, name).__doc__, name
