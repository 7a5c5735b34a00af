"""The public names, and what importing them costs."""

import subprocess
import sys

import pytest

import truepool
from truepool import pools
from truepool.core import errors

CONTRACT = {
    "Audit", "audit", "Panel", "read_panel", "Costs", "VCG", "pools", "PooledClassifier", "credit", "compare",
    "Auto", "Mean", "Comparison", "decide", "losses", "scores", "weights", "datasets",
    "Features", "ReportTable", "read_reports", "TruepoolError", "learners", "load_pool", "load_stream", "replay", "Stream", "TableFaults", "Trace", "diversity",
    "agents", "score",
}  # fmt: skip


def test_the_public_names_are_these():
    assert set(truepool.__all__) == CONTRACT
    for name in truepool.__all__:
        assert getattr(truepool, name) is not None


def test_every_pool_is_a_name_of_the_package():
    for cls in pools.every().values():
        assert getattr(truepool, cls.__name__) is cls
        assert cls.__name__ in dir(truepool)


@pytest.mark.parametrize("name", ["Nothing", "nothing", "_nothing"])
def test_other_names_are_not_there(name):
    with pytest.raises(AttributeError, match=name):
        getattr(truepool, name)


def test_the_version_is_known():
    assert truepool.__version__[0].isdigit()


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, truepool; print('\\n'.join(sys.modules))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"scipy", "sklearn", "numba", "pandas", "pyarrow", "matplotlib", "torch"}
    assert not heavy & set(answer.stdout.split())


def test_every_error_is_a_truepool_error():
    kinds = [
        thing
        for thing in vars(errors).values()
        if isinstance(thing, type) and issubclass(thing, Exception)
    ]
    assert all(issubclass(kind, errors.TruepoolError) for kind in kinds)
    others = [kind for kind in kinds if kind is not errors.TruepoolError]
    assert all(
        issubclass(kind, ValueError | LookupError | ImportError | RuntimeError)
        for kind in others
    )


def test_rooms_are_imported_when_they_are_first_named():
    # A room that a test before this one has imported is an attribute already.
    assert truepool.__getattr__("credit") is truepool.measures.credit
