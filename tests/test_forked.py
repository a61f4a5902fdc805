"""Programs are forked from a process that has imported what they need: same walls, nothing left."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from narcissus._forked import Forks, can_fork
from narcissus.extraction import sandbox
from narcissus.extraction._runs import Limits, run_once
from narcissus.extraction.sandbox import ESCAPE_PROBES

pytestmark = pytest.mark.skipif(not can_fork(), reason="guards are forked on Linux alone")

LIMITS = Limits(seconds=60, memory=2**30)
TOLD = b"""
import os, sys
assert open('release').read() == 'words'
def is_open(handle):
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True
print('sqlite3' in sys.modules)
print(sorted(os.environ), os.getpgrp() == os.getpid(), sys.argv, sys.stdin.read())
print([one for one in range(200) if is_open(one)])
"""


@pytest.fixture
def forks():
    made = Forks(["sqlite3"], {"ONLY_WHILE_IMPORTING": "1"})
    yield made
    made.end()


def test_a_program_has_the_modules_and_else_what_it_has_by_itself(watched, any_method, forks, kin):
    found = {}
    for name, of in (("forked", forks), ("alone", None)):
        run = run_once(TOLD, b"words", LIMITS, any_method, forks=of)
        has, *others = run.output.decode().splitlines()
        assert others, run
        found[name] = [*others, run.ending, run.layers]
        assert has == str(of is forks)
    assert found["forked"] == found["alone"]
    assert watched.files() == []
    assert kin.children(forks._process.pid) == []


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("isolation")
@pytest.mark.parametrize("probe", ESCAPE_PROBES, ids=lambda probe: probe.name)
def test_nobody_escapes_who_was_forked(method, probe, tried):
    run = tried(method, probe)
    assert sandbox._is_stopped(probe, run), run


@pytest.fixture(scope="module")
def tried():
    """Give the function that tries an escape behind walls, forked from one process."""
    forks = Forks((), {})

    def run(method, probe):
        limits = sandbox._limits_of(probe)
        return run_once(probe.source.encode(), b"the release", limits, method, forks=forks)

    yield run
    forks.end()


def test_programs_that_run_at_once_have_their_own_answers(forks):
    found = {}

    def run(word):
        found[word] = run_once(b"print(open('release').read())", word, LIMITS, "none", forks=forks)

    threads = [threading.Thread(target=run, args=(b"%d" % number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {word: run.output.strip() for word, run in found.items()} == {
        b"%d" % number: b"%d" % number for number in range(6)
    }


def test_an_ended_process_is_started_again_and_a_module_that_is_not_there_is_no_error(forks):
    def heard(of):
        return run_once(b"print(5)", b"", LIMITS, "none", forks=of).output

    missing = Forks(["there_is_no_such_module"], {})
    assert heard(missing) == heard(forks) == b"5\n"
    missing.end()
    assert forks._process is not None
    os.kill(forks._process.pid, signal.SIGKILL)
    forks._process.wait()
    assert heard(forks) == b"5\n"  # this one by itself
    assert heard(forks) == b"5\n"


def test_where_there_are_no_walls_to_be_tried_nothing_is_forked(monkeypatch):
    """One escape that succeeds, and programs are started one by one."""
    sandbox.may_fork.cache_clear()
    probe = sandbox.EscapeProbe("prints", "print('broken')", "refused")
    monkeypatch.setattr(sandbox, "ESCAPE_PROBES", (probe,))
    try:
        assert sandbox.may_fork("none")
        assert not sandbox.may_fork("bubblewrap")
        assert not sandbox.may_fork("Landlock")
        sandbox.may_fork.cache_clear()
        monkeypatch.setattr(sandbox, "can_fork", lambda: False)
        assert not sandbox.may_fork("none")
    finally:
        sandbox.may_fork.cache_clear()


def test_it_ends_with_the_process_that_has_started_it(kin, tmp_path):
    text = (
        "from narcissus._forked import Forks\n"
        "made = Forks((), {}); made.begin(); print(made._process.pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        forked = int(process.stdout.readline())
        assert kin.alive(forked)
        process.kill()
    assert kin.all_gone([forked])
