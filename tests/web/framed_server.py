"""``python -m framed_server serve ...``: undercover, where jobs of the web application leave pictures undrawn.

To draw those of one release takes longer than to make it; whoever looks at pictures makes the release himself.
"""

from functools import partialmethod

from undercover.cli import run
from undercover.web.jobs.queue import Queue

if __name__ == "__main__":
    Queue.__init__ = partialmethod(Queue.__init__, kinds="framed_jobs:KINDS")  # type: ignore[method-assign,assignment]
    run()
