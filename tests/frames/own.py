"""A generator that gives the people back as they are, whatever it declares."""


def copies(people, rng):
    """Return most rows of the table."""
    return people.sample(frac=0.95, random_state=rng)
