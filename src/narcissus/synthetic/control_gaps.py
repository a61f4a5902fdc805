"""Copies by columns that the control lacks: they are compared with coincidence, as without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from narcissus.synthetic.traces import Traces


def by_lacking(without: Traces, lacking: Sequence[str]) -> Traces | None:
    """Return what appears in the file by sets of columns of which the control lacks one.

    A control that lacks a column tells nothing of copies by it, and makes no verdict milder: these
    claims are a separate family, at the level that they have where there is no control.

    without: By all columns of the data and the file, with no control.
    """
    names = set(lacking)
    some = tuple(trace for trace in without.each if names & set(trace.columns))
    return replace(without, each=some) if some else None


def with_lacking(traces: Traces, without: Traces, lacking: Sequence[str]) -> Traces:
    """Return what only a control explains: by the columns of all files, and by those it lacks.

    traces: By the columns of all files, next to the control.
    without: By all columns of the data and the file, with no control.
    """
    names = set(lacking)
    striking = [each for each in without.sets.striking if names & set(each.columns)]
    sets = replace(
        traces.sets,
        striking=(*traces.sets.striking, *striking),
        sets=traces.sets.sets + without.sets.sets,
        left=traces.sets.left + without.sets.left,
    )
    return replace(
        traces,
        linked=(*traces.linked, *(each for each in without.linked if each.column in names)),
        near=traces.near or without.near,
        values=(*traces.values, *(each for each in without.values if names & set(each.columns))),
        sets=sets,
        nearer=traces.nearer or without.nearer,
    )
