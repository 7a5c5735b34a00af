"""What is not installed is named with the extra that brings it."""

import pytest

from truepool.agents.extras import require
from truepool.core.errors import MissingExtraError


def test_a_missing_library_is_named_with_its_extra():
    with pytest.raises(MissingExtraError) as stop:
        require("no_such_library.part", "neural", "tabnet")
    assert str(stop.value) == (
        "tabnet needs no_such_library, which is not installed; "
        "pip install 'truepool[neural]'"
    )
