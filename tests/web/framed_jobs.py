"""The jobs of the web application, in a process whose pages have frames for pictures."""

from pictures import frame
from undercover.pages import jinja
from undercover.web.jobs.kinds import KINDS

jinja.drawings = frame

__all__ = ["KINDS"]
