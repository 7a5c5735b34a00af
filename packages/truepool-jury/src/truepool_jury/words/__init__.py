"""Templates of sentences by code: no logic, no imports."""
