# SPDX-License-Identifier: Apache-2.0
"""Asks upstream's own front end whether it accepts a kernel for a signature. Runs as a process of its
own, under a Python that has the packages `triton` and `torch`, because it imports the kernels' files:

  upstream.py ROOT…   reads a line per file, {"file", "module", "alone", "kernels": [{"function",
                      "signatures"}]}, and writes lines [function, signature, answer]; an answer has
                      "class": ok, refused or unknown, and "message". The last line of a file names no
                      function; its class is done, time-out or died

Modules that are not installed are replaced by objects that have any attribute, and torch believes in
a GPU that nobody has, since files ask for one when they are imported. Each file is answered for in a
forked process, which may crash or hang."""

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import select
import signal
import sys
import types

import cpu_tensors

SECONDS = 90  # for one answer; the first one includes the import of the file


class Absent(types.ModuleType):
    """Stands for a module that is not installed, and for whatever is taken out of it."""

    __path__ = []
    __version__ = "999.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *arguments, **keywords):
        # A decorator that is not installed leaves what it decorates as it is.
        if len(arguments) == 1 and not keywords and callable(arguments[0]):
            return arguments[0]
        return Absent(f"{self.__name__}()")

    def __bool__(self):
        return False

    def __mro_entries__(self, bases):
        return (object,)

    def __getitem__(self, key):
        return Absent(f"{self.__name__}[]")

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __lt__(self, other):
        return False

    __gt__ = __lt__

    def __le__(self, other):
        return True

    __ge__ = __le__


class AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: whatever no other one finds for a file of the checkout, outside the checkout
    itself and the packages that are there. An installed package finds what is installed, and no more."""

    def __init__(self, own, roots):
        self.own, self.roots = own, tuple(roots)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.own and name.split(".")[:2] != ["triton", "ops"]:
            return None
        frame = sys._getframe(1)
        while frame and frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        if not frame or not str(frame.f_globals.get("__file__", "")).startswith(self.roots):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


def pretend_gpu():
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    class Utils:
        def get_device_properties(self, device):
            return {"max_shared_mem": 232448, "multiprocessor_count": 132, "max_num_regs": 65536,
                    "warpSize": 32, "sm_clock_rate": 1, "mem_clock_rate": 1, "mem_bus_width": 1}

    class Driver:
        utils = Utils()

        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

        def get_current_device(self):
            return 0

        def get_active_torch_device(self):
            return torch.device("cpu")

        def get_device_interface(self):
            return torch.cuda

        def get_device_capability(self, device=0):
            return (9, 0)

        def get_benchmarker(self):
            return lambda *a, **k: [1.0, 1.0, 1.0]

    driver.set_active(Driver())
    cpu_tensors.pretend_gpu((9, 0))


INNER = ("fn", "__wrapped__", "_scalar_fn", "jit_function")


def jit_function(value):
    """The function below autotuners, heuristics and a library's own wrappers."""
    for _ in range(16):
        if type(value).__name__ == "JITFunction":
            return value
        inner = next((vars(value)[n] for n in INNER if n in getattr(value, "__dict__", {})), None)
        if inner is None:
            return None
        value = inner
    return None


