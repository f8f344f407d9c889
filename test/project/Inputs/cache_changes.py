# SPDX-License-Identifier: Apache-2.0
# cache_changes.py BEFORE AFTER: the settings that another CMakeCache.txt changes, and those it adds
# under names that CMake gives a meaning to, or that other projects use as well.
import re
import sys

FOREIGN = re.compile(r"CMAKE_(?!INSTALL_\w*DIR$)|BUILD_|CTEST_|GTest_|CCACHE")


def settings(path):
    found = {}
    for line in open(path, encoding="utf-8"):
        match = re.match(r"([^#/\s][^:=]*):([A-Z]+)=(.*)", line)
        if match and match[2] not in ("INTERNAL", "STATIC"): # CMake's own
            found[match[1]] = match[3]
    return found


before, after = settings(sys.argv[1]), settings(sys.argv[2])
for name, value in sorted(after.items()):
    if name in before and before[name] != value:
        print(f"changed {name}: '{before[name]}' became '{value}'")
    elif name not in before and FOREIGN.match(name):
        print(f"added {name}: '{value}'")
print("nothing else")
