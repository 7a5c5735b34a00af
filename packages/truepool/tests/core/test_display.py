"""Values show themselves in notebooks, without knowing who shows them."""

import subprocess
import sys

import pytest
from example_audit import audit
from panels import random_panel

from truepool import compare, replay

PANEL = random_panel(1)


def shown():
    return {
        "panel": PANEL,
        "comparison": compare(PANEL, pools=["vcg"], resamples=20),
        "trace": replay("gradient", PANEL),
        "audit": audit(),
    }


@pytest.mark.parametrize("name", ["panel", "comparison", "trace", "audit"])
def test_a_notebook_shows_a_table_or_findings_and_a_line_is_enough_elsewhere(name):
    value = shown()[name]
    page = value._repr_html_()
    assert "<table" in page or "<article" in page
    assert "<script" not in page
    assert len(repr(value)) < 130
    assert "\n" not in repr(value)


def test_a_trace_brings_its_figure():
    assert 'role="img"' in shown()["trace"]._repr_html_()


def test_an_audit_in_a_notebook_has_no_links_into_a_page_that_is_not_there():
    assert "href" not in audit()._repr_html_()


def test_values_do_not_import_their_renderers():
    code = "import sys, truepool.panel.panel, truepool.audits.values; print([m for m in sys.modules if 'truepool.pages' in m or 'matplotlib' in m or 'jinja2' in m])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_help_needs_no_templates():
    code = "import sys; from truepool.cli import main; sys.argv = ['truepool', '--help']\ntry: main()\nexcept SystemExit: pass\nprint('jinja2' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines()[-1] == "False"
