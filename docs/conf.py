"""How Sphinx builds the site: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "lifelong-co"
copyright = "2026, the authors of lifelong-co"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "api_pages",
    "command_line",
    "notebooks",
    "outside_links",
]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
exclude_patterns = ["extensions"]

# Docstrings put names in single backticks: a link where the name is documented, else plain code.
default_role = "py:obj"
smartquotes_action = "q"  # not dashes: the text has names of options
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"members": True, "show-inheritance": True}

myst_heading_anchors = 4

html_theme = "furo"
html_title = "lifelong-co"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
