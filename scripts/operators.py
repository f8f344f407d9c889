#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies every definition of operators/ and prints a table. Exit status 1 when one fails.

  scripts/operators.py --nereid FILE [--only TEXT]… [--target TEXT] [--jobs N] [--timeout SECONDS]
                       [--seed N] [--document FILE]

--document rewrites the table of shipped definitions in docs/operators.md, between its two marks; of
definitions that --only leaves out the rows stay as they are. Columns: the definition's name, its folder,
its types, what `nereid verify` said, and on the terminal how long that took. With it go the numbers of
definitions in README.md and docs/requirements.md, and in docs/definitions.md the row of functions that
no other row of its table names.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- shipped definitions -->", "<!-- end -->"
OTHERS = "| others and second names | "


def verify(nereid, path, options):
    """What came out, and how long it took."""
    seconds, chosen = options.timeout, ["--target", options.target] if options.target else []
    chosen += ["--seed", str(options.seed)] if options.seed is not None else []
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([nereid, "verify", str(path), "--fresh", "--out", f"{folder}/out",
                                   *chosen],
                                  capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"not done after {seconds} s", time.monotonic() - start
    taken = time.monotonic() - start
    if done.returncode == 0:
        return "verified", taken
    lines = (done.stdout + done.stderr).splitlines()
    why = [line.strip() for line in lines if re.search(r"FAILED|\berror: ", line)]
    return why[0] if why else f"exit status {done.returncode}", taken


def row(path, result):
    definition = tomllib.loads(path.read_text())["operator"]
    folder = path.parent.relative_to(ROOT).as_posix()
    return (f"| `{definition['name']}` | [{folder}](../{path.relative_to(ROOT).as_posix()}) "
            f"| {' '.join(definition['dtypes'])} | {result} |")


def document(file, results):
    """Rewrites the rows of the table between the two marks; `results` by path."""
    text = file.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    known = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", text[begin:end], re.MULTILINE))
    rows = ["| definition | folder | types | state |", "|---|---|---|---|"]
    for path in definitions():
        result = results.get(path, known.get(path.stem, "not verified yet"))
        rows.append(row(path, result.replace("|", "/")))
    file.write_text(text[:begin] + "\n\n" + "\n".join(rows) + "\n\n" + text[end:])


def count():
    """Writes how many definitions there are where the pages say it."""
    shipped = [tomllib.loads(path.read_text()) for path in definitions()]
    required = sum("requirement" in each["operator"] for each in shipped)
    shown = sum("scene" in each for each in shipped)
    for name, pattern, text in [
            ("README.md", r"\d+ ship, of the operators", f"{len(shipped)} ship, of the operators"),
            ("docs/requirements.md", r"\d+ of the \d+ shipped definitions have one",
             f"{required} of the {len(shipped)} shipped definitions have one"),
            ("docs/requirements.md", r"\d+ of the \d+ shipped definitions have some",
             f"{shown} of the {len(shipped)} shipped definitions have some")]:
        file = ROOT / name
        written, found = re.subn(pattern, text, file.read_text())
        if found != 1:
            sys.exit(f"operators expects '{pattern}' once in {name}, but found it {found} times")
        file.write_text(written)


def name_functions(nereid):
    """Writes into the table of functions what bodies may call and no row of it names."""
    listed = subprocess.run([nereid, "ops"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.split("\n\n")[0].splitlines()[3:]]
    file = ROOT / "docs/definitions.md"
    lines = file.read_text().split("\n")
    begin = lines.index("| kind | names |", lines.index("Functions:"))
    end = lines.index("", begin)
    rows = [line for line in lines[begin:end] if not line.startswith(OTHERS)]
    words = set(re.findall(r"\w+", "\n".join(rows)))

    def is_named(name):
        """Also as one of "max_pool1d/2d/3d", or by "and their `_backward`"."""
        stem = re.sub(r"\dd.*", "", name.strip("_").removesuffix("_backward"))
        return name in words or (stem != name and any(word.startswith(stem) for word in words))

    others = [name for name in names if not is_named(name)]
    rows += [OTHERS + " ".join(others) + " |"] if others else []
    file.write_text("\n".join(lines[:begin] + rows + lines[end:]))


def definitions():
    return sorted((ROOT / "operators").rglob("*.toml"), key=lambda path: path.stem)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nereid", required=True)
    parser.add_argument("--only", action="append")
    parser.add_argument("--target", help="by default this machine's processor")
    parser.add_argument("--seed", type=int, help="of cases and data; drawn for each without it")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--document", type=pathlib.Path)
    options = parser.parse_args()
    paths = [path for path in definitions()
             if any(part in path.relative_to(ROOT).as_posix() for part in options.only or [""])]
    if not paths:
        print(f"operators expects a part of a path below operators/, but got {options.only}",
              file=sys.stderr)
        return 2
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = [pool.submit(verify, options.nereid, path, options) for path in paths]
        for path, one in zip(paths, started):
            result, seconds = one.result()
            results[path] = result
            types = " ".join(tomllib.loads(path.read_text())["operator"]["dtypes"])
            print(f"{path.stem:36} {result:10} {seconds:7.1f} s  {types}", flush=True)
    failed = [path.stem for path in paths if results[path] != "verified"]
    print(f"{len(paths) - len(failed)} of {len(paths)} definitions verified"
          + (f"; not: {' '.join(failed)}" if failed else ""))
    if options.document:
        document(options.document, results)
        count()
        name_functions(options.nereid)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
