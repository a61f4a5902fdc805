"""A table mechanism from a plain function, without a guarantee."""


def half(people, rng):
    return people.sample(frac=0.5, random_state=rng)
