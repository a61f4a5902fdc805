"""A user's own class or function, named in a study file as ``module:attribute``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from narcissus._validation import did_you_mean
from narcissus.errors import InputError


def load_attribute(name: str, folder: Path) -> Any:
    """Import ``module:attribute``; modules beside the study file are found.

    Raises
    ------
    InputError
        The name has another form, or there is no such module or attribute.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise InputError(f"your own class is named as 'module:attribute', got {name!r}")
    place = str(folder)
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise InputError(f"cannot import {module_name!r} for {name!r}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        hint = did_you_mean(attribute, [n for n in dir(module) if not n.startswith("_")])
        raise InputError(f"{module_name!r} has no {attribute!r}{hint}") from error
