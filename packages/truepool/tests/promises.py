"""Promises of the contract suite, by the key that exempts a class from one."""

import pytest

POOLS = {
    "unanimity",
    "permutation",
    "duplicate",
    "label swap",
    "better than a coin",
}
LEARNERS = {"asleep", "joining"}


def owing(every, promise):
    """Test every class that makes this promise; one that fails learns its key."""
    names = [name for name, cls in every.items() if promise not in cls.exemptions]

    def mark(test):
        return pytest.mark.promise(promise)(
            pytest.mark.parametrize("name", names)(test)
        )

    return mark
