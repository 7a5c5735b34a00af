"""Mutants of the lines that decide, and which of them the tests kill.

A mutant is a copy of the library with one small change, such as ``<`` for ``<=``. If no
test that covers the line fails, the mutant survives, and a test is missing. mutmut
changes only the bodies of functions, never the constants of a module, and starts from
whole functions; cosmic-ray runs one command for all mutants. Neither draws a sample
over packages or chooses the tests by line, so both would have to be wrapped.

`sites` finds the changes, `layout` the modules, `coverage_map` the tests of a line,
`trials` runs them, `results` keeps and counts the outcomes.
"""
