"""Options that belong to some kinds of a thing only: one that would not be used is an error.

A section of a study file often has a `kind` and options of which each kind takes some. Their
fields default to None; here they are checked and the defaults of the kind filled in, so that the
record shows what was used, and nothing that was not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def options_of_kind(
    given: Mapping[str, Any], kind: str, takes: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Give ``given`` with the defaults of its kind, if it says nothing that the kind ignores.

    Parameters
    ----------
    given
        The section as it was read; keys that belong to no kind are left alone.
    kind
        Its kind; of one that ``takes`` does not list nothing is known, and nothing is checked.
    takes
        For each kind its options and their defaults.

    Raises
    ------
    ValueError
        An option of other kinds was given; pydantic turns it into an error of the study file.

    Examples
    --------
    >>> takes = {"network": {"parents": 2}, "empirical": {"smoothing": 0.01}}
    >>> options_of_kind({"kind": "network"}, "network", takes)
    {'parents': 2, 'kind': 'network'}
    """
    if kind not in takes:
        return dict(given)
    for options in takes.values():
        for name in options:
            if given.get(name) is not None and name not in takes[kind]:
                users = [k for k, taken in takes.items() if name in taken]
                raise ValueError(
                    f"`{name}` is not used with '{kind}', only with {' and '.join(users)}: "
                    "leave it out"
                )
    return {**takes[kind], **{k: v for k, v in given.items() if v is not None}}
