"""What a page gives away is said by it, for every kind; and nothing else changes with the data."""

import re
from hashlib import sha256

import pandas as pd
import pytest

import narcissus
from narcissus.report import page_of, render_html, render_text
from narcissus.report.gives_away import TITLE, figures_of, figures_of_files, given_away
from narcissus.report.statement import statement_markdown, statement_of
from narcissus.study.keyed import WITHHELD
from narcissus.study.kinds import KINDS
from narcissus.study.shareable import to_show

NOBODY = {"game", "secrets"}


def section_of(record, **how):
    [found] = [s for s in page_of(record, **how).sections if s.title == TITLE]
    return found


def test_every_record_of_every_kind_has_the_section_and_it_names_each_figure(every_record):
    assert {record.kind for record in every_record.values()} == set(KINDS)
    for name, record in every_record.items():
        for how in ({}, {"internal": True}):
            figures = figures_of(record if how else to_show(record))
            text = " ".join(render_text(record, **how).split())
            html = render_html(record, **how)
            assert TITLE in text, name
            assert TITLE in html, name
            mechanism = record.kind == "channel" and record.study["channel"]["mechanism"]
            assert bool(figures) != (record.kind in NOBODY or bool(mechanism)), name
            if not figures:
                assert "no figure here depends on anybody's record" in text
                continue
            for one in figures:
                assert one.name in text, (name, one.name)
                assert " ".join(one.how.split()) in text, (name, one.name)


def test_a_statement_says_it_too(every_record):
    for record in every_record.values():
        release = dict(statement_of(record).sections[0].blocks[0].rows)
        names = [figure.name for figure in figures_of(to_show(record))]
        assert release.get("Depends on real records", "").split("; ") == (names or [""])


@pytest.mark.nightly
def test_internal_pages_say_so_first(every_record):
    for record in every_record.values():
        assert "not to be shown" in render_text(record, internal=True).splitlines()[0]
        assert "not to be shown" in re.search(r"<h1[^>]*>(.*?)</h1>", render_html(
            record, internal=True), re.S)[1]  # fmt: skip
        assert "not to be shown" not in render_text(record)


def with_digests(record):
    """Give a record that keeps no digest of its data one of each, which must not be shown."""
    digests = {
        what: f"sha256:{sha256(what.encode()).hexdigest()}" if digest == WITHHELD else digest
        for what, digest in record.provenance.digests.items()
    }
    provenance = record.provenance.model_copy(update={"digests": digests})
    return record.model_copy(update={"provenance": provenance})


def test_no_page_for_showing_has_a_digest_of_data_the_seed_or_pictures(every_record):
    for name, kept in every_record.items():
        if not figures_of(kept) or kept.kind == "channel":
            continue
        record = with_digests(kept)
        made = record.provenance
        for text in (
            render_html(record),
            render_text(record),
            statement_markdown(statement_of(record)),
        ):
            assert not re.search(r"<img|<image ", text), name
            for what, digest in made.digests.items():
                if what != "policy":
                    assert digest not in text, (name, what)
            assert record.portable_digest == "" or record.portable_digest not in text
            assert len(made.entropy) < 5 or made.entropy not in text


def leaves(value, path=()):
    """Yield (path, value) of everything in a record."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        if isinstance(inner, dict | list):
            if not inner:
                yield ".".join(map(str, (*path, key))), inner
            yield from leaves(inner, (*path, key))
        else:
            yield ".".join(map(str, (*path, key))), inner


def changed(one, other):
    """Paths of a record that another one has otherwise, or has not."""
    a, b = dict(leaves(one.to_dict())), dict(leaves(other.to_dict()))
    return {path for path in {*a, *b} if path not in a or path not in b or a[path] != b[path]}


def frame(changes=0):
    """Sixty people, of whom some have another secret than they had."""
    people = [(f"{'nesw'[k % 4]}", k // 4 % 3, (k * k // 3) % 2) for k in range(60)]
    rows = pd.DataFrame(people, columns=["place", "age", "ill"])
    for k in range(changes):
        rows.loc[7 * k, "ill"] = 1 - rows.loc[7 * k, "ill"]
    return rows


def audit(rows, people, **more):
    return narcissus.run(narcissus.load_study({
        "data": {"frame": rows},
        "threat": {"unknown": ["ill"], "people": people,
                   **({} if people == "all" else {"targets": 30})},
        "mechanism": {"k": 2, "epsilon": 2.0},
        "groups": {"columns": ["place"]},
        "threshold": {"share": 0.7},
        "run": {"trials": 12, "seed": 3, "workers": 1},
        **more,
    })).record  # fmt: skip


@pytest.mark.parametrize("people", ["prior", "rows", "all"])
def test_what_changes_with_a_person_is_named(people):
    """A trap: the same study on neighbouring data; a figure that moves and is not named fails."""
    one = audit(frame(), people)
    for other in (audit(frame(1), people), audit(frame(5), people)):
        moved = changed(one, other)
        assert moved
        figures = [*figures_of(one), *figures_of(other)]
        unnamed = {path for path in moved if not any(f.is_at(path) for f in figures)}
        assert not unnamed


def test_the_trap_springs_on_a_figure_that_is_not_named():
    one, other = audit(frame(), "all"), audit(frame(5), "all")
    figures = [f for f in figures_of(one) if not f.name.startswith("Shares")]
    assert any(not any(f.is_at(path) for f in figures) for path in changed(one, other))


def synthetic(rows):
    half = frame().sample(frac=1, random_state=1, ignore_index=True)
    return narcissus.audit_synthetic(
        rows, half.iloc[:40], control=half.iloc[20:], unknown=["ill"], groups=["place"], rng=3
    ).record


def test_what_changes_in_a_given_file_is_named():
    one, other = synthetic(frame()), synthetic(pd.concat([frame(3), frame().iloc[:1]]))
    moved = changed(one, other)
    figures = [*figures_of(one), *figures_of(other)]
    assert moved
    assert not {path for path in moved if not any(f.is_at(path) for f in figures)}


def test_files_of_commands_are_named():
    [one] = figures_of_files({"the samples": "s.csv"})
    assert one.name == "the samples (s.csv)"
    assert given_away([one]).title == TITLE
    assert [f.name for f in figures_of_files({"the samples": "s.csv"}, 3)][1:] == ["The seed"]
    assert figures_of_files({}, 3) == []
