"""A user's own class or function, named in a study file as ``module:attribute``.

A study is data: such a name is an error unless whoever plays the study allows code. Then it names
a module next to the study file, or an installed one that declares the part under the entry point
group ``narcissus.parts``; nothing else that Python could import.

An object that was given from Python (`narcissus.study.given`) has a name that begins with
``python:``; whoever gave it needs no permission.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module, metadata
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from narcissus._files import read_bytes
from narcissus._validation import did_you_mean
from narcissus.errors import InputError

GROUP = "narcissus.parts"  # the entry point group under which a package declares its parts
GIVEN = "python:"  # how the name of an object begins that was given from Python
PROGRAM = "program "  # how the name of a file begins that a program's command names, in digests
UNKNOWN = "not known"  # how the digest begins of an object that cannot be told from others

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_number = itertools.count()
_LARGEST_PROGRAM = 2**28  # bytes of a file that a command names


class OwnCode:
    """The custom code that a study may run, if it is ``allowed`` any, and what it ran.

    ``given`` are objects that were given from Python, by the names that stand for them; ``digests``
    the SHA-256 of the source of each module that was run, of each given object, and of each file
    that the command of a program names.
    """

    def __init__(self, *, allowed: bool = False, given: Mapping[str, Any] | None = None) -> None:
        self.allowed = allowed
        self.given = dict(given or {})
        self.digests: dict[str, str] = {}
        # A package of its own for each study: two may each have a file `mine.py`, and the modules
        # beside one import each other (`from . import other`) without the folder on the path,
        # where a file `numpy.py` would take the place of the installed one.
        self._root = f"narcissus_study_{next(_number)}"

    @property
    def said(self) -> dict[str, str]:
        """What the record says of the code that was run: a digest for each module and object."""
        return {
            self._called(name): UNKNOWN if sha.startswith(UNKNOWN) else f"sha256:{sha}"
            for name, sha in self.digests.items()
        }

    def _called(self, name: str) -> str:
        if name in self.given:
            return f"object {name.removeprefix(GIVEN)}"
        return name if name.startswith(PROGRAM) else f"module {name}"

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Let `load_attribute` work under this permission."""
        token = _in_use.set(self)
        try:
            yield
        finally:
            _in_use.reset(token)

    def module(self, name: str, folder: Path) -> ModuleType | None:
        """Import a module next to the study; None where there is none of that name."""
        finder = _Beside(self._root, folder.resolve(), self.digests)
        if finder.place(name) is None:
            return None
        if self._root not in sys.modules:
            package = ModuleType(self._root)
            package.__path__ = []
            sys.modules[self._root] = package
            sys.meta_path.insert(0, finder)
            # Worker processes cannot import that package: they get the classes themselves.
            cloudpickle.register_pickle_by_value(package)
        return import_module(f"{self._root}.{name}")


_in_use: ContextVar[OwnCode | None] = ContextVar("own_code", default=None)


def require_allowed(names: Iterable[str]) -> None:
    """Refuse a study's own code unless it is allowed; nothing is imported."""
    code = _in_use.get()
    wanted = [name for name in dict.fromkeys(names) if not name.startswith(GIVEN)]
    if wanted and not (code is not None and code.allowed):
        raise InputError(
            f"the study runs its own code: {', '.join(wanted)}. A study is data unless you say "
            "otherwise: read that code, and if you trust it, allow it with --allow-code (in "
            "Python: allow_code=True)"
        )


def allow_program(command: Sequence[str], files: Iterable[Path]) -> None:
    """Refuse a program unless code is allowed; note the digests of the files that it names."""
    require_allowed([f"the program {' '.join(command)}"])
    code = _in_use.get()
    assert code is not None
    for file in files:
        code.digests[f"{PROGRAM}{file.name}"] = _sha256(read_bytes(file, largest=_LARGEST_PROGRAM))


def allow_scheduler(address: str) -> None:
    """Refuse a scheduler that the study itself names, unless its code is allowed."""
    code = _in_use.get()
    if code is None or not code.allowed:
        raise InputError(
            f"the study names a scheduler, {address}: it would get your data, and could run code "
            "here. If you trust it, name it yourself, with --scheduler (in Python: "
            "engine=Dask(...)), or allow what the study names with --allow-code"
        )


