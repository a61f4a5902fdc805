"""Runs of a program, held against data."""

from narcissus.extraction.bench import Bench, Tried
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import Verbatim
from narcissus.extraction.sandbox import Isolation, Limits, ProgramRun


def run(output, ending="finished"):
    return ProgramRun(output, "", ending, 0.1)


def test_an_output_counts_only_where_the_program_ended_by_itself():
    data = DataSet(b"x")
    bench = Bench(data, Verbatim(), b"", 3, 0.95, 0.0, Limits(), Isolation("none", ()))
    tried = bench.against(data, [run(b"x"), run(b"x", "timeout"), run(b"y")])
    assert tried.good == [True, False, False]
    assert tried.good_outputs == [b"x"]
    share = bench.share(tried, "success")
    assert (share.value, share.trials, share.quantity) == (1 / 3, 3, "success")


def test_something_readable_is_no_silence():
    Tried([run(b"wrong"), run(b"")], [False, False]).refuse_silence()
