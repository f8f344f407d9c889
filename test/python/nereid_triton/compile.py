# SPDX-License-Identifier: Apache-2.0
"""Takes the place of upstream's compiler: a bound jit function to a kernel of libnereid.so."""

import ast
import collections
import hashlib
import os
import re

import triton
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure

from . import NotJudged, capi
from .arguments import Parameters
from .source import Text

_STATIC_ASSERT = "E0220"


_Specialization = collections.namedtuple("_Specialization", ["constants", "signature"])


class _Texts:
    """What other back ends keep of a compilation."""

    def __getitem__(self, name):
        raise NotJudged(f"reads the text of another back end: asm[{name!r}]")

    __contains__ = get = keys = __getitem__


def _as_upstream(failure, name, text):
    """Upstream's exception, which points into the function's own text."""
    kind = CompileTimeAssertionFailure if failure.code == _STATIC_ASSERT else CompilationError
    found = re.search(re.escape(name) + r":(\d+):(\d+): error", str(failure))
    function, line = text.place(int(found[1])) if found else (None, 0)
    if function is None:
        return kind(None, None, str(failure))
    return kind(function.src, ast.Pass(lineno=line, col_offset=int(found[2]) - 1), str(failure))


class CompiledKernel:
    """What `JITFunction.run` launches and hands back."""

    def __init__(self, source, target, options):
        self.src, self.target = source, target
        constants = {source.fn.arg_names[path[0]]: value
                     for path, value in source.constants.items() if len(path) == 1}
        self.name = source.fn.repr(_Specialization(constants, source.signature))
        self.options = options
        self.asm = _Texts()
        self.function, self.packed_metadata = None, ()
        self.parameters = Parameters(source)
        text = Text()
        self.entry = self.parameters.complete(text, text.name_of(source.fn, source.fn.__name__))
        self.text, self.kernels = text, {}
        signature = self.parameters.signature()
        self.hash = hashlib.sha256(f"{self.entry}({signature})\n{text}".encode()).hexdigest()
        self.kernel(signature)

    def kernel(self, signature):
        if signature not in self.kernels:
            if directory := os.environ.get("NEREID_KEEP_TEXTS"):
                with open(os.path.join(directory, f"{self.entry}-{self.hash[:8]}.py"), "w") as file:
                    file.write(f"{self.text}# {self.entry}: {signature}\n")
            name = self.src.fn.fn.__code__.co_filename
            try:
                self.kernels[signature] = capi.Kernel(str(self.text), name, self.entry, signature)
            except capi.Failure as failure:
                if failure.status == capi.INTERNAL:
                    raise
                raise _as_upstream(failure, name, self.text) from failure
        return self.kernels[signature]

    def launch_metadata(self, grid, stream, *arguments):
        return None

    def run(self, x, y, z, stream, function, metadata, launch, enter, leave, *arguments):
        if x > 0 and y > 0 and z > 0:
            given = self.parameters.flat(arguments)
            kernel = self.kernel(self.parameters.signature(given))
            kernel.launch((x, y, z), self.parameters.values(given))

    def __getitem__(self, grid):
        grid = tuple(grid) + (1, ) * (3 - len(grid))
        return lambda *arguments, **_: self.run(*grid, 0, None, (), None, None, None, *arguments)

    def __getattr__(self, name):
        raise NotJudged(f"reads a property of another back end's kernel: {name}")


def compile_kernel(src, target=None, options=None, **_):
    target = target or triton.runtime.driver.active.get_current_target()
    if target.backend != "cpu":
        raise NotJudged(f"compiles for another back end: {target.backend}")
    if not isinstance(src, triton.compiler.ASTSource):
        raise NotJudged("compiles upstream's intermediate text")
    src.fn.cache_key  # upstream's own check of what a function may refer to
    try:
        return CompiledKernel(src, target, options)
    except capi.Failure as failure:  # of a type that the signature cannot name
        raise CompilationError(None, None, str(failure)) from failure


def _make_ir(*_, **__):
    raise NotJudged("reads the text of another back end: upstream's own front end's")


def install():
    """From now on upstream's launcher and its users compile with libnereid.so."""
    triton.compiler.ASTSource.make_ir = _make_ir
    triton.compile = triton.compiler.compile = triton.compiler.compiler.compile = compile_kernel