def load_attribute(name: str, folder: Path) -> Any:
    """Import ``module:attribute``, from next to the study file or as an installed part.

    A name that stands for an object that was given from Python gives that object.
    """
    if name.startswith(GIVEN):
        return _given(name)
    if not _NAME.fullmatch(name):
        raise InputError(f"your own class is named as 'module:attribute', got {name!r}")
    require_allowed([name])
    code = _in_use.get()
    assert code is not None
    module_name, _, attribute = name.partition(":")
    try:
        module = code.module(module_name, folder)
        if module is None:
            module = _installed(name, code)
    except InputError:
        raise
    except ImportError as error:
        missing = getattr(error, "name", None) or ""
        hint = ""
        if missing.isidentifier() and (folder / f"{missing}.py").is_file():
            hint = f"; a module next to the study is imported as `from . import {missing}`"
        raise InputError(f"cannot import {module_name!r} for {name!r}: {error}{hint}") from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{module_name!r} raised {type(error).__name__} when it was imported: {error}"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        hint = did_you_mean(attribute, [n for n in dir(module) if not n.startswith("_")])
        raise InputError(f"{module_name!r} has no {attribute!r}{hint}") from error


def _given(name: str) -> Any:
    code = _in_use.get()
    if code is None or name not in code.given:
        raise InputError(
            f"`{name}` stands for an object that was given from Python: give it again, to "
            "`narcissus.audit` or in the dictionary for `narcissus.load_study`"
        )
    return code.given[name]


def source_digests(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every module that runs for these names, those they import included."""
    for name in names:
        load_attribute(name, folder)
    code = _in_use.get()
    return {} if code is None else dict(sorted(code.digests.items()))


def _installed(name: str, code: OwnCode) -> ModuleType:
    """Import an installed module that declares this very part."""
    module_name = name.partition(":")[0]
    declared = {f"{point.module}:{point.attr}" for point in metadata.entry_points(group=GROUP)}
    if name not in declared or module_name.partition(".")[0] in sys.stdlib_module_names:
        raise InputError(
            f"cannot import {module_name!r} for {name!r}: a part is a module next to the "
            f"study, or declared by an installed package (entry point group {GROUP!r})"
            f"{did_you_mean(name, declared)}"
        )
    module = import_module(module_name)
    if module.__file__ is not None:
        code.digests[module_name] = _sha256(Path(module.__file__).read_bytes())
    return module


def _sha256(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


class _Beside(MetaPathFinder):
    """Find modules next to a study by their files, under the study's own package only."""

    def __init__(self, root: str, folder: Path, digests: dict[str, str]) -> None:
        self._root, self._folder, self._digests = root, folder, digests

    def place(self, name: str) -> Path | None:
        """Return the file of a module, or the folder of a package without one."""
        path = self._folder.joinpath(*name.split("."))
        for candidate in (path / "__init__.py", path.with_name(path.name + ".py"), path):
            if candidate.exists() and (candidate == path) == candidate.is_dir():
                if not candidate.resolve().is_relative_to(self._folder):
                    raise InputError(
                        f"{candidate} leads out of the folder of the study: copy it there"
                    )
                return candidate
        return None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the study's package; of all others, none."""
        if not fullname.startswith(self._root + "."):
            return None
        name = fullname.removeprefix(self._root + ".")
        location = self.place(name)
        if location is None:
            return None
        if location.is_dir():
            return ModuleSpec(fullname, None, is_package=True)
        return spec_from_file_location(
            fullname,
            location,
            loader=_FromSource(name, location, self._digests),
            # Empty: what is in a package is found here, not on a path.
            submodule_search_locations=[] if location.name == "__init__.py" else None,
        )


class _FromSource(Loader):
    """Run a module from its source, never from cached bytecode that may say something else."""

    def __init__(self, name: str, path: Path, digests: dict[str, str]) -> None:
        self._name, self._path, self._digests = name, path, digests

    def exec_module(self, module: ModuleType) -> None:
        source = read_bytes(self._path, largest=2**24)
        self._digests[self._name] = _sha256(source)
        exec(compile(source, str(self._path), "exec", dont_inherit=True), module.__dict__)
