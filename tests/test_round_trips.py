"""Whatever takes a path takes a string, and what is read is what was written.

Functions are found by their signatures: one that is new fails here until it is played.
"""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus import channels, extraction, guarantees, mechanisms, membership, priors, study
from narcissus.errors import NarcissusError
from narcissus.results import Result

SECRETS = ["login", "logout", "error"]
MATRIX = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]
GAME = "counting-query"
TABLE = {
    "data": {"path": "people.csv"},
    "threat": {"unknown": ["job"], "targets": 5},
    "mechanism": {"k": 1, "mu": 1.0},
    "attacks": {"prior": {}},
    "run": {"trials": 20, "seed": 1, "workers": 1},
}


@cache
def public():
    """Every public function, class and method of the rooms that has a parameter for a path."""
    found, seen = {}, set()
    for room in pkgutil.walk_packages(narcissus.__path__, "narcissus."):
        parts = room.name.split(".")[1:]
        if parts[0] in {"cli"} or any(part.startswith("_") for part in parts):
            continue
        if not room.ispkg:
            continue
        module = importlib.import_module(room.name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if not callable(thing) or thing in seen:
                continue
            seen.add(thing)
            if inspect.isclass(thing):
                members = [
                    (f"{name}.{key}", getattr(thing, key))
                    for key, value in vars(thing).items()
                    if not key.startswith("_")
                    and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod))
                ]
                several = [(f"{name}()", thing), *members]
            else:
                several = [(name, thing)] if inspect.isfunction(thing) else []
            for label, one in several:
                for parameter in parameters(one, module):
                    found.setdefault(f"{room.name.removeprefix('narcissus.')}.{label}", []).append(
                        parameter
                    )
    return found


def parameters(one, module):
    """Those of a path, each with its annotation in full."""
    try:
        signature = inspect.signature(one)
    except (TypeError, ValueError):
        return
    for parameter in signature.parameters.values():
        said = str(parameter.annotation)
        if re.fullmatch(r"[A-Z]\w+", said):  # a name for several types
            said += f" {getattr(sys.modules[getattr(one, '__module__', '')], said, '')}"
        if "Path" in said:
            yield parameter.name, said


# What is no function that somebody gives a path: the package makes it, or calls it.
INSIDE = {
    "counts.name_files": "called by a study",
    "channels.ProgramLeakage()": "what `program_leakage` finds",
    "extraction.LocalCheckpoint.models": "called by a study",
    "extraction.LocalDiffusion.models": "called by a study",
    "extraction.MixtureTraining.models": "called by a study",
    "extraction.TrainedCharacterNgram.models": "called by a study",
    "extraction.TransformerTraining.models": "called by a study",
    "extraction.UNetTraining.models": "called by a study",
    "study.Document()": "made by `read_document`",
    "study.Document.place": "a table in a file",
    "study.RunOptions()": "made by `narcissus.run`",
    "study.Study()": "made by `load_study`",
    "study.StudyKind.check": "called by a study",
    "study.StudyKind.play": "called by a study",
}


def test_every_parameter_for_a_path_takes_a_string():
    wrong = [
        f"{name}({parameter})"
        for name, several in public().items()
        if name not in INSIDE
        for parameter, said in several
        if not re.search(r"\bstr\b", said)
    ]
    assert wrong == []
    assert set(public()) >= set(INSIDE)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def people(folder, seed=1, name="people.csv"):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 4, (60, 3)), columns=["age", "town", "job"])
    table.to_csv(folder / name, index=False)
    return folder / name


def shadows(folder):
    rng = np.random.default_rng(2)
    np.save(folder / "scores.npy", rng.normal(size=(4, 6)))
    np.save(folder / "members.npy", rng.integers(0, 2, (4, 6)).astype(bool))
    return folder / "scores.npy", folder / "members.npy"


def net(folder):
    arrays = {"a.weight": np.ones((2, 3)), "b.weight": np.ones((1, 2))}
    np.savez(folder / "net.npz", **arrays)
    return folder / "net.npz"


def studied(folder):
    people(folder)
    return narcissus.load_study(TABLE, folder=folder)


