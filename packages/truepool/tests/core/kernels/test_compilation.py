"""Compiled code without a folder to keep it in."""

import json
import subprocess
import sys

CODE = """
import sys
from numba.core import caching

def refuse(self):
    raise OSError(30, "Read-only file system")

# Root may write anywhere, so the refusal of the system is put in its place.
caching._CacheLocator.ensure_cache_path = refuse

import truepool as tp

panel = tp.Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
print(tp.credit.leave_one_out(panel).round(3).tolist())
print(tp.replay("gradient", panel).pooled.shape)
from truepool.core import kernels
print(kernels.chosen.__name__.rpartition(".")[2])

from truepool.cli import main
sys.argv = ["truepool", "replay", sys.argv[1], "--quiet", "--json=-"]
main()
"""


def test_without_a_cache_everything_is_compiled_in_the_process(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n" + "0.9,0.5,1\n0.1,0.5,0\n" * 3)
    done = subprocess.run(
        [sys.executable, "-c", CODE, table], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third, answer = done.stdout.split("\n", 3)
    assert (first, second, third) == ("[0.16, -0.08]", "(2,)", "compiled")
    assert json.loads(answer)["learner"] == "gradient"
