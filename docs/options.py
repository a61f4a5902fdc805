"""Show options ``name: text`` of a docstring as a list, and head its examples, on the site."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

OPTION = re.compile(r"^(\**\w+(?:, \w+)*): (\S.*(?:\n +\S.*)*)", re.MULTILINE)


EXAMPLE = re.compile(r"^>>> ", re.MULTILINE)


class Options(Extension):
    """Turn options into a list and head the examples, before the site's parser reads them."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    r"""Return a docstring with a list in place of its options, and a heading above its examples.

    >>> listed("Cut.\n\nrows: Those\n    to keep.\n")
    'Cut.\n\n* `rows`: Those to keep.\n'
    """
    text = OPTION.sub(lambda one: f"* `{one[1]}`: {' '.join(one[2].split())}", text)
    return EXAMPLE.sub(r"Examples\n--------\n\g<0>", text, count=1)
