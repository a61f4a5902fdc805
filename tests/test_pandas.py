"""Pandas is loaded when it is used, and no sooner: workers and commands start without it."""

import subprocess
import sys

import pandas
import pytest

from narcissus._pandas import is_frame, pd

LOADED = "assert not {'pandas', 'scipy.stats', 'matplotlib'} & set(sys.modules), sys.modules.keys()"


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param("narcissus.study.engines._worker, narcissus.kinds.table.kind", id="worker"),
        pytest.param("narcissus.audits.play, narcissus.cli.playing", id="command"),
    ],
)
@pytest.mark.one_in(2)
def test_what_every_worker_and_audit_starts_with_loads_little(modules):
    code = (
        f"import sys, {modules}; {LOADED}\n"
        "from narcissus._pandas import is_frame, pd\n"
        "assert not is_frame(3) and 'pandas' not in sys.modules\n"
        "assert is_frame(pd.DataFrame()) and 'pandas' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_its_names_are_those_of_pandas():
    assert pd.DataFrame is pandas.DataFrame
    assert pd.errors is pandas.errors
    with pytest.raises(AttributeError, match="DateFrame"):
        pd.DateFrame
    assert is_frame(pandas.DataFrame())
    assert not is_frame(pandas.Series())
