"""The site: ``make docs`` builds it into build/site; warnings are errors."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "truepool"
author = "The truepool developers"
copyright = author
release = version = installed("truepool")

extensions = [
    "linked_tests",
    "mathml",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
]
suppress_warnings = ["myst.xref_missing"]
exclude_patterns = ["_extensions"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_extensions" / "search_scorer.js")

myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = "off"

autodoc_typehints = "none"
# Methods that scikit-learn adds to every estimator, with references to its own site.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_predict_request, set_score_request, "
    "set_predict_proba_request, set_partial_fit_request"
}
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "truepool"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
}
