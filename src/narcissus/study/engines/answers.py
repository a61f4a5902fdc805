"""Answers of a worker, as bytes: a value, or the exception that was raised."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cloudpickle

from narcissus.errors import NarcissusError


def answer(play: Callable[[], Any]) -> bytes:
    """Pack the value, or the exception and its traceback."""
    try:
        return pickle.dumps((play(), None, ""))
    except MemoryError:
        error: BaseException = MemoryError("memory ran out")
        text = ""
    except SystemExit as raised:
        error, text = SystemExit(), repr(raised.code)
    except Exception as raised:
        error, text = raised, traceback.format_exc()
    with suppress(Exception):
        packed = cloudpickle.dumps((None, error, text))
        pickle.loads(packed)  # some exceptions cannot be made again from what they were made of
        return packed
    told = RuntimeError(f"{type(error).__name__}: {error}")
    return pickle.dumps((None, told, text))


def opened(message: bytes, where: str) -> Any:
    """Return the value, or raise the exception with ``where`` in a note."""
    value, error, text = pickle.loads(message)
    if error is None:
        return value
    if isinstance(error, MemoryError):
        raise NarcissusError(
            f"memory ran out {where} (MemoryError): use fewer --workers or a smaller study; "
            "finished trials are kept"
        )
    if isinstance(error, SystemExit):
        raise NarcissusError(f"sys.exit({text}) was called {where}")
    error.add_note(where)
    if not isinstance(error, NarcissusError):
        error.add_note("in a worker process:\n" + text)
    raise error