def audited(folder, of):
    policy = write(folder / "policy.toml", "[threshold]\nshare = 0.9\n")
    found = narcissus.audit(
        of(people(folder)), unknown=["job"], targets=5, k=1, mu=1.0, trials=20, rng=1,
        attacks=["prior"], workers=1, policy=of(policy), folder=of(folder / "kept"),
        internal=of(folder / "own.csv"),
    )  # fmt: skip
    (folder / "made.csv").write_bytes(people(folder, 2).read_bytes())
    given = narcissus.audit(
        of(people(folder)), unknown=["job"], targets=5, mechanism="bootstrap", attacks=["prior"],
        release=of(folder / "made.csv"), trials=20, rng=1, workers=1,
    )  # fmt: skip
    return found.results, given.results, sorted(one.name for one in (folder / "kept").iterdir())


def run_again(folder, of):
    policy = write(folder / "policy.toml", "[threshold]\nshare = 0.9\n")
    paths = {"folder": of(folder / "kept"), "policy": of(policy), "internal": of(folder / "o.csv")}
    return narcissus.run(studied(folder), rng=1, **paths).record.to_dict()["result"]


def synthetic(folder, of):
    files = [people(folder, seed, f"{seed}.csv") for seed in (1, 2, 3)]
    policy = write(folder / "policy.toml", "[threshold]\nat_most = 0.9\n")
    real, made, control = map(of, files)
    return narcissus.audit_synthetic(
        real, made, unknown=["job"], control=control, policy=of(policy), rng=1
    ).results


def read_together(folder, of):
    from narcissus.synthetic import read_files

    files = [of(people(folder, seed, f"{seed}.csv")) for seed in (1, 2, 3)]
    return read_files(*files).coarse


def saved(folder, of):
    found = narcissus.run(narcissus.load_study({"kind": "game", **game()}), rng=1)
    assert found.save(of(folder / "kept")) == folder / "kept"
    return found


def game():
    import tomllib

    from narcissus.study.shipped import shipped_study

    return tomllib.loads(shipped_study(GAME).path.read_text(encoding="utf-8"))


def compared(folder, of):
    from narcissus.bounds import compare, threat

    compare(threat(prior=0.1), guarantees.PureDP(1.0)).save(of(folder / "p.svg"))
    return (folder / "p.svg").read_text()[:60]


def program(folder, of):
    found = channels.program_leakage(
        channels.Program(["echo"], ["0", "1"]),
        path=of(folder / "runs.csv"),
        stop=channels.StopWhen(width=0.9, most=200),
    )
    return found.estimate.beta_star.value, found.runs


def sampled(folder, of):
    kept = channels.KeptRuns(
        channels.Program(["echo"], ["0", "1"]), lambda secret: (secret,), of(folder / "r.csv"), 1
    )
    kept(5, None)
    return channels.read_samples(of(folder / "r.csv"))


def written(function, folder, of, *rest):
    function(of(folder / "w.csv"), *rest)
    return (folder / "w.csv").read_text()


def read(function, name, text, *rest, **options):
    def call(folder, of):
        path = write(folder / name, text) if isinstance(text, str) else text(folder)
        return function(of(path), *rest, **options)

    return call


def ran(folder, of, several):
    source = b"import sys; print(len(sys.stdin.buffer.read()))"
    (folder / "p.py").write_bytes(source)
    (folder / "r").write_bytes(b"123")
    if several:
        from narcissus.extraction.sandbox import can_serve

        if not can_serve():
            pytest.skip("no servers here")
        runs = extraction.run_programs(source, of(folder / "r"), extraction.Limits(), 2)
    else:
        runs = [extraction.run_program(of(folder / "p.py"), of(folder / "r"))]
    return [(one.output, one.ending) for one in runs]


def assessed(folder, of):
    (folder / "r").write_bytes(b"a secret of forty bytes, which it tells.")
    data = extraction.DataSet((folder / "r").read_bytes(), "it")
    found = extraction.assess_extraction(
        data, of(folder / "r"), b"import sys; print(sys.stdin.read())", _verbatim(), runs=2,
        other_releases={"the same": of(folder / "r")}, rng=1,
    )  # fmt: skip
    return found.verdict, found.success.value, [one.value for one in found.stand_ins.values()]


def _verbatim():
    from narcissus.extraction.relations import Strings

    return Strings(bytes_each=20)


