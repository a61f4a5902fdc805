"""The inside of the sandbox for many runs: import once what they need, then fork for each.

`_guard.py` loads it in place of `_jail.py`, whose walls it puts up: this process enters the
namespaces, drops its privileges, and never runs any of the program. Each run is a fork that adds
the remaining walls (limits, Landlock, seccomp) before it runs the program. No run can reach this
process or another run: each has separate pipes, and the private folder is emptied between runs.
Common preparations happen once: imports, and the calls that read the model, whose result each run
gets as copy-on-write memory. Standard library only.

Each result goes to standard output as a line of JSON followed by the printed bytes.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import resource
import runpy
import selectors
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_JAIL: dict[str, Any] = runpy.run_path(os.path.join(_HERE, "_jail.py"), run_name="jail")
_KEPT = 4096  # bytes of what is written on standard error
_LEAST_WAIT = 0.05

unshare: Callable[[], str] = _JAIL["unshare"]
"""As the guard asks for it."""


def enter(config: dict[str, Any]) -> Callable[[], None]:
    """Put up the outer walls, import and serve; returns only in the process of a run."""
    layers: list[str] = _JAIL["place"](config)
    os.write(config["report"], json.dumps(layers).encode())
    os.close(config["report"])
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # what an import prints is no answer
        os.dup2(null, stream)
    memory = max(limits["memory"] for _, limits in config["runs"])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))  # of what is read for all runs as well
    atexit.register(_leave)  # first of all, and so the last that is done at the end of a run
    for name in config["modules"]:
        _import(name)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)  # threads that wait for each other cost more than they give
        for opening in config["openings"]:
            _open(torch, *opening)
    gc.freeze()  # looking for garbage in a run would write on every object, and so copy it
    for name, limits in config["runs"]:
        program = _fork(config, name, limits, layers, answers)
        if program is not None:
            return program
    os._exit(0)


def _import(name: str) -> None:
    """Import ``module`` or ``module:attribute``; a failing import also fails in the program.

    One that asks to end the process (`SystemExit`) does so in the program that names it, alone.
    """
    module, _, attribute = name.partition(":")
    with contextlib.suppress(BaseException):
        namespace = importlib.import_module(module)
        if attribute:
            getattr(namespace, attribute)


def _open(torch: Any, what: str, given: list[str], named: dict[str, str]) -> None:
    """Make a call with which programs read the release, and keep its result for the runs.

    A run that makes the same call gets the result, once. A call that fails here fails in the
    program too; one that draws random numbers is left to each run.
    """
    with contextlib.suppress(BaseException):
        package, *path, name = what.split(".")
        holder = functools.reduce(getattr, path, importlib.import_module(package))
        call = getattr(holder, name)
        before = torch.get_rng_state()
        opened = [call(*given, **named)]
        if not torch.equal(before, torch.get_rng_state()):
            torch.set_rng_state(before)
            return

        @functools.wraps(call)
        def once(*args: Any, **others: Any) -> Any:
            plain = all(type(word) is str for word in (*args, *others.values()))
            if opened and plain and list(args) == given and others == named:
                return opened.pop()
            return call(*args, **others)

        setattr(holder, name, once)


def _fork(
    config: dict[str, Any], name: str, limits: dict[str, Any], layers: list[str], answers: int
) -> Callable[[], None] | None:
    """Fork a program's run; return its body in the child, None in this process."""
    printed, error, report = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _own_streams(config, printed[1], error[1], report[1])
        _new_chance()
        config = {**config, **limits}
        os.write(3, json.dumps(_JAIL["confine"](config)).encode())
        os.close(3)
        return lambda: _run(name)
    for _, end in (printed, error, report):
        os.close(end)
    outcome = _attend(child, printed[0], error[0], limits)
    with os.fdopen(report[0], "rb") as file:
        inner = file.read()
    outcome["layers"] = [*layers, *(json.loads(inner) if inner else [])]
    output, errors = outcome.pop("output"), outcome.pop("error")
    head = json.dumps({**outcome, "output": len(output), "error": len(errors)}).encode()
    for part in (head + b"\n", bytes(output), bytes(errors)):
        while part:
            part = part[os.write(answers, part) :]  # noqa: PLW2901
    _empty(config["tmp"])
    return None


_ended = [1]  # the exit code of this run


def _run(name: str) -> None:
    """Run the program, and keep the exit code that Python would give it."""
    try:
        _JAIL["run"](name)
        _ended[0] = 0
    except SystemExit as end:
        _ended[0] = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
        raise


def _leave() -> None:
    """Exit as Python would, but without freeing inherited objects, which would copy them."""
    _flush()
    sys.__dict__.update(last_exc=None, last_value=None, last_traceback=None)
    with contextlib.suppress(KeyError, AttributeError):
        sys.modules["__main__"].__dict__.clear()  # files that it did not close are written
    gc.collect()
    _flush()
    os._exit(_ended[0] & 0xFF)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            _ended[0] = _ended[0] or 120


def _own_streams(config: dict[str, Any], output: int, error: int, report: int) -> None:
    """Keep this run's streams, with the report as descriptor 3; close all other descriptors."""
    stdin = os.open(config["stdin"], os.O_RDONLY)
    high = 200  # above whatever they are now
    streams = (stdin, output, error, report)
    for place, handle in enumerate(streams):
        os.dup2(handle, high + place)
    for place in range(len(streams)):
        os.dup2(high + place, place, inheritable=True)
    os.closerange(4, 4096)


def _new_chance() -> None:
    """Reseed libraries that drew their seed before the fork; Python's generator does itself."""
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.seed()


def _attend(child: int, printed: int, error: int, limits: dict[str, Any]) -> dict[str, Any]:
    begun = time.monotonic()
    deadline = begun + limits["seconds"]
    output, errors = bytearray(), bytearray()
    stopped, status = "", None
    with selectors.DefaultSelector() as selector:
        for stream in (printed, error):
            selector.register(stream, selectors.EVENT_READ)
        while status is None or selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 and not stopped and status is None:
                stopped = "timeout"
            if len(output) > limits["output"] and not stopped:
                stopped = "output limit"
            if stopped and status is None:
                os.kill(child, signal.SIGKILL)
            if status is None:
                pid, exit_status = os.waitpid(child, 0 if stopped else os.WNOHANG)
                status = exit_status if pid else None
            wait = min(max(left, 0), _LEAST_WAIT)
            if not selector.get_map():
                time.sleep(0 if status is not None else wait)
            for key, _ in selector.select(wait) if selector.get_map() else ():
                _read(selector, key.fd, output if key.fd == printed else errors)
            del errors[:-_KEPT]
    for stream in (printed, error):
        os.close(stream)
    return {
        "output": output[: limits["output"]],
        "error": errors,
        "stopped": stopped,
        "code": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - begun,
    }


def _read(selector: selectors.BaseSelector, stream: int, held: bytearray) -> None:
    chunk = os.read(stream, 65536)
    if chunk:
        held += chunk
    else:
        selector.unregister(stream)


def _empty(folder: str) -> None:
    """Empty the private folder; the folder itself is root's mount and stays."""
    remove: Callable[[str], None] = sys.modules["__main__"].__dict__["remove"]  # the guard's
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            remove(entry.path)
        else:
            os.unlink(entry.path)
    if os.listdir(folder):  # then the next run would not begin as this one did
        os._exit(1)
