"""Formulas as MathML, which browsers draw themselves: no script, no font, nothing to fetch."""

from typing import Any

from docutils.nodes import Element, SkipNode, math, math_block
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def mathml(node: Element, as_block: bool = False) -> str:
    """A formula, or a warning that says where the one stands that cannot be read."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        LOGGER.warning("%s", error, location=node)
        return ""


def inline(writer: Any, node: math) -> None:
    """A formula within a sentence."""
    writer.body.append(mathml(node))
    raise SkipNode


def block(writer: Any, node: math_block) -> None:
    """A formula on lines of its own, which is scrolled where it is wider than the page."""
    writer.body.append(f'<div class="formula" tabindex="0">{mathml(node, as_block=True)}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
