"""A small study with its table, and a channel, for commands that are run in odd folders."""

_ROWS = "".join(f"{'mf'[i % 2]},{i % 5},{(i // 3) % 2}\n" for i in range(60))
FILES = {
    "people.csv": "sex,age,ill\n" + _ROWS,
    "study.toml": """title = "Ångström ε"
[data]
path = "people.csv"
[threat]
unknown = ["ill"]
targets = 10
[mechanism]
k = 2
epsilon = [1]
delta = 1e-5
[run]
trials = 3
seed = 1
workers = 1
""",
    "channel.csv": "a,b\n.8,.2\n.2,.8\n",
}
"""Contents by the names of their files."""
