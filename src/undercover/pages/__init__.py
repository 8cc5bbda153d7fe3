"""From a run to a page: summary (a dict), charts (SVG), html (one self-contained file)."""