def reconstructed(folder, of):
    net = extraction.TwoLayerNet(np.ones((2, 3)), np.zeros(2), np.ones(2))
    found = extraction.kkt_reconstruct(
        net, box=1.0, points=4, starts=1, steps=2, folder=of(folder / "kept"), rng=1
    )
    return found.points


def shelved(folder, of):
    shelf = mechanisms.ReleaseCache(of(folder / "shelf"))
    shelf.put("a", b"1")
    return shelf.get("a")


def missing(function, *rest):
    """What has to be trained for long is asked for a folder that is not there."""

    def call(folder, of):
        with pytest.raises(NarcissusError) as error:
            function(of(folder / "none"), *rest)
        return str(error.value).replace(str(folder), "")

    return call


def unet(folder, of):
    from narcissus.extraction.unet import UNetSettings

    extraction.UNet.initial(UNetSettings((8, 4, 3), 8, ("blue",), 4), 1).save(of(folder / "net"))
    found = extraction.UNet.load(of(folder / "net"))
    return {name: tensor.tolist() for name, tensor in found.weights.items()}


def trained(folder, of):
    part = extraction.TransformerTraining(1, 8, 1, 8, 1)
    model = part.train([extraction.TextDocument("a text")], of(folder / "m"), rng=1)
    again = extraction.HuggingFaceGenerator(of(folder / "m"), device="cpu")
    assert model.negative_log_likelihood(["a"])[0] == again.negative_log_likelihood(["a"])[0]
    return again.negative_log_likelihood(["a"])[0]


CHANNEL = "secret,a,b,c\n" + "".join(
    f"{name},{','.join(map(str, row))}\n" for name, row in zip(SECRETS, MATRIX, strict=True)
)
PRIOR = "secret,probability\nlogin,0.5\nlogout,0.25\nerror,0.25\n"


def published(folder, of):
    """Tables read with all that names a file."""
    table = write(folder / "t.csv", "area,count\nnorth,5\nsouth,3\ntotal,8\n")
    said = narcissus.counts.Publication(cell_key=of(write(folder / "k.csv", KEY)))
    return said.read([of(table)]), said.rules.key


def understood(folder, of):
    """Read tables with how they were understood; what names a file is the key."""
    table = write(folder / "t.csv", "area,count\nnorth,5\nsouth,3\ntotal,8\n")
    publication = narcissus.counts.Publication(cell_key=of(write(folder / "k.csv", KEY)))
    read_tables = publication.understand([of(table)])
    return read_tables.cells, read_tables.unaccounted


def turnover(folder):
    said = narcissus.counts.Publication(magnitude="turnover")
    table = write(folder / "totals.csv", "area,turnover\nnorth,5\nsouth,3\ntotal,8\n")
    return "turnover", said.read([table]), said.structure


