"""``--group`` and ``--report`` of `estimate`: the column of groups, and the page."""

from __future__ import annotations

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


def write_sampled(report: Path, found: Result, samples: Path, seed: int, *, silent: bool) -> None:
    """Write the page of what samples say, by group or not."""
    from narcissus.channels import GroupLeakage, LeakageEstimate
    from narcissus.report.leakage import estimate_page, groups_page

    source = asked({"the samples": samples}, seed)
    if isinstance(found, GroupLeakage):
        page = groups_page(found, samples.name, source)
    else:
        assert isinstance(found, LeakageEstimate)
        page = estimate_page(found, samples.name, source)
    write(report, page, silent=silent)
