import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from narcissus.channels import analyse, beta, channel, prior_for, read_channel, read_prior
from narcissus.errors import InputError

GOOD = [[0.9, 0.1], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.9, 0.2], [0.2, 0.8]], r"row 1 \(secret 's1'\) sums to 1.1, off by \+0.1"),
        ([[0.9, 0.1], [np.nan, 0.8]], r"secret 's2'.*'o1'\) is missing \(NaN\)"),
        ([[0.9, 0.1], [-0.2, 1.2]], r"secret 's2'.*'o1'\) is -0.2"),
        ([[1.0, 0.0], [1.5, -0.5]], r"secret 's2'.*'o1'\) is 1.5"),
        ([[0.9, 0.1]], "at least two secrets"),
        ([0.9, 0.1], "shape"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (np.zeros((0, 3)), "shape"),
        ([[np.inf, 0], [0, 1]], "is inf"),
    ],
)
def test_bad_matrices_are_refused_with_their_place(matrix, words):
    with pytest.raises(InputError, match=words):
        channel(matrix)


def test_sparse_faults_are_named_too():
    bad = sparse.csr_array(np.array([[1.0, 0.0], [1.5, -0.5]]))
    with pytest.raises(InputError, match=r"secret 's2'.*'o1'\) is 1.5"):
        channel(bad)


def test_nothing_is_renormalised():
    almost = [[0.9, 0.1 + 5e-10], [0.2, 0.8]]
    assert channel(almost).matrix[0, 1] == 0.1 + 5e-10
    with pytest.raises(InputError, match="off by"):
        channel(almost, tolerance=1e-12)


def test_names():
    assert channel(pd.DataFrame(GOOD, index=["x", "y"], columns=["a", "b"])).secrets == ("x", "y")
    with pytest.raises(InputError, match="'x' stands there twice"):
        channel(GOOD, secrets=["x", "x"])
    with pytest.raises(InputError, match="all 2 outputs, got 1"):
        channel(GOOD, outputs=["a"])


def test_priors():
    c = channel(GOOD, secrets=["x", "y"])
    assert prior_for(c, {"y": 0.25, "x": 0.75}).tolist() == [0.75, 0.25]
    assert prior_for(c, pd.Series([0.25, 0.75], index=["y", "x"])).tolist() == [0.75, 0.25]
    for bad, words in (
        ({"x": 1.0}, "no probability for the secret 'y'"),
        ({"x": 0.5, "y": 0.5, "z": 0.0}, "names 'z'"),
        ([0.5, 0.4], "sum to 1"),
        ([1.0], "2 secrets, got 1"),
        ([0.5, np.nan], "probabilities"),
    ):
        with pytest.raises(InputError, match=words):
            prior_for(c, bad)
    with pytest.raises(InputError, match="all mass on one secret \\('x'\\)"):
        beta(c, [1.0, 0.0])


def write(path, text):
    path.write_text(text)
    return path


def test_files(tmp_path):
    named = write(tmp_path / "a.csv", "secret,p,q\nx,0.9,0.1\n7,0.2,0.8\n")
    c = read_channel(named)
    assert (c.secrets, c.outputs) == (("x", "7"), ("p", "q"))
    numbers = read_channel(write(tmp_path / "b.csv", "secret,0,1\n1,0.9,0.1\n2,0.2,0.8\n"))
    assert (numbers.secrets, numbers.outputs) == (("1", "2"), ("0", "1"))
    bare = read_channel(write(tmp_path / "c.csv", "0.9,0.1\n0.2,0.8\n"))
    assert (bare.secrets, bare.outputs) == (("s1", "s2"), ("o1", "o2"))
    headed = read_channel(write(tmp_path / "d.csv", "p,q\n0.9,0.1\n0.2,0.8\n"))
    assert (headed.secrets, headed.outputs) == (("s1", "s2"), ("p", "q"))
    rows = read_channel(write(tmp_path / "e.csv", "x,0.9,0.1\ny,0.2,0.8\n"))
    assert (rows.secrets, rows.outputs) == (("x", "y"), ("o1", "o2"))
    for other in (numbers, bare, headed, rows):
        assert np.array_equal(other.matrix, c.matrix)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"secret": ["x", "y"], "p": [0.9, 0.2], "q": [0.1, 0.8]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.set_index("secret").to_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        c = read_channel(tmp_path / name)
        assert (c.secrets, c.outputs) == (("x", "y"), ("p", "q"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("secret,p,q\nx,0.9,\ny,0.2,0.8\n", "secret 'x', output 'q' is empty"),
        ("secret,p,q\nx,0.9,oh\ny,0.2,0.8\n", "output 'q' is 'oh', not a number"),
        ("secret,p,q\nx,0.9,nan\ny,0.2,0.8\n", "NaN"),
        ("secret,p,q\nx,0.9,0.1\nx,0.2,0.8\n", "'x' stands there twice"),
        ("secret,p,q\n", "no rows"),
        ("", "empty"),
        ("0,1\n0.5,0.5\n0.5,0.5\n", "may be names of outputs or a row"),
        ("secret\nx\ny\n", "no column"),
    ],
)
def test_bad_files(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read_channel(write(tmp_path / "bad.csv", text))


def test_missing_file_names_the_nearest(tmp_path):
    write(tmp_path / "channel.csv", "x")
    with pytest.raises(InputError, match=r"did you mean `channel.csv`"):
        read_channel(tmp_path / "chanel.csv")


def test_prior_files(tmp_path):
    assert read_prior(write(tmp_path / "a.csv", "secret,probability\nx,0.25\ny,0.75\n")) == {
        "x": 0.25,
        "y": 0.75,
    }
    assert read_prior(write(tmp_path / "b.csv", "x,0.25\ny,0.75\n"))["y"] == 0.75
    assert read_prior(write(tmp_path / "c.csv", "0.25\n0.75\n")).tolist() == [0.25, 0.75]
    for text, words in (
        ("x,0.5\ny,0.6\n", "sum to 1"),
        ("x,0.5\nx,0.5\n", "twice"),
        ("x,0.5\ny,oh\n", "'oh' is not a number"),
        ("x,0.5,1\n", "got 3"),
    ):
        with pytest.raises(InputError, match=words):
            read_prior(write(tmp_path / "bad.csv", text))


def test_summary_of_table_and_closed_form_agree():
    from narcissus.channels import KaryRandomizedResponse

    mechanism = KaryRandomizedResponse(9, 1.5)
    closed, table = analyse(mechanism), analyse(mechanism.channel())
    for key, value in closed.to_dict().items():
        assert table.to_dict()[key] == (pytest.approx(value, rel=1e-12) if key != "pair" else value)
    own = analyse(mechanism, [0.5, *[0.5 / 8] * 8])
    assert own.beta_star == pytest.approx(closed.beta_star, rel=1e-13)
    assert "exact" in str(closed)
    assert len(closed.to_frame()) == 1


def test_a_name_that_the_system_does_not_take_is_one_clear_error(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_channel(tmp_path / ("c" * 5000 + ".csv"))
