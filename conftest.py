"""Fixtures shared by all tests: tables of the examples, watched programs, a real browser."""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from narcissus import Audit, _scratch, load_audit
from narcissus.extraction import sandbox
from narcissus.extraction.sandbox import IsolationError, Limits

# The suite tries the same few cases each time, so that it fails where something changed; nightly
# sets this and tries many new ones. How long a case takes is no test: machines are busy.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("new", deadline=None, max_examples=400)
settings.load_profile("new" if os.environ.get("NARCISSUS_NEW_CASES") else "same")


# What a shell starts in the background ignores Ctrl-C, and under `nohup` that the terminal is gone;
# so would the commands that tests start, where tests press it.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if (_number := getattr(signal, _name, None)) and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)


HAS_PAPERS = find_spec("narcissus_papers") is not None
# What is about the papers' package alone; the core's own tests pass without it.
collect_ignore = [] if HAS_PAPERS else ["packages", "tests/papers/test_what_is_printed.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among ten thousand tests: they stay, and it takes a third of the time.

    Nor for it as often in what tests make, which are large trees of small objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples in the package, and in no file of tests: these have none."""
    collected = yield
    if not file_path.name.startswith("test_"):
        return collected
    return [each for each in collected if type(each).__name__ != "DoctestModule"]


def pytest_generate_tests(metafunc):
    """Try a test that `repeats(few, many, name)` marks with few, and with many at night."""
    if mark := metafunc.definition.get_closest_marker("repeats"):
        few, many, *name = mark.args
        at_night = pytest.param(many, id="many", marks=pytest.mark.nightly)
        metafunc.parametrize(*name or ["repeats"], [pytest.param(few, id="few"), at_night])


def share_constants(config):
    """Read a worker's share of the package, before Hypothesis reads all that every worker imports.

    It seeks numbers to try in the sources, and keeps what it found in a file for each of these:
    on a clean checkout, workers that begin together would each read them all.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or (spec := find_spec("hypothesis.internal.constants_ast")) is None:
        return
    names = sorted(name for name in sys.modules if name.partition(".")[0].startswith("narcissus"))
    place = int(worker["workerid"].removeprefix("gw"))
    for name in names[place :: worker["workercount"]]:
        import_module(spec.name).constants_from_module(sys.modules[name])


@pytest.hookimpl(tryfirst=True)  # before what is left out is told by its mark
def pytest_collection_modifyitems(config, items):
    """Leave to the nightly target what `night.txt` lists, and cases of what `one_in(n)` marks.

    Of the latter one in n stays, along the diagonals of what the test is parametrised by: every
    value of each parameter of at least n values is among them.
    """
    share_constants(config)
    if not os.environ.get("NARCISSUS_SLOW"):
        listed = {*(Path(__file__).parent / "tests" / "night.txt").read_text("utf-8").splitlines()}
        for item in items:
            if item.nodeid in listed:
                item.add_marker("nightly")
    if not HAS_PAPERS:
        lacking = pytest.mark.skip(reason="packages/narcissus-papers is not installed")
        for item in items:
            if "copyright" in item.nodeid or "narcissus-papers" in item.nodeid:
                item.add_marker(lacking)
    families = defaultdict(list)
    for item in items:
        if item.get_closest_marker("one_in") and hasattr(item, "callspec"):
            families[item.path, item.originalname].append(item)
    for family in families.values():
        # an id for each `parametrize`, in order: pytest gives their places by no public name
        ids = [item.callspec._idlist for item in family]
        orders = [{one: n for n, one in enumerate(dict.fromkeys(axis))} for axis in zip(*ids)]
        for item, own in zip(family, ids, strict=True):
            place = sum(order[one] for order, one in zip(orders, own, strict=True))
            if place % item.get_closest_marker("one_in").args[0]:
                item.add_marker("nightly")


@pytest.fixture(scope="session", autouse=True)
def installation(tmp_path_factory):
    """Keep the key of this installation out of the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


WALLS = ["namespaces", "Landlock", "bubblewrap"]
DATA = Path(__file__).resolve().parent / "examples" / "data"


@pytest.fixture(scope="session")
def example_data():
    """Give a function from a file's name to its path among the tables of the examples."""

    def find(name: str) -> Path:
        path = DATA / name
        assert path.is_file(), path
        return path

    return find


@pytest.fixture(scope="session")
def kept_audit():
    """Give a function from a kind of study to an audit whose record was kept."""

    def read(kind: str) -> Audit:
        folder = Path(__file__).parent / "tests" / "study" / "kept"
        return load_audit(folder / f"{kind}.json")

    return read


@pytest.fixture(scope="session")
def rows_of():
    """Give a function from a record, as plain values, to its rows, which follow from its result."""
    from narcissus.study.kinds import study_kind

    def rows(record, of=None):
        model = study_kind(record["kind"]).result
        result = model.model_validate_json(json.dumps(record["result"]), strict=True)
        plain = [row.model_dump(mode="json") for row in result.rows()]
        return [row for row in plain if of in (None, row["of"])]

    return rows


@cache
def validator_of(schema):
    from jsonschema.validators import validator_for

    schema = json.loads(schema)
    validator_for(schema).check_schema(schema)
    return validator_for(schema)(schema)


@pytest.fixture(scope="session")
def fit():
    """Hold a document against a JSON Schema, which itself is checked once: that takes longest."""
    return lambda document, schema: validator_of(json.dumps(schema)).validate(document)


@pytest.fixture(scope="session")
def within():
    """Tell whether a count is plausible: two-sided binomial, false alarm rate 1e-6."""
    from scipy import stats

    def check(successes: int, trials: int, rate: float) -> bool:
        low, high = stats.binom.ppf(5e-7, trials, rate), stats.binom.isf(5e-7, trials, rate)
        return bool(low <= successes <= high)

    return check


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    open_to_others(tmp_path)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    _scratch.sweep.cache_clear()
    return folder


def open_to_others(folder):
    """Let other users pass through: root becomes another user to run programs."""
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o011)