KEY = "i,j,p\n" + "".join(f"{n},{n},1\n" for n in range(10))
CALLS = {
    "counts.Publication()": published,
    "counts.Publication.read": published,
    "counts.Publication.understand": understood,
    "counts.read_cell_key": read(narcissus.counts.read_cell_key, "k.csv", KEY),
    "counts.read_published": lambda folder, of: narcissus.counts.read_published(
        of(write(folder / "t.csv", "area,count\nnorth,5\nsouth,3\ntotal,8\n")),
        narcissus.counts.Rules(),
    ),
    "counts.read_contributions": lambda folder, of: narcissus.counts.read_contributions(
        of(write(folder / "c.csv", "area,turnover\nnorth,5\nsouth,3\n")), *turnover(folder)
    ),
    "membership.read_points": lambda folder, of: np.asarray(
        membership.read_points(
            of(write(folder / "p.txt", "one\ntwo\n")),
            membership.read_shadow_scores(*shadows(folder)),
        )
    ),
    "audits.Audit.save": lambda folder, of: saved(folder, of).record.rows,
    "audits.audit": audited,
    "audits.audit_synthetic": synthetic,
    "audits.load_audit": lambda folder, of: (
        saved(folder, of)
        and narcissus.load_audit(of(folder / "kept")).record.rows
        == narcissus.load_audit(of(folder / "kept" / "record.json")).record.rows
    ),
    "audits.run": run_again,
    "bounds.Comparison.save": compared,
    "channels.KeptRuns()": sampled,
    "channels.program_leakage": program,
    "channels.read_channel": read(channels.read_channel, "c.csv", CHANNEL),
    "channels.read_groups": read(
        channels.read_groups, "g.csv", "secret,group\nlogin,in\nlogout,out\nerror,out\n"
    ),
    "channels.read_losses": read(
        channels.read_losses, "l.csv", "secret,a,b\nlogin,0,1\nlogout,1,0\n"
    ),
    "channels.read_prior": read(channels.read_prior, "p.csv", PRIOR),
    "channels.read_rational": read(channels.read_rational, "c.csv", CHANNEL),
    "channels.read_rational_prior": read(channels.read_rational_prior, "p.csv", PRIOR),
    "channels.read_samples": read(
        channels.read_samples, "s.csv", "secret,time\n" + "a,1.5\nb,2.5\n" * 9
    ),
    "channels.write_channel": lambda folder, of: written(
        channels.write_channel, folder, of, channels.channel(MATRIX, secrets=SECRETS)
    ),
    "channels.write_gain": lambda folder, of: written(
        channels.write_gain, folder, of, np.eye(3), SECRETS
    ),
    "extraction.DataSet.read": read(extraction.DataSet.read, "d.txt", "some text\n"),
    "extraction.DiffusersGenerator()": missing(extraction.DiffusersGenerator, (8, 8, 3)),
    "extraction.HuggingFaceGenerator()": missing(extraction.HuggingFaceGenerator),
    "extraction.TransformerTraining.train": trained,
    "extraction.UNet.load": missing(extraction.UNet.load),
    "extraction.UNet.save": unet,
    "extraction.assess_extraction": assessed,
    "extraction.kkt_reconstruct": reconstructed,
    "extraction.read_canaries": read(
        extraction.read_canaries, "c.csv", "copies,text,secret\n2,Code {secret}.,12345678\n"
    ),
    "extraction.read_dense_net": read(extraction.read_dense_net, "", net, ["a", "b"]),
    "extraction.read_documents": read(extraction.read_documents, "d.txt", "one\ntwo\none\n"),
    "extraction.read_images": lambda folder, of: (
        np.save(folder / "i.npy", np.ones((2, 4, 4, 1)))
        or extraction.read_images(
            of(folder / "i.npy"), of(write(folder / "c.txt", "a\nb\n"))
        ).captions
    ),
    "extraction.run_program": lambda folder, of: ran(folder, of, several=False),
    "extraction.run_programs": lambda folder, of: ran(folder, of, several=True),
    "guarantees.read_losses": read(
        guarantees.read_losses,
        "l.csv",
        "loss,probability\n1,0.731058578630005\n-1,0.268941421369995\n",
    ),
    "guarantees.read_profile": read(
        guarantees.read_profile, "p.csv", "epsilon,delta\n0,0.2\n1,0.01\n"
    ),
    "mechanisms.ReleaseCache()": shelved,
    "membership.read_shadow_scores": lambda folder, of: membership.read_shadow_scores(
        *map(of, shadows(folder))
    ),
    "priors.read_priors": read(priors.read_priors, "p.csv", "0.5,0.5\n0.25,0.75\n"),
    "disclosure.measure_disclosure": lambda folder, of: narcissus.measure_disclosure(
        of(people(folder)), known=["town"]
    ).to_dict(),
    "study.load_study": lambda folder, of: (
        people(folder) and narcissus.load_study(TABLE, folder=of(folder)).settings.model_dump_json()
    ),
    "study.read_document": lambda folder, of: (
        study.read_document(of(write(folder / "d.toml", 'kind = "game"\n'))).data
    ),
    "study.read_record": lambda folder, of: (
        saved(folder, of) and study.read_record(of(folder / "kept")).rows
    ),
    "synthetic.read_files": read_together,
    "tables.read_table": lambda folder, of: narcissus.read_table(of(people(folder))).codes,
}
WITH_TORCH = {
    "extraction.TransformerTraining.train",
    "extraction.UNet.save",
    "extraction.UNet.load",
}


def plain(found):
    """Give what a call found so that two of them can be compared."""
    if isinstance(found, np.ndarray | pd.Series | pd.DataFrame):
        return np.asarray(found).tolist()
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [plain(one) for one in found]
    if isinstance(found, Result) or hasattr(found, "__dict__"):
        return {key: plain(value) for key, value in vars(found).items()}
    return found