def split_entries(text):
    depth, start, quote = 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([<":
            depth += 1
        elif c in ")]>":
            depth -= 1
        elif c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


TYPE = re.compile(r"\*?(k)?(i1|u1|[iu](8|16|32|64)|fp(16|32|64)|bf16|fp8\w+)(:\d+)?$")


def read_value(text, module):
    """A constant of a signature: a literal, or a dotted name such as tl.float32."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        import triton.language as tl
        first, *rest = text.split(".")
        value = tl if first == "tl" else getattr(module, first)
        for name in rest:
            value = getattr(value, name)
        return value


def source_of(kernel, signature, module):
    """ASTSource of the kernel for a signature `name=type, name=value, …`."""
    import triton
    types_, constants, attributes = {}, {}, {}
    given = dict(e.split("=", 1) for e in split_entries(signature))
    for index, parameter in enumerate(kernel.params):
        text = given.get(parameter.name)
        if text is None:
            types_[parameter.name] = "constexpr"
            constants[(index,)] = None if parameter.default is parameter._param.empty else parameter.default
        elif TYPE.match(text) and not parameter.is_constexpr:
            name, _, divisor = text.partition(":")
            types_[parameter.name] = name.replace("i1", "u1") if name == "i1" else name
            if divisor:
                attributes[(index,)] = [["tt.divisibility", int(divisor)]]
        elif text.startswith("tensordesc<"):
            types_[parameter.name] = text
        elif text.startswith("(") and "*" in text:
            names = [e for e in split_entries(text[1:-1])]
            types_[parameter.name] = tuple(n.partition(":")[0] for n in names)
        else:
            types_[parameter.name] = "constexpr"
            constants[(index,)] = read_value(text, module)
    return triton.compiler.ASTSource(kernel, types_, constants, attributes)


def import_inside(name):
    """The module; a package around it whose own file cannot be imported is an empty one."""
    parts = name.split(".")
    for count in range(1, len(parts)):
        package = ".".join(parts[:count])
        try:
            importlib.import_module(package)
        except BaseException:
            spec = importlib.util.find_spec(package)
            module = types.ModuleType(package)
            module.__path__ = list(spec.submodule_search_locations)
            module.__spec__, module.__package__ = spec, package
            sys.modules[package] = module
    return importlib.import_module(name)


def module_of(question):
    """The kernels' file, imported under its own name or, standing alone, from its path."""
    if not question["alone"]:
        return import_inside(question["module"])
    spec = importlib.util.spec_from_file_location("corpus_kernel", question["file"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["corpus_kernel"] = module
    spec.loader.exec_module(module)
    for name, value in list(vars(module).items()):  # bodies that a library hands to its own launcher
        if hasattr(value, "_scalar_fn"):
            setattr(module, name, jit_function(value))
    return module


def front_end(kernel, signature, module):
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    try:
        source = source_of(kernel, signature, module)
    except Exception as error:
        return {"class": "unknown", "message": f"signature: {type(error).__name__}: {error}"[:300]}
    target = GPUTarget("cuda", 90, 32)
    backend = triton.compiler.make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    try:
        source.make_ir(target, options, backend.get_codegen_implementation(options),
                       backend.get_module_map(), context)
    except BaseException as error:
        cause = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        text = f"{type(cause).__name__}: {str(cause).strip()}"[:600]
        return {"class": "unknown" if "Absent" in text else "refused", "message": text}
    return {"class": "ok", "message": ""}


def answers(question):
    """(kernel, signature, answer) of each signature, per kernel until one is accepted."""
    try:
        with cpu_tensors.CpuTensors():
            module = module_of(question)
    except BaseException as error:  # a checkout may raise anything when it is imported
        is_refused = isinstance(error, (ImportError, AttributeError)) and "'triton" in str(error)
        why = {"class": "refused" if is_refused else "unknown",
               "message": f"import: {type(error).__name__}: {error}"[:300]}
        for kernel in question["kernels"]:
            yield kernel["function"], "", why
        return
    for entry in question["kernels"]:
        kernel = jit_function(getattr(module, entry["function"], None))
        if kernel is None:
            yield entry["function"], "", {"class": "unknown", "message": "no jit function after the import"}
            continue
        for signature in entry["signatures"]:
            found = front_end(kernel, signature, module)
            yield entry["function"], signature, found
            if found["class"] == "ok":
                break


def ask(question):
    """Prints the answers of a forked process as they come, and at last why no more came."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with contextlib.suppress(BaseException), os.fdopen(writer, "w") as stream:
            for function, signature, found in answers(question):
                print(json.dumps([function, signature, found]), file=stream, flush=True)
            print(json.dumps(["", "", {"class": "done"}]), file=stream, flush=True)
        os._exit(0)
    os.close(writer)
    why, rest = "", b""
    while not why:
        if not select.select([reader], [], [], question.get("seconds", SECONDS))[0]:
            why = "time-out"
        elif piece := os.read(reader, 1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                print(line.decode(), flush=True)
                why = "done" if json.loads(line)[0] == "" else why
        else:
            why = "died"
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if why != "done":
        print(json.dumps(["", "", {"class": why, "message": f"status {status}"}]), flush=True)


def main():
    roots = sys.argv[1:]
    sys.path[:0] = roots
    own = {n.removesuffix(".py") for r in roots for n in os.listdir(r)}
    import numpy  # noqa: F401
    import torch  # noqa: F401
    known = own | set(sys.stdlib_module_names) | {"torch", "triton", "numpy"}
    pretend_gpu()
    sys.meta_path.append(AbsentFinder(known, roots))
    print(json.dumps({"class": "ready"}), flush=True)
    for line in sys.stdin:
        ask(json.loads(line))


if __name__ == "__main__":
    main()
