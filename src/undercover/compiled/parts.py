"""How a part of a kernel is compiled: into the kernels that call it, and nowhere else.

Numba optimizes every function for itself and makes machine code of it, then does so again as a part of each function
that calls it. Nobody calls a part but kernels, so once is enough, when all of a kernel is together (decision 81). This
knows insides of Numba, so ``jit.py`` asks for its version first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from undercover.errors import InternalError


class _Unfinished(JITCodeLibrary):
    """The code of a part and of its own parts, to be linked into kernels; it is no machine code and cannot be run."""

    def finalize(self) -> None:
        for part in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(part._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalized = True


def _handed(state: Any) -> Iterator[Any]:
    """The types of what a part hands back, and of what is handed to it by those it calls."""
    yield state.return_type
    yield from (found.return_type for asked, found in state.calltypes.items() if getattr(asked, "op", "") == "call")


def _has_memory(state: Any) -> Callable[[Any], bool]:
    """Tells whether there is memory behind values of a type, of which somebody must count who holds it."""
    models = state.targetctx.data_model_manager
    return lambda kind: bool(models.lookup(kind).contains_nrt_meminfo())


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringOfAPart(NativeLowering):
    """Numba's own lowering, but for the address of the machine code, of which there is none."""

    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        if state.library is None:
            state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        if not state.flags.nrt and any(map(_has_memory(state), _handed(state))):
            raise InternalError(f"`{state.func_id.func_name}` borrows, and hands an array back or is handed a new one.")
        super().run_pass(state)
        lowered = state["cr"]
        name = lowered.fndesc.qualname.split(".")[-1]
        # What kernels know it by.
        part = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(part, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=part)
        return True


class PartCompiler(CompilerBase):
    """Numba's passes with :class:`_LoweringOfAPart` in place of its own."""

    def define_pipelines(self) -> list[Any]:
        """The one pipeline there is."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_LoweringOfAPart, NativeLowering)
        passes.passes = [one for one in passes.passes if one[0] is not NativeLowering]
        passes.finalize()
        return [passes]
