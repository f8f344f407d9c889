#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds folders with more than 25 source files. Exit status 1 when there is one.

  scripts/folder_sizes.py [ROOT]

A reader takes in a folder at once as long as it is about one thing; a flat one with many files hides
several. The number only asks the question: cut such a folder by idea, into subfolders that a newcomer
would look for, and let the tests' folder follow.
"""

import collections
import pathlib
import sys

LIMIT = 25
SOURCES = {".h", ".hpp", ".cpp", ".inc", ".td"}
FOLDERS = ("bench", "examples", "include", "kernels", "lib", "runtime", "test", "tools", "unittests")

# Folders that may have more, and why. One that no longer has leaves the list.
LARGER = {
    "lib/generator": "it is about to be rebuilt on a tree of tile programs, which cuts it",
}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    files = [f for folder in FOLDERS for f in (root / folder).rglob("*") if f.suffix in SOURCES]
    counts = collections.Counter(f.parent.relative_to(root).as_posix() for f in files)
    complaints = []
    for folder, count in sorted(counts.items()):
        if count > LIMIT and folder not in LARGER:
            complaints.append(f"{folder}: {count} source files, but a folder has at most {LIMIT}\n"
                              "  help: cut it by idea into subfolders")
    for folder in LARGER:
        if counts[folder] <= LIMIT and (root / folder).exists():
            complaints.append(f"scripts/folder_sizes.py: LARGER lists '{folder}', which has "
                              f"{counts[folder]} source files\n  help: take it off the list")
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
