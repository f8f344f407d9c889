#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel of a FlagGems checkout with nereid and says what share compiles, by tier of the
language, and why the others do not. Signatures are inferred (scripts/corpus/); the checkout is read,
never executed and never changed.

  scripts/corpus.py FOLDER [--to tile] [--only TEXT] [--out result.json]
  scripts/corpus.py FOLDER --execute      run the cases of scripts/corpus/cases.json and compare
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "corpus"))

import execute  # noqa: E402
import infer  # noqa: E402
import pointwise  # noqa: E402
import source  # noqa: E402

FOLDERS = ["flag_gems/ops", "flag_gems/fused"]
TABLE = "flag_gems/runtime/backend/_nvidia/tune_configs.yaml"
TIERS = ["T0", "T1", "T2", "T3", "T4", "T5", "other"]
PHASES = ["source", "tile", "tile-opt", "loops", "llvm", "object"]
WORST = ["crash", "timeout", "internal", "silent"]  # anything but a clean diagnostic


def normalized(message):
    """A message without the names and numbers of one kernel, so that equal causes fall together."""
    text = re.sub(r"'(tl\.|triton\.)?[^']*'", lambda m: m[0] if m[1] else "'…'", message)
    text = re.sub(r"\b\d+x[\dx]*[a-z]\w*|\*?\b(fp?|bf|i|u)\d+\b", "TYPE", text)
    return re.sub(r"-?\b\d[\d.e+]*\b", "N", text)


def classify_result(process):
    """("ok" | "diagnostic" | worst class, code, message, place) of a finished process."""
    if process.returncode == 0:
        return {"class": "ok"}
    try:
        errors = [d for d in json.loads(process.stdout or process.stderr) if d["severity"] == "error"]
    except (ValueError, TypeError, KeyError):
        errors = []
    if process.returncode < 0 or process.returncode not in (1, 2, 70):
        return {"class": "crash", "code": f"exit {process.returncode}",
                "message": process.stderr[-300:].strip()}
    if not errors:
        return {"class": "silent", "code": f"exit {process.returncode}",
                "message": (process.stdout + process.stderr)[-300:].strip()}
    first = errors[0]
    kind = "internal" if any(e["code"] == "E0390" for e in errors) else "diagnostic"
    place = f"{first.get('file', '')}:{first.get('line', 0)}"
    return {"class": kind, "code": first["code"], "message": first["message"], "place": place,
            "source": first.get("source", "").strip()}


class Compiler:
    def __init__(self, options, root):
        self.options, self.root = options, root
        self.base = [options.nereid, "--json", "compile"]

    def compile(self, file, function, signature):
        command = self.base + [f"{file}:{function}", "-s", signature, "--to", self.options.to,
                               "--no-cache", "-o", "/dev/null", "--target", self.options.target]
        command += ["--import-path", str(self.root)] if self.options.has_import_path else []
        try:
            process = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                     timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            return {"class": "timeout", "code": "timeout", "message": f"over {self.options.timeout} s"}
        return classify_result(process)

    def kernel(self, kernel, texts):
        """Tries the candidates in turn; the first that compiles counts, otherwise the first error.
        A crash of any candidate counts as one."""
        first = None
        for signature in texts:
            result = self.compile(kernel.path, kernel.function_name, signature)
            result["signature"] = signature
            if result["class"] == "ok" or result["class"] in WORST:
                return result
            first = first or result
        return first


def report(kernels, results, options):
    print(f"{'tier':<6}{'kernels':>9}{'compiled':>10}{'share':>9}")
    rows = [(tier, [k for k in kernels if k.tier == tier]) for tier in TIERS]
    rows.append(("T0-T4", [k for k in kernels if k.tier not in ("T5", "other")]))
    rows.append(("all", kernels))
    shares = {}
    for name, members in rows:
        done = sum(results[k.label]["class"] == "ok" for k in members)
        shares[name] = {"kernels": len(members), "compiled": done}
        share = f"{100 * done / len(members):.1f} %" if members else "-"
        print(f"{name:<6}{len(members):>9}{done:>10}{share:>9}")
    causes = collections.defaultdict(list)
    for kernel in kernels:
        result = results[kernel.label]
        if result["class"] != "ok":
            causes[(result["class"] not in WORST, result["code"], normalized(result["message"]))].append(
                kernel.label)
    if causes:
        print("\nfailures by cause:")
    for (is_clean, code, message), labels in sorted(
            causes.items(), key=lambda item: (item[0][0], -len(item[1]))):
        mark = "" if is_clean else " (no clean diagnostic)"
        print(f"{len(labels):>5}  {code}{mark}  {message[:150]}")
        for label in labels[: options.examples]:
            print(f"           {label}  {results[label].get('place', '').rsplit('/', 1)[-1]}"
                  f"  {results[label].get('source', '')[:90]}")
    return shares


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="a FlagGems checkout")
    parser.add_argument("--nereid", default=str(HERE.parent / "build" / "bin" / "nereid"))
    parser.add_argument("--to", default="object", choices=PHASES, help="last phase")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--only", default="", help="kernels whose label has this text")
    parser.add_argument("--tier", default="", help="kernels of this tier")
    parser.add_argument("--examples", type=int, default=2, help="kernels named per cause")
    parser.add_argument("--commit", default="", help="of a checkout without its git folder")
    parser.add_argument("--out", help="JSON file for everything found")
    parser.add_argument("--execute", action="store_true", help="run the cases, compare the results")
    options = parser.parse_args()

    folder = pathlib.Path(options.folder)
    root = folder / "src" if (folder / "src").is_dir() else folder
    if not (root / FOLDERS[0]).is_dir():
        print(f"'{folder}' is no FlagGems checkout: expects a folder src/{FOLDERS[0]}", file=sys.stderr)
        return 2
    help_text = subprocess.run([options.nereid, "compile", "--help"], capture_output=True, text=True).stdout
    options.has_import_path = "--import-path" in help_text
    if options.execute:
        return execute.run(root, options)

    corpus = source.Corpus(root, FOLDERS)
    tables = [str(root / TABLE)] if (root / TABLE).is_file() else []
    kernels, texts = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for kernel in corpus.kernels:
            source.classify(corpus, kernel)
            if options.only not in kernel.label or options.tier not in ("", kernel.tier):
                continue
            kernel.path, kernel.function_name = kernel.file.path, kernel.name
            if kernel.pointwise:
                texts[kernel.label] = pointwise.wrap(kernel, pathlib.Path(scratch))
            else:
                texts[kernel.label] = infer.candidates(corpus, kernel, tables)
            kernels.append(kernel)
        compiler = Compiler(options, root)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(lambda k: compiler.kernel(k, texts[k.label]), kernels)
            results = {k.label: r for k, r in zip(kernels, found)}
    commit = options.commit or source.commit_of(folder)
    print(f"{len(kernels)} kernels of {len(corpus.files)} files"
          f"{', commit ' + commit if commit else ''}; up to phase '{options.to}'\n")
    shares = report(kernels, results, options)
    for path, why in corpus.unreadable:
        print(f"not Python: {path}: {why}")
    if options.out:
        rows = [{"kernel": k.label, "tier": k.tier, "features": sorted(k.features),
                 "pointwise": k.pointwise, **results[k.label]} for k in kernels]
        document = {"schema": 1, "commit": commit, "to": options.to, "target": options.target,
                    "shares": shares, "kernels": rows}
        pathlib.Path(options.out).write_text(json.dumps(document, indent=1) + "\n")
    return 1 if any(r["class"] in WORST for r in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
