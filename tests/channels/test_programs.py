"""Programs are run, watched and ended; what goes wrong is said."""

import os
import sys
import time

import pytest

from narcissus.channels.programs import Program, runs
from narcissus.errors import InputError

AB = ("a", "b")


def once(command, secret="a", **more):
    with runs(Program(command, more.pop("secrets", AB), **more)) as run:
        return run(secret)


def test_the_secret_is_an_argument_or_a_line():
    assert once(["echo"]) == ("a",)
    assert once(["echo", "1,{secret}-2", "3"]) == ("1", "a-2 3")
    assert once(["cat"], given="stdin") == ("a",)
    with runs(Program(["cat"], AB, given="lines")) as run:
        assert [run("b"), run("a")] == [("b",), ("a",)]


def test_its_time_may_be_observed():
    short, long = (int(once(["sleep", t], observe="time", given="stdin")[0]) for t in ("0", "0.1"))
    assert short < 1e8 <= long
    busy = [sys.executable, "-S", "-c", "for i in range({secret}): pass"]
    more = {"secrets": ("1", "4000000"), "observe": "cpu"}
    short, long = (int(once(busy, secret, **more)[0]) for secret in ("1", "4000000"))
    assert 0 < short < long - 20_000
    with runs(Program(["cat"], AB, given="lines", observe="time")) as run:
        assert 0 < int(run("a")[0]) < 1e9


@pytest.mark.parametrize(
    ("command", "more", "words"),
    [
        (["sh", "-c", "echo said >&2; exit 3"], {}, "exit code 3 with the secret 'a'(?s:.*)said"),
        (["sh", "-c", "kill -9 $$"], {}, "killed by signal 9"),
        (["true"], {}, "printed 0 lines"),
        (["printf", "1\n2\n"], {}, "printed 2 lines"),
        (["yes"], {}, "more than 1,048,576 bytes"),
        (["sleep", "30"], {"given": "stdin", "seconds": 0.1}, "did not end within 0.1 s"),
        (["sleep", "30"], {"given": "lines", "seconds": 0.1}, "did not end within 0.1 s"),
        (["true"], {"given": "lines"}, "exit code 0 with the secret 'a' instead of an answer"),
        (["/dev/null/x"], {}, "there is no program"),
        ([], {}, "`command`"),
        (["echo"], {"given": "file"}, "`given`"),
        (["cat"], {"given": "lines", "observe": "cpu"}, "observe time"),
        (["echo", "{secret}"], {"given": "stdin"}, "given by stdin"),
        (["echo"], {"secrets": ("a", "a")}, "twice"),
        (["echo"], {"secrets": ("a",)}, "two secrets"),
        (["echo"], {"secrets": ("a", "b\nc")}, "line ends"),
        (["echo"], {"prior": {"a": 0.5, "c": 0.5}}, "differ at 'b'"),
        (["echo"], {"prior": [1.0]}, "1 probabilities for 2"),
    ],
)
def test_what_goes_wrong_is_said(command, more, words):
    with pytest.raises(InputError, match=words):
        once(command, **more)


def test_nothing_is_left_of_it(tmp_path):
    """Neither what it has started, nor itself where it is not asked any more."""
    said, began = tmp_path / "pid", time.monotonic()
    with pytest.raises(InputError, match="did not end"):
        once(["sh", "-c", f"sleep 60 & echo $! > {said}; wait"], given="stdin", seconds=0.5)
    asleep = int(said.read_text())
    assert time.monotonic() - began < 30  # not as long as what it has started
    with runs(Program(["sh", "-c", "while read x; do echo $$; done"], AB, given="lines")) as run:
        served = int(run("a")[0])
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in (asleep, served)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(asleep)
    assert not alive(served)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not os.path.isdir("/proc/self")


def test_a_prior_goes_by_name():
    assert Program(["echo"], AB, {"b": 0.7, "a": 0.3}).weights.tolist() == [0.3, 0.7]
    assert Program(["echo", "x" * 90], AB).name.endswith("...")
