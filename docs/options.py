"""Show options that a docstring writes as ``name: text`` as a list on the site's pages."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

OPTION = re.compile(r"^(\**\w+(?:, \w+)*): (\S.*(?:\n +\S.*)*)", re.MULTILINE)


class Options(Extension):
    """Turn such lines into a list, before the site's parser reads the docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    r"""Return a docstring with a list in place of its options.

    >>> listed("Cut.\n\nrows: Those\n    to keep.\n")
    'Cut.\n\n* `rows`: Those to keep.\n'
    """
    return OPTION.sub(lambda one: f"* `{one[1]}`: {' '.join(one[2].split())}", text)
