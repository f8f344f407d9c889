#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the order of libraries: a file includes headers of its own library and of those its library
links, which stand above it. Exit status 1 when a file does otherwise.

  scripts/library_order.py [ROOT]

Order and links are read from the lines `nereid_library(NAME FOLDER … LINK …)` of CMakeLists.txt, the one
place where they stand; ARCHITECTURE.md's table, which people read, must not contradict them. A compiler
would not notice: all headers lie on one include path. Of a target's folder, lib/targets/NAME, others
include the entry NAMETarget.h alone, and only the files in NAMING name a target.
"""

import pathlib
import re
import sys

SOURCES = {".h", ".hpp", ".cpp", ".inc", ".def"}
INCLUDE = re.compile(r'\s*#\s*include\s+["<]((?:lib|runtime|nereid|mlir)/[^">]+)[">]')

# Folders that CMake makes otherwise, and what they see: what compiled libraries need takes single files
# of runtime/, and the public headers need nothing. Whoever writes such tables includes them.
OTHERS = {"runtime/aot": ("nereid_aot", ["runtime"]), "include": ("include", []),
          "lib/targets/nvidia/aot": ("nereid_aot_nvidia", ["nereid_aot", "nvidia_driver"])}
ALSO = {"aot": ["nereid_aot"]}

# Files outside of a target's folder whose text has a target's name, and why. A file that ceases to
# leaves the list; a new one asks the target through pipeline/Target.h instead.
NAMING = {
    "lib/aot/Library.cpp": "which instruction sets a portable library has",
    "lib/cli/develop/KernelBench.h": "default of --target",
    "lib/develop/Develop.h": "default of --target",
    "lib/develop/Launch.h": "default of --target",
    "lib/language/host/HostFacts.cpp": "what kernels see as triton's backend",
    "lib/launch/PreparedKernel.h": "default of --target",
    "lib/measure/results/SystemState.cpp": "a word of /proc/stat",
    "lib/pipeline/Compiler.h": "the target when none is named",
    "runtime/core/CpuCount.cpp": "a controller of cgroups",
    "runtime/cpu/CpuDevice.cpp": "the kind of the device",
}


class Library:
    def __init__(self, name, folder, links, line, place, sees_mlir=True):
        self.name, self.folder, self.line, self.place = name, folder, line, place
        self.sees_mlir = sees_mlir
        self.links = links + ALSO.get(name, [])

    def sees(self, libraries):
        """Itself and what it links, directly and through others."""
        seen, todo = set(), [self.name]
        while todo:
            name = todo.pop()
            if name in libraries and name not in seen:
                seen.add(name)
                todo += libraries[name].links
        return seen


def read_libraries(root):
    libraries = {}
    for line, text in enumerate((root / "CMakeLists.txt").read_text().splitlines(), 1):
        call = re.match(r"nereid_library\((\w+)\s+([\w/]+)(.*)\)", text)
        if call:
            name, folder, rest = call.groups()
            links = re.search(r"\bLINK\b((?:(?! EXCLUDE).)*)", rest)
            libraries[name] = Library(name, folder, links.group(1).split() if links else [], line,
                                      f"LINK of '{name}' in CMakeLists.txt:{line}",
                                      "MLIR" in rest.split())
    for folder, (name, links) in OTHERS.items():
        libraries[name] = Library(name, folder, links, 0, "OTHERS in scripts/library_order.py")
    for folder in sorted((root / "unittests").glob("*/")):
        more = folder / "LINK.txt"
        links = [folder.name] + (more.read_text().split() if more.exists() else [])
        name = f"unittests/{folder.name}"
        libraries[name] = Library(name, name, links, sys.maxsize, f"{name}/LINK.txt")
    return libraries


def check_order(root, libraries):
    """CMakeLists.txt and ARCHITECTURE.md list each library below those it links."""
    rows = {}
    for line, text in enumerate((root / "ARCHITECTURE.md").read_text().splitlines(), 1):
        row = re.match(r"\| `([\w/]+)/` \|", text)
        if row:
            rows.setdefault(row.group(1), line)
    for library in [l for l in libraries.values() if 0 < l.line < sys.maxsize]:
        if library.folder not in rows:
            yield (f"ARCHITECTURE.md:1: the table of folders lacks '{library.folder}/'\n"
                   f"  help: add its row below those of {', '.join(library.links)}")
        for other in [libraries[l] for l in library.links if l in libraries]:
            if other.line > library.line:
                yield (f"CMakeLists.txt:{library.line}: '{library.name}' links '{other.name}', which "
                       f"stands below it\n  help: move line {other.line} above it, or cut the link")
            if rows.get(other.folder, 0) > rows.get(library.folder, sys.maxsize):
                yield (f"ARCHITECTURE.md:{rows[library.folder]}: '{library.folder}/' stands above "
                       f"'{other.folder}/', which it links\n"
                       f"  help: move its row below line {rows[other.folder]}")


def library_of(libraries, path):
    """The library whose folder is the longest that holds the file."""
    holders = [l for l in libraries.values() if path.startswith(l.folder + "/")]
    return max(holders, key=lambda l: len(l.folder), default=None)


def check_include(libraries, path, number, header):
    library = library_of(libraries, path)
    if header.startswith("mlir/") and library and not library.sees_mlir:
        yield (f"{path}:{number}: '{library.name}' includes \"{header}\", but does not see MLIR\n"
               f"  help: move what needs it to a library with MLIR in CMakeLists.txt:{library.line}")
    other = library_of(libraries, "include/" + header if header.startswith("nereid/") else header)
    if not library or not other or other.name == "include":
        return
    seen = library.sees(libraries)
    if other.name in seen:
        return
    names = ", ".join(sorted(seen - {library.name})) or "nothing"
    head = f"{path}:{number}: '{library.name}' includes \"{header}\" of '{other.name}', which "
    if library.line > other.line > 0:
        yield f"{head}it does not link\n  help: add {other.name} to {library.place}; it sees: {names}"
    else:
        yield (f"{head}stands below it\n  help: move what is needed to '{library.name}' or to a library "
               f"that it sees ({names}), or let '{other.name}' pass it in")


def check_targets(targets, path, lines):
    outside = [t for t in targets if not path.startswith(f"lib/targets/{t}/")]
    naming = False
    for number, text in enumerate(lines, 1):
        for target in outside:
            entry = f"lib/targets/{target}/{target.capitalize()}Target.h"
            include = INCLUDE.match(text)
            if include and include.group(1).startswith(f"lib/targets/{target}/") \
                    and include.group(1) != entry:
                yield (f"{path}:{number}: includes \"{include.group(1)}\" of the target '{target}'\n"
                       f"  help: include \"{entry}\" and ask it through pipeline/Target.h")
            if re.search(rf'"{target}[:"]', text.split("//")[0]):
                naming = True
                if path not in NAMING:
                    yield (f"{path}:{number}: names the target '{target}' outside of its folder\n"
                           "  help: ask the target through pipeline/Target.h")
    if path in NAMING and not naming:
        yield (f"scripts/library_order.py: NAMING lists '{path}', which names no target\n"
               "  help: take it off the list")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    libraries = read_libraries(root)
    targets = sorted(p.name for p in (root / "lib/targets").glob("*/"))
    complaints = list(check_order(root, libraries))
    for folder in ("lib", "runtime", "include", "unittests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCES and file.is_file():
                path, lines = file.relative_to(root).as_posix(), file.read_text().splitlines()
                for number, text in enumerate(lines, 1):
                    include = INCLUDE.match(text)
                    if include:
                        complaints += check_include(libraries, path, number, include.group(1))
                if folder != "unittests":
                    complaints += check_targets(targets, path, lines)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
