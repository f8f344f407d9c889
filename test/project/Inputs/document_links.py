# SPDX-License-Identifier: Apache-2.0
# document_links.py SHARED SOURCES: what the documents of an installed tree link to and what the
# sources name as a document must be in that tree.
import pathlib
import re
import sys

shared, sources = map(pathlib.Path, sys.argv[1:])
for page in sorted(shared.rglob("*.md")):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in link and not (page.parent / link).exists():
            print(f"{page.relative_to(shared)} links to {link}")
for file in sorted(sources.rglob("*")):
    if file.suffix in (".cpp", ".h", ".def"):
        for name in re.findall(r"\b((?:docs|chips)/[\w./-]*\.(?:md|json))", file.read_text(encoding="utf-8")):
            if not (shared / name).is_file():
                print(f"{file.name} names {name}")
print("nothing is missing")
