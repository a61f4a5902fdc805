"""The inside of a worker of our own cluster: started by `own_cluster.py`, it ends with its parent.

Its credentials arrive on standard input: unlike arguments and the environment, no other user of
this machine can read them there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from typing import Any

from narcissus._optional import optional
from narcissus._visible import show_visibly
from narcissus.study.engines._worker import die_with

QUIET: dict[str, object] = {
    # Pages about tasks and logs, for whoever asks: nobody needs them.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
}
"""Settings of Dask's for a scheduler and workers that live as long as a command."""


def main(parent: int) -> None:
    """Read the credentials, then work for the scheduler until it ends."""
    die_with(parent)
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    show_visibly(sys.stderr)
    told: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    asyncio.run(_work(told))


async def _work(told: dict[str, Any]) -> None:
    config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
    distributed: Any = optional("distributed", extra="dask", purpose="The engine dask")
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with config.set(QUIET):
        worker = await distributed.Worker(
            told["scheduler"],
            nthreads=1,
            memory_limit=0,
            host="127.0.0.1",
            protocol="tls",
            dashboard=False,
            local_directory=told["folder"],
            security=distributed.Security(
                require_encryption=True,
                tls_ca_file=told["certificate"],
                tls_worker_cert=told["certificate"],
                tls_worker_key=told["key"],
            ),
        )
        await worker.finished()