@dataclass(frozen=True)
class Watched:
    """A temporary folder in which programs are run, and what they leave there."""

    folder: Path

    def processes(self):
        """Processes whose command line names the folder: the guard, and what it has forked."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and str(self.folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def files(self):
        """Files and folders in it."""
        return list(self.folder.iterdir())

    def left(self, seconds=10):
        """Processes and files that are still there after so long."""
        until = time.monotonic() + seconds
        while (self.processes() or self.files()) and time.monotonic() < until:
            time.sleep(0.02)
        return self.processes(), self.files()


@pytest.fixture
def watched(place):
    """The temporary folder, to see what a run leaves in it."""
    return Watched(place)


@cache
def isolation_by(method):
    """Give the walls of a method; those that the package puts up itself, it tries once as well."""
    try:
        isolation = sandbox._checked()
    except IsolationError:
        isolation = None
    return isolation if isolation and isolation.method == method else sandbox._try_method(method)


@pytest.fixture
def isolation(method):
    """The walls that ``method`` puts up, tried once; a test is skipped where they are not there."""
    try:
        return isolation_by(method)
    except IsolationError as error:
        if method == "bubblewrap" and shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed")
        if "was not stopped" in str(error):
            raise
        pytest.skip(f"this machine lacks it: {error}")


@pytest.fixture
def quick():
    """Limits for programs that end by themselves."""
    return Limits(seconds=10, memory=2**29, output=1000)


@pytest.fixture(params=WALLS)
def method(request):
    """Each way to put up walls."""
    return request.param


@pytest.fixture(params=[*[m for m in WALLS if m != "bubblewrap" or shutil.which("bwrap")], "none"])
def any_method(request):
    """Each way to run a program that is there, that without walls too."""
    return request.param


@pytest.fixture
def narcissus(capsys):
    """Run the command line in this process; give (exit code, output, errors)."""
    from narcissus.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return run


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

STARTER = """import os, sys
from fcntl import F_DUPFD, fcntl
ends = [fcntl(int(end), F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)  # a browser reads its orders there
os.dup2(ends[1], 4)  # and answers here
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """A browser that is spoken to over a pipe, as its developer tools do."""

    def __init__(self, program, folder):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        flags = (*QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank")
        self._process = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(to_read), str(to_write), program, *flags],
            pass_fds=(to_read, to_write), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._unread = b""
        self._number, self._session, self.said = 0, {}, []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        found = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": found["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method, **params):
        self._number += 1
        asked = {"id": self._number, "method": method, "params": params, **self._session}
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        while True:
            said = json.loads(self._message())
            if said.get("id") == self._number:
                assert "error" not in said, said
                return said["result"]
            self.said.append(said)

    def _message(self):
        while b"\0" not in self._unread:
            assert select.select([self._from], [], [], 60)[0], "the browser does not answer"
            more = os.read(self._from, 1 << 16)
            assert more, "the browser went away"
            self._unread += more
        found, _, self._unread = self._unread.partition(b"\0")
        return found

    def js(self, expression):
        found = self(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, address):
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=address)
        end = time.monotonic() + 20
        while not self.js("document.readyState === 'complete' && location.href !== 'about:blank'"):
            assert time.monotonic() < end
            time.sleep(0.02)

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                 windowsVirtualKeyCode=code, **more)  # fmt: skip

    def text(self, name):
        return self.js(f"document.getElementById('{name}').textContent")

    def close(self):
        os.close(self._to)
        os.close(self._from)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@pytest.fixture(scope="module")  # no longer: other tests count the processes there are
def browser(tmp_path_factory):
    """A real browser, started once; skipped where there is none."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium, in which pages would be tried, is installed")
    found = Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()
