"""."""


def write(*a):
    pass
