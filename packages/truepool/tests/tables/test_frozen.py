"""Small tables that the last version read as this one does, or refused as well.

``scripts/compare_readers.py`` wrote them, after it had compared all tables of the tests.
"""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from truepool.core.errors import TruepoolError
from truepool.tables import Declared, load_panel

LINES = Path(__file__).with_name("frozen.jsonl").read_text().splitlines()
TABLES = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("case", TABLES, ids=[str(n) for n in range(len(TABLES))])
def test_a_table_is_read_as_it_was(case, tmp_path):
    path, found = tmp_path / case["name"], case["found"]
    path.write_bytes(case["text"].encode())
    declared = Declared(**case["keys"])
    if "agents" not in found:
        with pytest.raises(TruepoolError) as error:
            load_panel(path, declared, allow_empty_cases=case["empty"])
        assert list(getattr(error.value, "codes", ())) == found.get("codes", [])
        return
    panel, _ = load_panel(path, declared, allow_empty_cases=case["empty"])
    parts = np.float64(panel.values), np.int64(panel.outcomes)
    numbers = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    assert list(panel.agents) == found["agents"]
    assert list(map(str, panel.labels.names)) == found["labels"]
    assert list(panel.values.shape) == found["shape"]
    assert sha256(numbers).hexdigest() == found["numbers"]
