"""Make the files of the examples `given_fresh.toml` and `given_copied.toml`.

People of the survey `acs_employment_ny2018_20k.csv.gz`: 2,000 are the data, 2,000 others the
control. One synthetic file is drawn from a Bayesian network that was fitted to the data; in the
other, every tenth row is a copy of a person's record instead.

    python examples/data/given_files.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import narcissus

FOLDER = Path(__file__).parent
COLUMNS = ["AGEP", "SEX", "MAR", "RAC1P", "SCHL", "RELP", "CIT", "DIS", "MIG", "ESR"]
PEOPLE = 2000
COPIES = 200


def main() -> None:
    """Write the four files."""
    survey = pd.read_csv(FOLDER / "acs_employment_ny2018_20k.csv.gz")[COLUMNS]
    rng = np.random.default_rng(2014)
    order = rng.permutation(len(survey))
    real = survey.iloc[order[:PEOPLE]].reset_index(drop=True)
    control = survey.iloc[order[PEOPLE : 2 * PEOPLE]].reset_index(drop=True)

    table = narcissus.read_table(real)
    drawn = narcissus.fit_bayesian_network(table, smoothing=0.1).sample(PEOPLE, rng=rng)
    fresh = pd.DataFrame(
        {
            name: [labels[code] for code in codes]
            for name, labels, codes in zip(table.names, table.labels, drawn.T, strict=True)
        }
    )
    copied = fresh.copy()
    rows = rng.permutation(PEOPLE)[:COPIES]
    copied.iloc[rows] = real.iloc[rng.permutation(PEOPLE)[:COPIES]].astype(str).to_numpy()

    files = {"real": real, "control": control, "fresh": fresh, "copied": copied}
    for name, frame in files.items():
        frame.to_csv(FOLDER / f"given_{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
