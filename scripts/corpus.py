#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel of a checkout with nereid and says what share compiles and why the others do
not. Signatures are guessed from the source (scripts/corpus/). Where a Python with upstream's package is
at hand (--upstream), its front end judges the guesses: a kernel counts when upstream accepts one of its
signatures, and has to compile for that one. Without it, the first signature that compiles counts.
Only upstream imports the checkout's files; nothing is changed.

  scripts/corpus.py CHECKOUT [--folder src/package] [--upstream PYTHON] [--only TEXT] [--out result.json]
  scripts/corpus.py CHECKOUT --tests tests/test_softmax.py [--every 10]
                                          run tests of the checkout on CPU tensors
  scripts/corpus.py CHECKOUT --execute    run the cases of scripts/corpus/cases.json (FlagGems), compare
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "corpus"))

import execute  # noqa: E402
import infer  # noqa: E402
import judge  # noqa: E402
import own_tests  # noqa: E402
import pointwise  # noqa: E402
import source  # noqa: E402

TABLES = ["flag_gems/runtime/backend/_nvidia/tune_configs.yaml"]  # of configurations, below an import root
TIERS = ["T0", "T1", "T2", "T3", "T4", "T5", "other"]
PHASES = ["source", "tile", "tile-opt", "tile-cpu", "loops", "loops-opt", "llvm", "object"]
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


def run_timed(command, timeout):
    """(finished process or None, processor seconds)"""
    with tempfile.TemporaryFile("w+", errors="replace") as out, \
            tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        is_late = not timer.is_alive()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        done = subprocess.CompletedProcess(command, process.returncode, out.read(), err.read())
    return None if is_late else done, usage.ru_utime + usage.ru_stime


class Compiler:
    def __init__(self, options, roots):
        self.options = options
        self.base = [options.nereid, "--json", "compile"]
        self.end = ["--to", options.to, "--no-cache", "-o", "/dev/null", "--target", options.target]
        for root in roots:
            self.end += ["--import-path", str(root)]

    def compile(self, kernel, signature):
        process, seconds = run_timed(
            self.base + [f"{kernel.path}:{kernel.function_name}", "-s", signature] + self.end,
            self.options.timeout)
        result = classify_result(process) if process else {
            "class": "timeout", "code": "timeout", "message": f"over {self.options.timeout} s"}
        result.update(signature=signature, seconds=round(seconds, 3))
        return result

    def kernel(self, kernel, texts, verdicts):
        """Compiles for the signature that upstream accepts; where it accepts none, for the candidates in
        turn until one compiles. A crash of any candidate counts as one."""
        accepted = [s for s, a in verdicts if a["class"] == "ok"]
        first = None
        for signature in accepted or texts:
            result = self.compile(kernel, signature)
            if result["class"] == "ok" or result["class"] in WORST:
                first = result
                break
            first = first or result
        first["upstream"] = verdict_of(verdicts)
        first["upstream_message"] = "" if accepted or not verdicts else verdicts[0][1]["message"]
        return first


def verdict_of(verdicts):
    """"ok", "refused" (every signature) or "unknown"."""
    found = {answer["class"] for _, answer in verdicts}
    return "ok" if "ok" in found else "refused" if found == {"refused"} else "unknown"


def recall(file, texts):
    """What upstream said in an earlier run about the same signatures."""
    if not file or not pathlib.Path(file).is_file():
        return {}
    kept = json.loads(pathlib.Path(file).read_text())
    return {label: kept[label][1] for label, signatures in texts.items()
            if label in kept and kept[label][0] == signatures}


def judged(kernels, texts, options, roots):
    """{label: [(signature, what upstream says)]}"""
    files = collections.defaultdict(list)
    for kernel in kernels:
        files[kernel.path].append(kernel)
    questions = [{"file": str(path), "module": members[0].file.module,
                  "alone": members[0].pointwise or not importable(members[0].file.module),
                  "kernels": [{"function": k.function_name, "signatures": texts[k.label]} for k in members]}
                 for path, members in files.items()]
    found = judge.ask(options.upstream, roots, questions, options.jobs)
    return {k.label: answers[k.function_name]
            for members, answers in zip(files.values(), found) for k in members}


def importable(module):
    return all(part.isidentifier() for part in module.split("."))


def is_foreign(result):
    """Assembly of a chip: upstream's front end accepts it, and no back end for CPUs can."""
    return result["class"] == "diagnostic" and result["code"] == "E0304" and "assembly" in result["message"]


