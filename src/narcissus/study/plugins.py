"""A user's own class or function, named in a study file as ``module:attribute``."""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from narcissus._validation import did_you_mean
from narcissus.errors import InputError


def load_attribute(name: str, folder: Path) -> Any:
    """Import ``module:attribute``; modules beside the study file are found first.

    Raises
    ------
    InputError
        The name has another form, there is no such module or attribute, or the module raised
        when it was imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise InputError(f"your own class is named as 'module:attribute', got {name!r}")
    try:
        module = _module(module_name, folder)
    except ImportError as error:
        raise InputError(f"cannot import {module_name!r} for {name!r}: {error}") from error
    except Exception as error:
        raise InputError(
            f"{module_name!r} raised {type(error).__name__} when it was imported: {error}"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        hint = did_you_mean(attribute, [n for n in dir(module) if not n.startswith("_")])
        raise InputError(f"{module_name!r} has no {attribute!r}{hint}") from error


def source_digest(name: str, folder: Path) -> str:
    """Give the SHA-256 of the files that name and define ``module:attribute``; '' without any."""
    found = load_attribute(name, folder)
    named = _module(name.partition(":")[0], folder)
    # An object of a class from elsewhere: what it was made with stands in the module that names it.
    defined = sys.modules.get(getattr(found, "__module__", ""))
    files = [getattr(module, "__file__", None) for module in (named, defined)]
    sources = [Path(path).read_bytes() for path in dict.fromkeys(files) if path is not None]
    return hashlib.sha256(b"".join(sources)).hexdigest() if sources else ""


def _module(name: str, folder: Path) -> ModuleType:
    """Import a module from the folder, or an installed one."""
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    # Under a name of its own: two studies may each have a file `mine.py`.
    unique = f"narcissus_study_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    if unique in sys.modules:
        return sys.modules[unique]
    sys.path.insert(0, str(folder))  # for the modules that it imports itself
    try:
        if not path.is_file():
            return import_module(name)
        spec = util.spec_from_file_location(unique, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python module")
        module = util.module_from_spec(spec)
        sys.modules[unique] = module  # before it runs, as pickling and dataclasses expect
        spec.loader.exec_module(module)
        # Worker processes cannot import that name: they get the classes themselves.
        cloudpickle.register_pickle_by_value(module)
    except BaseException:
        sys.modules.pop(unique, None)
        raise
    finally:
        sys.path.remove(str(folder))
    return module
