"""From a run to a page: summary (a dict), charts (SVG), html (one self-contained file)."""

from undercover.pages.cards import register
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html, overview_html, report_html
from undercover.pages.summary import summarize

__all__ = ["datasheet_html", "datasheet_summary", "overview_html", "register", "report_html", "summarize"]
