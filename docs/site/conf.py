"""How Sphinx makes the site from the pages that build.py has staged beside a copy of this file."""

from __future__ import annotations

import re
from typing import Any

import deniable

project = "Deniable"
author = "The Deniable authors"
copyright = "The Deniable authors, MIT licence"
version = release = deniable.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
suppress_warnings = ["misc.highlighting_failure"]
"""Shown output that is no whole document of its language is shown plain, which is right."""

# ---- Markdown

myst_heading_anchors = 4
myst_links_external_new_tab = False
language = "en"
smartquotes = False

# ---- the reference of Python

add_module_names = False
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "inherited-members": False, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_use_unqualified_type_names = True
toc_object_entries = False

_SIGNS = re.compile(r"(?<!\\)([*|])|(\w)_(?=\W|$)")


def plain_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written for readers of the source: one backtick marks code, other signs stand for themselves."""
    code = False
    for i, line in enumerate(lines):
        code = line.lstrip().startswith((">>>", "...")) or (code and bool(line.strip()))
        if code:
            continue
        parts = re.split(r"(`[^`\n]+`)", line)
        lines[i] = "".join(f"`{part}`" if part.startswith("`") else _SIGNS.sub(_escaped, part) for part in parts)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[1]}" if found[1] else f"{found[2]}\\_"


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)


# ---- how it looks

html_theme = "pydata_sphinx_theme"
html_title = f"Deniable {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_context = {"default_mode": "auto"}
html_favicon = "static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "project/*": []}
html_theme_options: dict[str, Any] = {
    "logo": {"text": f"Deniable {version}", "image_light": "static/mark.svg", "image_dark": "static/mark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
