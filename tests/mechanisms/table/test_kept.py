"""Releases are kept in a folder, and found again instead of made again."""

import json

import numpy as np
import pytest

from narcissus._arrays import pack, unpack
from narcissus.errors import InputError, StoreError
from narcissus.mechanisms import (
    Bootstrap,
    KeptReleases,
    Marginals,
    OwnSynthesizer,
    ProtectedCounts,
    PublishedRows,
    ReleaseCache,
    require_varied,
)
from narcissus.mechanisms.table import kept as module
from narcissus.mechanisms.table.rows import PreparedRows


class Counted:
    """A mechanism that counts how often it was asked, and stops at one release."""

    def __init__(self, prepared, stops=None):
        self.prepared, self.asked, self.stops = prepared, 0, stops

    def __getattr__(self, name):
        return getattr(self.prepared, name)

    def release(self, data, rng):
        if self.asked == self.stops:
            raise KeyboardInterrupt
        self.asked += 1
        return self.prepared.release(data, rng)


def same(one, two):
    field = "rows" if hasattr(one, "rows") else "cells"
    return getattr(one, field).tolist() == getattr(two, field).tolist()


@pytest.mark.parametrize("plan", [Bootstrap(), Marginals(k=2, epsilon=1.0)])
@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_releases_are_those_of_the_mechanism_whether_they_were_kept_or_not(
    tmp_path, columns, people, plan, bits
):
    counted = Counted(plan.prepare(columns))
    kept = KeptReleases(counted, ReleaseCache(tmp_path / "deep" / "folder"), "mine")
    data = np.stack([people, people[::-1], people])
    rng = np.random.Generator(bits(1))
    plain = plan.prepare(columns).release(data, rng)
    after = rng.random()
    for asked in (3, 3):  # the second time all are found
        rng = np.random.Generator(bits(1))
        found = kept.release(data, rng)
        assert all(same(one, two) for one, two in zip(found, plain, strict=True))
        assert type(found[0]) is kept.releases
        assert rng.random() == after
        assert counted.asked == asked
    for release in found:
        with pytest.raises(ValueError, match="read-only"):
            (release.rows if hasattr(release, "rows") else release.cells)[0] = 0


def test_an_interrupted_run_pays_nothing_twice(tmp_path, columns, people):
    data = np.stack([people] * 5)
    first = Counted(Bootstrap().prepare(columns), stops=3)
    with pytest.raises(KeyboardInterrupt):
        KeptReleases(first, ReleaseCache(tmp_path), "x").release(data, np.random.default_rng(2))
    second = Counted(Bootstrap().prepare(columns))
    found = KeptReleases(second, ReleaseCache(tmp_path), "x").release(
        data, np.random.default_rng(2)
    )
    assert second.asked == 2
    plain = Bootstrap().prepare(columns).release(data, np.random.default_rng(2))
    assert all(same(one, two) for one, two in zip(found, plain, strict=True))


def test_another_mechanism_other_people_and_other_coins_are_other_releases(
    tmp_path, columns, people
):
    counted = Counted(Bootstrap().prepare(columns))
    other = people.copy()
    other[0, 0] = 1 - other[0, 0]
    for identity in ("a", "b"):
        for codes in (people, other, people[:-1]):
            for seed in (1, 2):
                rng = np.random.default_rng(seed)
                KeptReleases(counted, ReleaseCache(tmp_path), identity).release(codes[None], rng)
    assert counted.asked == 12
    assert len(list(tmp_path.iterdir())) == 12


def test_a_generator_without_a_seed_is_repeated_from_the_folder(tmp_path, columns, people):
    def careless(frame):
        return frame.sample(frac=1, replace=True, random_state=np.random.default_rng())

    prepared = OwnSynthesizer(careless, epsilon=1.0).prepare(columns)
    kept = KeptReleases(prepared, ReleaseCache(tmp_path), "")
    assert kept.assumes == prepared.assumes != ()
    assert kept.must_vary
    one, two = (kept.release(people[None], np.random.default_rng(3))[0] for _ in range(2))
    assert same(one, two)
    data = np.stack([people, people])
    pairs = [kept.release(data, np.random.default_rng(4)) for _ in range(2)]
    assert not same(*pairs[0])
    assert all(same(*pair) for pair in zip(*pairs, strict=True))
    again, more = (prepared.release(people[None], np.random.default_rng(3))[0] for _ in range(2))
    assert not same(again, more)


