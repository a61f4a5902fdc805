"""``--group`` and ``--report`` of `estimate`: the column of groups, and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narcissus._validation import did_you_mean
from narcissus.cli.sheets import asked, write
from narcissus.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from narcissus.results import Result


def taken(outputs: pd.DataFrame, group: str, secret: str) -> pd.Series[Any]:
    """Take the column of groups out of the outputs."""
    if group == secret:
        raise InputError(f"`--group` names the column of secrets, {secret!r}; name another one")
    if group not in outputs:
        near = did_you_mean(group, list(outputs.columns))
        raise InputError(f"`--group`: there is no column {group!r} beside the secret{near}")
    if outputs.shape[1] == 1:
        raise InputError(f"beside {secret!r} and {group!r} there is no column of outputs")
    return outputs.pop(group)


def write_sampled(
    report: Path, parts: Sequence[Result], files: Mapping[str, Path | None], seed: int, *,
    silent: bool, name: str = "",
) -> None:  # fmt: skip
    """Write the page of what samples say, by group or not, with all that was asked about them."""
    from narcissus import channels as ch
    from narcissus.report.leakage import estimate_page, groups_page

    source = asked(files, seed)
    found, *rest = parts
    name = name or next(path.name for path in files.values() if path is not None)
    if isinstance(found, ch.GroupLeakage):
        page = groups_page(found, name, source)
    else:
        assert isinstance(found, ch.LeakageEstimate)
        others = next((part for part in rest if isinstance(part, ch.SampledLeakage)), None)
        tests = (part for part in rest if isinstance(part, ch.NoLeakageTest | ch.LeakageEvidence))
        page = estimate_page(found, name, source, others, next(tests, None))
    write(report, page, silent=silent)
