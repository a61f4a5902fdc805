"""A worker process has our path, without the folder that it stands in."""

import json
import os
import subprocess
import sys

from narcissus.study.engines import _start


def test_nothing_is_imported_from_where_it_stands(tmp_path, monkeypatch):
    for name in ("json.py", "narcissus.py", "numpy.py"):
        (tmp_path / name).write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    told = (
        "import json, sys, os, numpy; print(json.dumps([sys.path, os.getpgid(0) == os.getpid()]))"
    )
    monkeypatch.setattr(
        _start, "_CODE", _start._CODE.replace("main(int(sys.argv[2]))", f"exec({told!r})")
    )
    process = _start.start("_worker")
    out, _ = process.communicate(timeout=60)
    path, apart = json.loads(out)
    assert path == [place for place in sys.path if place]
    assert apart == (os.name == "posix")
    assert not (tmp_path / "ran").exists()


def test_it_prints_where_it_is_told(tmp_path):
    process = _start.start("_worker", prints=subprocess.DEVNULL)
    assert process.stdout is None
    process.communicate(timeout=60)
    assert process.returncode == 0  # told no job
