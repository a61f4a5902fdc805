"""One run of a program: what reaches it, what comes of it, how it is ended or refused."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.extraction import sandbox
from narcissus.extraction._runs import Limits, Stop, run_once
from narcissus.extraction.sandbox import run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


LONG = Limits(seconds=60, memory=2**29)


FOREVER = b"print('begun', flush=True)\nwhile True: pass\n"


def test_another_thread_can_end_a_run(watched, any_method):
    stop, ended = Stop(), []
    thread = threading.Thread(
        target=lambda: ended.append(run_once(FOREVER, b"", LONG, any_method, stop=stop))
    )
    thread.start()
    until = time.monotonic() + 60
    while len(watched.processes()) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    stop.end()
    thread.join(30)
    assert ended[0].ending == "crashed"
    assert (
        run_once(FOREVER, b"", LONG, any_method, stop=stop).ending == "crashed"
    )  # it came too late
    assert watched.left() == ([], [])


def test_no_room_for_the_release_is_said(watched, tmp_path):
    with pytest.raises(NarcissusError, match=r"cannot copy the release.*TMPDIR"):
        run_once(b"print(1)", tmp_path / "none", LONG, "none")
    assert watched.left() == ([], [])


def test_programs_are_not_run_elsewhere(monkeypatch):
    monkeypatch.setattr("narcissus.extraction._runs.os.name", "nt")
    with pytest.raises(NarcissusError, match="Linux"):
        run_once(b"print(1)", b"", LONG, "none")


@pytest.mark.usefixtures("isolation")
def test_dependencies_named_in_pth_files_are_there(method, place, tmp_path):
    """As editable installs are, by a folder or by a finder of their own."""
    places = [tmp_path / "by_folder", tmp_path / "by_finder"]
    for found in places:
        found.mkdir()
        (found / f"mine_{found.name}.py").write_text("WORD = 'found'\n")
    made = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", made], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    (site / "a.pth").write_text(f"{places[0]}\n")
    (site / "b.pth").write_text("import finder_of_mine; finder_of_mine.install()\n")
    mapping = {"mine_by_finder": str(places[1] / "mine_by_finder.py")}
    (site / "finder_of_mine.py").write_text(FINDER.format(mapping=mapping))
    source = "import mine_by_folder as a, mine_by_finder as b\nprint(a.WORD, b.WORD)"
    done = subprocess.run(
        [made / "bin" / "python", "-c", IN_ENVIRONMENT, *map(str, SOURCES), method, source],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "found found\n", done.stderr


SOURCES = (Path(sandbox.__file__).parents[2], Path(np.__file__).parents[1])


FINDER = """
import sys
from importlib import util
MAPPING = {mapping!r}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return util.spec_from_file_location(name, MAPPING[name])
def install():
    sys.meta_path.append(Finder)
"""


IN_ENVIRONMENT = """
import sys
sys.path += sys.argv[1:3]
from narcissus.extraction._runs import Limits, run_once
run = run_once(sys.argv[4].encode(), b"", Limits(), sys.argv[3])
print(run.output.decode(), end="")
print(run.error, file=sys.stderr)
"""


def test_limits_are_checked():
    with pytest.raises(InputError, match="seconds"):
        Limits(seconds=0)


def test_output_and_errors_are_cut(quick):
    run = run_program(b"print('x' * 5000)", b"", quick)
    assert (run.ending, len(run.output)) == ("output limit", 1000)
    run = run_program(b"raise SystemExit('no ' * 10000)", b"", quick)
    assert run.ending == "crashed"
    assert len(run.error) <= 4096


def test_bytes_that_are_no_text_pass(quick):
    assert run_program(b"open(1, 'wb').write(b'\\xff\\x00')", b"", quick).output == b"\xff\x00"
