"""The manual: every page of the repository, by Sphinx and MyST, without a request to anybody else.

Sources start at the root of the repository, so that links lead to the same places here and on a code host. What is
particular is in ``making``: navigation, formulas, and pages that are made while the manual is built. Built by
``make docs``, and by the tests with warnings as errors.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "undercover"
author = "the authors of undercover"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "making.made",
    "making.reference",
    "making.navigation",
    "making.formulas",
]
root_doc = "docs/guide/index"
include_patterns = ["*.md", "docs/**.md", "benchmarks/README.md"]
exclude_patterns = [".*", "build", "dist", "src", "tests", "packages", "examples"]
listed_only = ["docs/decisions", "docs/reference", "docs/reference/commands", "docs/reference/python"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "undercover"
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # for each it would fetch the page, which browsers refuse in a folder
html_search_scorer = str(Path(__file__).with_name("making") / "scorer.js")
html_static_path = ["manual.css"]
html_css_files = ["manual.css"]
pygments_style = "default"
pygments_dark_style = "github-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
toc_object_entries = False
