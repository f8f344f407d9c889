#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds classes that are spread over more than five files. Exit status 1 when there is one.

  scripts/class_files.py [ROOT]

Counted are the file that declares a class and those that define one of its members, told by the lines
that begin a definition (clang-format puts them at the left). A class in many files hides several concepts
behind one name: find them and give each a class of its own, with the state that is its own.
"""

import collections
import pathlib
import re
import sys

LIMIT = 5
FOLDERS = ("bench", "include", "lib", "runtime", "test", "tools", "unittests")
OPENING = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{$")
CLOSING = re.compile(r"^\} // namespace")
DECLARATION = re.compile(r"^(?:class|struct) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: :.*)?(?: \{.*)?$")
# What stands before the last "::" of the name in front of the first parenthesis.
MEMBER = re.compile(r"^(?!#|//|using |return |namespace )[\w:<>,*&\s\[\]~]*?\b((?:\w+::)+)(?:~?\w+|operator[^\s(]+)\(")


def classes(text):
    """(isDeclared, "namespace::Class") for each declaration and each definition of a member."""
    spaces = []
    for line in text.splitlines():
        if opening := OPENING.match(line):
            spaces.append(opening[1])
        elif CLOSING.match(line):
            spaces and spaces.pop()
        elif "" in spaces or line.startswith(" "):
            continue  # in a namespace without a name, a class has one file
        elif declaration := DECLARATION.match(line):
            yield True, "::".join([*spaces, declaration[1]])
        elif member := MEMBER.match(line):
            yield False, "::".join([*spaces, member[1].split("::")[-2]])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    declared, files = set(), collections.defaultdict(set)
    for path in (f for folder in FOLDERS for f in (root / folder).rglob("*") if f.suffix in (".h", ".cpp")):
        for is_declared, name in classes(path.read_text(encoding="utf-8")):
            files[name].add(path.relative_to(root).as_posix())
            if is_declared:
                declared.add(name)
    found = sorted(name for name in declared if len(files[name]) > LIMIT)
    for name in found:
        print(f"{name}: a class in {len(files[name])} files, but it has at most {LIMIT}\n"
              f"  note: {', '.join(sorted(files[name]))}\n"
              "  help: give each concept in it a class of its own")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
