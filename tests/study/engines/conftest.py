"""Clusters of Dask's: our own, and one that others started."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture(scope="module")
def own():
    """Give a cluster of three workers on this machine, the same for all tests of a module."""
    pytest.importorskip("distributed")
    from narcissus.study.engines import Dask

    executor = Dask(workers=3)
    yield executor
    executor.close()


class Cluster:
    """A scheduler and workers that others started, with Dask's own commands."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.common = ["--no-dashboard", "--scheduler-file", str(self.file)]
        self.folder, self.workers = folder, []
        address = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0"]
        self.scheduler = self.start("scheduler", *address)

    def start(self, kind, *options):
        """Run one of Dask's commands, in a group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *options, *self.common],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def work(self):
        """Start a worker."""
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)]
        self.workers.append(self.start("worker", *options))

    @property
    def address(self):
        until = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        return json.loads(self.file.read_text())["address"]


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler; workers when they are asked for."""
    pytest.importorskip("distributed")
    made = Cluster(tmp_path)
    yield made
    for process in (*made.workers, made.scheduler):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