DAMAGE = {
    "empty": lambda good: b"",
    "cut off": lambda good: good[:-40],
    "no archive": lambda good: b"x" * 500,
    "other names": lambda good: pack({"x": np.zeros(3)}),
    "no state": lambda good: pack({"rows": unpack(good)["rows"]}),
    "another state": lambda good: pack({**unpack(good), "state": np.frombuffer(b"[1]", np.uint8)}),
    "too many columns": lambda good: changed(good, lambda r: np.hstack([r, r])),
    "other numbers": lambda good: changed(good, lambda r: r.astype(np.int64)),
    "a value too high": lambda good: changed(good, lambda r: r + 9),
    "a value below": lambda good: changed(good, lambda r: r - 9),
}


def changed(good, change):
    arrays = unpack(good)
    return pack({**arrays, "rows": change(arrays["rows"])})


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_anew(tmp_path, columns, people, damage):
    kept = KeptReleases(Counted(Bootstrap().prepare(columns)), ReleaseCache(tmp_path), "")
    (first,) = kept.release(people[None], np.random.default_rng(4))
    (path,) = tmp_path.iterdir()
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    rng = np.random.default_rng(4)
    (again,) = kept.release(people[None], rng)
    assert kept.prepared.asked == 2
    assert same(first, again)
    plain = np.random.default_rng(4)
    kept.prepared.release(people[None], plain)
    assert rng.random() == plain.random()
    kept.release(people[None], np.random.default_rng(4))
    assert kept.prepared.asked == 3  # the call above and no more: the file is whole again


def test_cells_of_other_tables_are_not_taken(tmp_path, columns, people):
    kept = KeptReleases(
        Counted(Marginals(k=2, epsilon=1.0).prepare(columns)), ReleaseCache(tmp_path), ""
    )
    kept.release(people[None], np.random.default_rng(5))
    (path,) = tmp_path.iterdir()
    arrays = unpack(path.read_bytes())
    path.write_bytes(pack({**arrays, "cells": arrays["cells"][:-1]}))
    kept.release(people[None], np.random.default_rng(5))
    assert kept.prepared.asked == 2


def test_links_are_not_followed(tmp_path, columns, people):
    kept = KeptReleases(Bootstrap().prepare(columns), ReleaseCache(tmp_path / "kept"), "")
    kept.release(people[None], np.random.default_rng(6))
    (path,) = (tmp_path / "kept").iterdir()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        kept.release(people[None], np.random.default_rng(6))


def test_a_folder_that_cannot_be_made_is_said(tmp_path, columns, people):
    (tmp_path / "file").write_text("x")
    kept = KeptReleases(Bootstrap().prepare(columns), ReleaseCache(tmp_path / "file"), "")
    with pytest.raises(StoreError, match="cannot keep a release"):
        kept.release(people[None], np.random.default_rng(6))


class Rounded:
    """A mechanism of protected counts, by a rule that it tells or does not."""

    releases, guarantee, noise, cellwise = ProtectedCounts, None, None, False

    def __init__(self, columns, rule, tells):
        self.queries = Marginals(k=2, scale=0.0).prepare(columns).queries
        self._used, self.asked = rule, 0
        if tells:
            self.rule = rule

    def release(self, data, rng):
        self.asked += 1
        cells = np.where(rng.random(self.queries.cells) < 0.3, np.nan, 5.0)
        return [ProtectedCounts(self.queries, self._used, cells)]


@pytest.mark.parametrize(("tells", "asked"), [(True, 1), (False, 2)])
def test_protected_counts_are_kept_where_their_rule_is_known(
    tmp_path, columns, people, tells, asked
):
    prepared = Rounded(columns, "a rule", tells)
    kept = KeptReleases(prepared, ReleaseCache(tmp_path), "")
    one, two = (kept.release(people[None], np.random.default_rng(7))[0] for _ in range(2))
    assert prepared.asked == asked
    np.testing.assert_array_equal(one.cells, two.cells)
    assert (two.rule, two.queries) == ("a rule", prepared.queries)


