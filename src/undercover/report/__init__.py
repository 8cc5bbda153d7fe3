"""From a run to a page: summary (a dict), charts (SVG), html (one self-contained file)."""

from undercover.report.cards import register
from undercover.report.datasheet import datasheet_summary
from undercover.report.html import datasheet_html, overview_html, report_html
from undercover.report.summary import summarize

__all__ = ["datasheet_html", "datasheet_summary", "overview_html", "register", "report_html", "summarize"]
