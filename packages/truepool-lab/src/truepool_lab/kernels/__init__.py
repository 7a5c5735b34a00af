"""What each shift of an agent's reports would earn: in plain numpy, and compiled."""

from importlib import import_module

from truepool.core import kernels

chosen = "reference" if kernels.online is None else "compiled"
shading = import_module(f"truepool_lab.kernels.shading_{chosen}")