def test_other_objects_pass_through(tmp_path, columns, people):
    class Told:
        releases = object

        def release(self, data, rng):
            return [{"secret": len(data)}]

    kept = KeptReleases(Told(), ReleaseCache(tmp_path), "")
    assert kept.release(people[None], np.random.default_rng(8)) == [{"secret": 1}]
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_holds_no_pickle(tmp_path, columns, people):
    KeptReleases(Bootstrap().prepare(columns), ReleaseCache(tmp_path), "").release(
        people[None], np.random.default_rng(9)
    )
    (path,) = tmp_path.iterdir()
    arrays = unpack(path.read_bytes())
    assert sorted(arrays) == ["rows", "state"]
    assert json.loads(arrays["state"].tobytes())["bit_generator"] == "PCG64"


def seeded(frame):
    return frame.sample(frac=1, replace=True, random_state=0)


def coined(frame, rng):
    return frame.sample(frac=1, replace=True, random_state=rng)


def shuffled(frame, rng):
    return frame.sample(frac=1, random_state=rng)


@pytest.mark.parametrize("function", [seeded, shuffled])
def test_a_fixed_seed_is_refused_unless_it_is_meant(columns, people, function):
    with pytest.raises(InputError, match="fixed seed"):
        require_varied(OwnSynthesizer(function).prepare(columns), people, np.random.default_rng(1))
    meant = OwnSynthesizer(function, deterministic=True).prepare(columns)
    require_varied(meant, people, np.random.default_rng(1))


def test_coins_of_its_own_and_mechanisms_of_ours_are_fine(tmp_path, columns, people):
    rng = np.random.default_rng(1)
    require_varied(PublishedRows().prepare(columns), people, rng)
    counted = Counted(OwnSynthesizer(coined).prepare(columns))
    require_varied(counted, people, rng)
    assert counted.asked == 2


def test_two_equal_releases_of_a_few_people_may_be_chance(columns):
    seen = iter([0, 0, 1])
    prepared = PreparedRows.of(
        columns, lambda codes, _: np.full_like(codes, next(seen)), must_vary=True
    )
    require_varied(prepared, np.zeros((1, 3), dtype=np.int32), np.random.default_rng(1))


def test_in_a_folder_they_are_files(tmp_path):
    cache = ReleaseCache(tmp_path / "deep" / "kept")
    assert cache.get("a.npz") is None
    assert cache.to_bring() == ({}, 0)
    cache.put("a.npz", b"one")
    assert ReleaseCache(cache.folder).get("a.npz") == b"one"
    assert cache.handed_over() == ({}, 0)
    (cache.folder / "b.npz").symlink_to(cache.folder / "a.npz")
    with pytest.raises(StoreError, match="is a link"):
        cache.get("b.npz")
    assert cache.to_bring() == ({"a.npz": b"one"}, 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot keep a release in"):
        ReleaseCache(tmp_path / "file").put("a.npz", b"one")


def test_elsewhere_they_are_brought_along_and_handed_over(tmp_path):
    cache = ReleaseCache(tmp_path / "kept")
    cache.leave({"a.npz": b"one"})
    cache.leave({"a.npz": b"other"})  # said before each key
    assert cache.get("a.npz") == b"one"
    assert cache.get("b.npz") is None
    cache.put("b.npz", b"two")
    assert cache.get("b.npz") == b"two"
    assert cache.handed_over() == ({"b.npz": b"two"}, 0)
    assert cache.handed_over() == ({}, 0)
    assert not cache.folder.exists()


def test_large_ones_stay_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BROUGHT", 5)
    monkeypatch.setattr(module, "SENT_BACK", 3)
    cache = ReleaseCache(tmp_path)
    for name, content in {"a": b"123", "b": b"456", "c": b"78"}.items():
        cache.put(f"{name}.npz", content)
    brought, left = cache.to_bring()
    assert (brought, left) == ({"a.npz": b"123", "c.npz": b"78"}, 1)
    cache.leave(brought)
    for content in (b"1234", b"123456", b"123"):
        cache.put("d.npz", content)
    assert cache.handed_over() == ({"d.npz": b"123"}, 6)


def test_a_slip_of_ours_is_no_damaged_file(tmp_path, columns, people, monkeypatch):
    """Else every release would be made anew, and nobody would hear of it."""
    kept = KeptReleases(Counted(Bootstrap().prepare(columns)), ReleaseCache(tmp_path), "")
    kept.release(people[None], np.random.default_rng(4))

    def slip(content):
        exec("None.pop", {"__name__": "narcissus.somewhere"})

    monkeypatch.setattr(module, "unpack", slip)
    with pytest.raises(AttributeError):
        kept.release(people[None], np.random.default_rng(4))