def summary(kernels, results):
    """Counts of the whole checkout; a share of those that upstream accepts, where it could be asked."""
    rows = [results[k.label] for k in kernels]
    foreign = [r for r in rows if is_foreign(r)]
    asked = [r for r in rows if r["upstream"] == "ok" and not is_foreign(r)]
    counted = asked or [r for r in rows if r["upstream"] != "refused" and not is_foreign(r)]
    slowest = max(kernels, key=lambda k: results[k.label]["seconds"], default=None)
    return {"kernels": len(rows), "askable": len(counted),
            "compiled": sum(r["class"] == "ok" for r in counted),
            "assembly_of_a_gpu": len(foreign),
            "refused_by_upstream": sum(r["upstream"] == "refused" for r in rows),
            "not_told": sum(r["upstream"] == "unknown" for r in rows),
            "compiled_of_not_told": sum(r["upstream"] == "unknown" and r["class"] == "ok" for r in rows),
            "worst": sum(r["class"] in WORST for r in rows),
            "slowest_seconds": results[slowest.label]["seconds"] if slowest else 0,
            "slowest": slowest.label if slowest else ""}


def report(kernels, results, options):
    counts = summary(kernels, results)
    for name, value in counts.items():
        print(f"{name.replace('_', ' '):<22}{value}")
    if counts["askable"]:
        print(f"{'share':<22}{100 * counts['compiled'] / counts['askable']:.2f} %")
    print()
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
            if (result["upstream"] == "refused" or is_foreign(result)) and result["class"] not in WORST:
                continue
            told = "" if result["upstream"] == "ok" else " (upstream not told)"
            causes[(result["class"] not in WORST, result["code"] + told,
                    normalized(result["message"]))].append(kernel.label)
    if causes:
        print("\nfailures by cause:")
    for (is_clean, code, message), labels in sorted(
            causes.items(), key=lambda item: (item[0][0], -len(item[1]))):
        mark = "" if is_clean else " (no clean diagnostic)"
        print(f"{len(labels):>5}  {code}{mark}  {message[:150]}")
        for label in labels[: options.examples]:
            print(f"           {label}  {results[label].get('place', '').rsplit('/', 1)[-1]}"
                  f"  {results[label].get('source', '')[:90]}")
    return dict(counts, tiers=shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", help="a folder with Python files")
    parser.add_argument("--folder", action="append", help="only kernels below it; may be repeated")
    parser.add_argument("--upstream", default=sys.executable, metavar="PYTHON",
                        help="a Python with the packages triton and torch, or 'none'")
    parser.add_argument("--judged", metavar="FILE", help="JSON file that keeps what upstream said, for the "
                        "next run over the same checkout")
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
    parser.add_argument("--tests", nargs="+", metavar="FILE", help="run these tests of the checkout")
    parser.add_argument("--every", type=int, default=1, help="with --tests: one of so many cases of a test")
    parser.add_argument("--execute", action="store_true", help="run the cases, compare the results")
    options = parser.parse_args()

    top = pathlib.Path(options.checkout).resolve()
    if not top.is_dir():
        print(f"'{top}' is no folder: expects a checkout", file=sys.stderr)
        return 2
    if options.execute:
        return execute.run(top, options)

    if options.tests:
        return own_tests.run([top / name for name in source.SOURCE_FOLDERS] + [top], options)

    corpus = source.Corpus(top, options.folder or ["."])
    roots = corpus.import_roots()
    tables = [str(r / t) for r in roots for t in TABLES if (r / t).is_file()]
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
        can_ask = judge.can_ask(options.upstream)
        verdicts = recall(options.judged, texts)
        left = [k for k in kernels if k.label not in verdicts]
        verdicts.update(judged(left, texts, options, roots + [scratch]) if can_ask and left else {})
        if options.judged:
            kept = {label: [texts[label], found] for label, found in verdicts.items()}
            pathlib.Path(options.judged).write_text(json.dumps(kept) + "\n")
        compiler = Compiler(options, roots[:3])
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(lambda k: compiler.kernel(k, texts[k.label], verdicts.get(k.label, [])), kernels)
            results = {k.label: r for k, r in zip(kernels, found)}
    commit = options.commit or source.commit_of(top)
    print(f"{len(kernels)} kernels of {len(corpus.files)} files"
          f"{', commit ' + commit if commit else ''}; up to phase '{options.to}'\n")
    if not can_ask and not verdicts:
        print("upstream's front end could not be asked: which guesses it refuses is not told\n")
    counts = report(kernels, results, options)
    for path, why in corpus.unreadable:
        print(f"not Python: {path}: {why}")
    if options.out:
        rows = [{"kernel": k.label, "tier": k.tier, "features": sorted(k.features),
                 "pointwise": k.pointwise, **results[k.label]} for k in kernels]
        document = {"schema": 2, "commit": commit, "to": options.to, "target": options.target,
                    "counts": counts, "kernels": rows}
        pathlib.Path(options.out).write_text(json.dumps(document, indent=1) + "\n")
    return 1 if any(r["class"] in WORST for r in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
