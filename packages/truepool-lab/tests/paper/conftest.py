import pytest
from command import truepool

__all__ = ["truepool"]


@pytest.fixture(autouse=True)
def quick_auto():
    """What is compared with the paper's numbers is `auto` with all its candidates."""
