"""Programs are run behind walls that were tried first, or not at all."""

import pytest

from narcissus.errors import InputError
from narcissus.extraction import sandbox
from narcissus.extraction.sandbox import (
    IsolationError,
    Limits,
    check_isolation,
    check_source,
    run_program,
    without_isolation,
)


def test_a_missing_wall_is_refused(monkeypatch):
    """If the jail lets a program out, the check-up says so and nothing is run."""
    monkeypatch.setattr(sandbox, "_checked", sandbox._checked.__wrapped__)
    real = sandbox.run_once

    def no_walls(program, release, limits, method):
        walls = real(b"", b"", limits, "Landlock").layers
        run = real(program, release, limits, "none")
        return sandbox.replace(run, layers=(*walls, "namespaces"))

    monkeypatch.setattr(
        sandbox, "BURGLARS", tuple(b for b in sandbox.BURGLARS if b.name == "reads /etc/passwd")
    )
    monkeypatch.setattr(sandbox, "run_once", no_walls)
    with pytest.raises(IsolationError, match=r"reads /etc/passwd.*was not stopped"):
        check_isolation()


def test_no_isolation_only_when_told(quick):
    with without_isolation():
        assert not check_isolation().safe
        assert run_program(b"print(1)", b"", quick).output == b"1\n"
    assert check_isolation().safe


def test_inputs_reach_the_program(quick):
    source = b"import sys\nprint(open('release').read(), open(sys.argv[1]).read(), open(0).read())"
    assert run_program(source, b"abc", quick).output == b"abc abc abc\n"


def test_packages_can_be_imported():
    source = b"import numpy, zlib\nprint(numpy.arange(3).sum())"
    run = run_program(source, b"", Limits(seconds=20))
    assert (run.output, run.ending) == (b"3\n", "finished")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "empty"),
        (b"print(", "line 1"),
        (b"a\x00b", "not a Python"),
        (b"\xff = 1", "not a Py"),
        (b"-" * 100_000 + b"1", "too deeply nested"),
        (b"a" + b".b" * 100_000, "too deeply nested"),
    ],
)
def test_programs_that_are_none(source, message):
    with pytest.raises(InputError, match=message):
        check_source(source)
