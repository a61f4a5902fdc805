"""What each kind of study finds, typed: the record's schema is generated from these models.

Every key is required, null where there is no answer, and every number has a range: a record that
lacks one, misspells one or holds a number that cannot be is refused where it is read.
"""