def test_every_public_function_that_takes_a_path_is_played():
    assert set(CALLS) == set(public()) - set(INSIDE)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.models) if one in WITH_TORCH else one for one in CALLS],
)
@pytest.mark.one_in(4)
def test_a_string_does_what_a_path_does(name, tmp_path):
    found = []
    for of in (Path, str):
        folder = tmp_path / of.__name__
        folder.mkdir()
        found.append(plain(CALLS[name](folder, of)))
    told = json.dumps(found[0], default=str).replace(str(tmp_path / "Path"), "")
    assert told == json.dumps(found[1], default=str).replace(str(tmp_path / "str"), "")


CHANNELS = {
    "floats": channels.channel(MATRIX, secrets=SECRETS),
    "fractions": channels.rational_channel([["1/3", "2/3"], ["1/7", "6/7"]], secrets=["a", "b"]),
    "mechanism": channels.KaryRandomizedResponse(3, 1.0),
}


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """What everything that writes leaves, by a name."""
    folder = tmp_path_factory.mktemp("written")
    for name, made in CHANNELS.items():
        channels.write_channel(folder / f"{name}.csv", made)
        if name != "fractions":
            channels.write_channel(folder / f"{name}.npz", made)
    channels.write_gain(folder / "gain.csv", np.eye(3), SECRETS)
    (folder / "audit").mkdir()
    (folder / "runs").mkdir()
    saved(folder / "audit", Path)
    sampled(folder / "runs", Path)
    compared(folder, Path)
    people(folder)
    return folder


WRITERS = re.compile(r"(^|\.)(save|write|put|to_csv|train)(_|$)")
WRITTEN_HERE = {
    "audits.Audit.save", "bounds.Comparison.save", "channels.write_channel", "channels.write_gain",
}  # fmt: skip
READERS = re.compile(r"(^|\.)(read|load)(_|$)")


def test_everything_that_writes_has_written():
    assert {name for name in public() if WRITERS.search(name)} - WITH_TORCH == WRITTEN_HERE


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_is_read_as_it_was_written(left, name):
    made = CHANNELS[name]
    for path in sorted(left.glob(f"{name}.*")):
        found = channels.read_channel(str(path))
        assert (found.dense == channels.channel(made).dense).all()
        assert found.secrets == channels.channel(made).secrets
        assert channels.beta_star(found).value == channels.beta_star(channels.channel(made)).value
    if name == "fractions":
        assert channels.read_rational(left / "fractions.csv").rows == made.rows


def test_an_audit_is_read_from_its_folder_and_from_its_file(left):
    folder = left / "audit" / "kept"
    results = saved(left / "audit", Path).record.rows
    for path in (folder, folder / "record.json"):
        for of in (str, Path):
            assert narcissus.load_audit(of(path)).record.rows == results
            assert study.read_record(of(path)).rows == results
    again = narcissus.load_audit(folder)
    assert narcissus.load_audit(again.save(left / "again")).record == again.record
    assert (left / "again" / "report.html").read_bytes() == (folder / "report.html").read_bytes()


@pytest.mark.parametrize("name", sorted(name for name in CALLS if READERS.search(name)))
def test_every_reader_takes_or_refuses_whatever_was_written(left, name, tmp_path):
    """A file that is none of its own ends in a message about it, never in an error of ours."""
    room, _, function = name.rpartition(".")
    room, _, owner = room.partition(".")
    module = importlib.import_module(f"narcissus.{room}")
    reads = getattr(getattr(module, owner) if owner else module, function)
    if name.startswith("counts.Publication."):
        reads = lambda path: getattr(narcissus.counts.Publication(), function)([path])  # noqa: E731
    needed = {
        "read_dense_net": [["a", "b"]], "read_files": [left / "people.csv"],
        "read_published": [narcissus.counts.Rules()], "read_contributions": turnover(tmp_path),
        "read_points": [membership.read_shadow_scores(*shadows(tmp_path))],
    }  # fmt: skip
    if name in WITH_TORCH:
        pytest.skip("reads a folder of weights; played with PyTorch")
    paths = [*left.rglob("*"), left]
    assert len(paths) > 15
    for path in paths:
        for of in (str, Path):
            try:
                found = reads(of(path), *needed.get(function, []))
            except NarcissusError:
                continue
            assert found is not None
