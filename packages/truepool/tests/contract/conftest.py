"""A promise that is broken is named by its key, under which a class may be exempt."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    mark = item.get_closest_marker("promise")
    if mark is not None and report.failed:
        cure = (
            f"This is the promise {mark.args[0]!r}. A class that cannot keep it says so, "
            f"with the reason: exemptions: ClassVar = {{{mark.args[0]!r}: '...'}}"
        )
        report.sections.append(("promise", cure))
    return report
