"""Charts as files, written whole or not at all."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.collect.files import replace_file
from deniable.errors import need_extra, require
from deniable.present.clean import clean_all

if TYPE_CHECKING:
    import altair

__all__ = ["SUFFIXES", "rendered", "save"]

SUFFIXES = (".html", ".png", ".svg", ".pdf", ".json")
"""The kinds of file that `save` writes."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="color-scheme" content="light dark">
<style>
body {{ margin: 1.5rem; background: white; font-family: sans-serif; }}
#chart {{ overflow-x: auto; }}
#chart, #chart .vega-embed {{ max-width: 100%; }}
#chart svg {{ max-width: 100%; height: auto; }}
@media (max-width: 40rem) {{ body {{ margin: 0.25rem; }} }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #141414; }}
  #chart {{ filter: invert(0.92) hue-rotate(180deg); }}
}}
@media print {{ body {{ background: white; }} #chart {{ filter: none; }} }}
</style>
<script>{scripts}</script>
</head>
<body>
<main id="chart" tabindex="0"></main>
<script>
vegaEmbed("#chart", {spec}, {options}).then(() => {{
  const drawn = document.querySelector("#chart svg");
  drawn.style.minWidth = 0.8 * drawn.getAttribute("width") + "px";
}}).catch(console.error);
</script>
</body>
</html>
"""

_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""Makes the browser refuse every load from a network; Vega compiles its expressions, hence eval."""

_SCHEMA = re.compile(r"/vega-lite/v(\d+\.\d+)")

_OPTIONS = {
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
}


def save(chart: altair.TopLevelMixin, path: str | os.PathLike[str]) -> Path:
    """Write a chart as what the suffix of the file says: .html, .png (twice the size), .svg, .pdf or .json.


    The HTML page holds all its scripts and loads nothing. The file appears whole or, after an error, not at all;
    what was there before stays until then.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    hint = "The suffix says what kind of file is written."
    require(suffix in SUFFIXES, "path", str(path), f"a name that ends in one of {', '.join(SUFFIXES)}", hint)
    folder = target.parent
    require(folder.is_dir(), "path", str(path), "in a folder that exists", f"Create {str(folder)!r} first.")
    replace_file(target, rendered(chart.to_dict(), suffix))
    return target


def rendered(spec: dict[str, Any], suffix: str) -> bytes:
    """A chart in Vega-Lite as the bytes of a file; what cannot be drawn of its texts is marked."""
    spec = clean_all(spec)
    if suffix == ".json":
        return (json.dumps(spec, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    converter = need_extra("vl_convert", "charts")
    found = _SCHEMA.search(spec.get("$schema", ""))
    require(found is not None, "chart", spec.get("$schema"), "a chart of Vega-Lite that says its version in $schema")
    version = found[1] if found is not None else ""
    if suffix == ".png":
        return bytes(converter.vegalite_to_png(spec, vl_version=version, scale=2))
    if suffix == ".pdf":
        return bytes(converter.vegalite_to_pdf(spec, vl_version=version))
    if suffix == ".svg":
        return str(converter.vegalite_to_svg(spec, vl_version=version)).encode()
    return _page(spec, converter.javascript_bundle(vl_version=version)).encode()


def _page(spec: dict[str, Any], scripts: str) -> str:
    """The page; text in the data cannot end the script it stands in."""
    title = html.escape(spec.get("description", "chart"))
    safe = json.dumps(spec, allow_nan=False).replace("<", "\\u003c")
    return _PAGE.format(policy=_POLICY, title=title, scripts=scripts, spec=safe, options=json.dumps(_OPTIONS))
