# SPDX-License-Identifier: Apache-2.0
"""The part of docs/performance.md that is about GPUs, from bench/results/*-gpu-*.json: of each case the newest row,
and beside a peer that did not run then the newest row with it.

scripts/performance_table.py takes it; it runs nothing.
"""
import json
import pathlib
import statistics

PEERS = {"upstream": "upstream", "eager": "eager", "compile": "torch.compile", "copy": "of a copy"}


def results_of(folder, subject):
    """(environment, content) of each file with the subject, the oldest first."""
    contents = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*-gpu-*.json")]
    found = [one for one in contents if one.get("subject") == subject]
    return sorted(found, key=lambda one: one["environment"]["date"])


def newest_rows(folder):
    """Of each case on the chip that was measured last the newest row that was verified and timed, with its
    file's environment; peers that did not run beside it come from older rows."""
    rows = {}
    results = results_of(folder, "gpu")
    chip = results[-1]["environment"]["chip"] if results else None
    for content in results:
        if content["environment"]["chip"] != chip:
            continue
        for row in content["rows"]:
            if row.get("state") == "verified" and "peers" in row:
                older, _ = rows.get((row["case"], row["kernel"]), ({"peers": {}}, None))
                row["peers"] = {**older["peers"], **row["peers"]}
                rows[row["case"], row["kernel"]] = (row, content["environment"])
    return list(rows.values())


def extent(values):
    """"1.02 (0.94 to 1.10)"; "-" of none."""
    if not values:
        return "-"
    middle = f"{statistics.median(values):.2f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.2f} to {max(values):.2f})"


def kernel_table(rows):
    kernels = {}
    for row, _ in rows:
        name = row["kernel"].rsplit(":", 1)[-1]
        kernels.setdefault(name, []).append(row["peers"])
    peers = [peer for peer in PEERS if any(peer in one for all_ in kernels.values() for one in all_)]
    text = "| kernel | cases | " + " | ".join(PEERS[peer] for peer in peers) + " |\n"
    text += "|---|---:|" + "---|" * len(peers) + "\n"
    for name in sorted(kernels):
        cells = [extent([one[peer]["ratio"] for one in kernels[name] if peer in one]) for peer in peers]
        text += f"| `{name}` | {len(kernels[name])} | " + " | ".join(cells) + " |\n"
    return text


def corpus_line(folder):
    """The newest sweep over another repository's own launches; "" where there is none."""
    sweeps = results_of(folder, "FlagGems on the GPU")
    best = max(sweeps, key=lambda one: len(one["rows"]), default=None)
    if best is None:
        return ""
    best = [one for one in sweeps if len(one["rows"]) == len(best["rows"])][-1]
    ratios = [launch["ratio"] for row in best["rows"] for launch in row.get("launches", [])
              if launch.get("ratio") and not launch.get("product")]
    low = sum(ratio < 0.8 for ratio in ratios)
    return (f"{len(ratios)} launches of FlagGems' kernels that are no products, with its own grids and options, beside\n"
            f"upstream's compiler: {statistics.geometric_mean(ratios):.2f} times as fast in the geometric mean, {low} below 0.8\n"
            f"({best['environment']['date'][:10]}).\n")


def products_line(folder):
    """What kernels/ multiplies beside the rows above: convolutions, attention and its gradients."""
    record = (results_of(folder, "products of kernels/ beside upstream's compiler") or [{}])[-1]
    ratios = [launch["ratio"] for row in record.get("rows", []) for launch in row["launches"]
              if launch.get("ratio") and launch["product"]]
    if not ratios:
        return ""
    return (f"Convolutions, attention and its gradients as the functions `launch` of `kernels/` call them, beside upstream's\n"
            f"compiler: {len(ratios)} launches, {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) "
            f"({record['environment']['date'][:10]}).\n")


def definitions_line(folder):
    record = (results_of(folder, "definitions beside eager operations") or [{}])[-1]
    ratios = [row["ratio"] for one in record.get("rows", []) for row in one.get("rows", []) if "ratio" in row]
    if not ratios:
        return ""
    low = sum(ratio < 0.8 for ratio in ratios)
    return (f"Shipped definitions, each at its largest size beside PyTorch's own operations: {len(ratios)} of "
            f"{len(record['rows'])} timed,\n{statistics.geometric_mean(ratios):.2f} times as fast in the geometric mean, "
            f"{low} below 0.8 ({record['environment']['date'][:10]}).\n")


def halves_line(folder):
    """The same in 16 bits, and the fused ones beside torch.compile."""
    record = (results_of(folder, "definitions of 16 bits beside eager operations and torch.compile") or [{}])[-1]
    parts = []
    for dtype in ("float16", "bfloat16"):
        ratios, compiled = ([row[key] for one in record.get(rows, []) if one.get("dtype") == dtype
                             for row in one.get("rows", []) if key in row]
                            for rows, key in (("rows", "ratio"), ("compiled", "ratio_compiled")))
        if ratios and compiled:
            parts.append(f"{statistics.geometric_mean(ratios):.2f} in {dtype} ({len(ratios)} cases, {sum(r < 0.8 for r in ratios)} below 0.8; "
                         f"{len(compiled)} fused ones beside `torch.compile`: {statistics.geometric_mean(compiled):.2f})")
    told = ",\n".join(parts)
    return f"The same of 16 bits: {told} ({record['environment']['date'][:10]}).\n" if parts else ""


def compile_table(rows):
    """Seconds from a kernel's source until it is loaded, in a worker that has no cache."""
    ours = [row["compile_seconds"]["ours"] for row, _ in rows if "ours" in row.get("compile_seconds", {})]
    theirs = [row["compile_seconds"]["upstream"] for row, _ in rows if "upstream" in row.get("compile_seconds", {})]
    if not ours or not theirs:
        return ""
    return (f"From the source to a kernel that is loaded, without a cache: {1000 * statistics.median(ours):.0f} ms in the "
            f"median of these cases, upstream's\ncompiler {1000 * statistics.median(theirs):.0f} ms.\n")


def section(folder):
    """Markdown with its heading; "" where nothing was measured on a GPU."""
    rows = newest_rows(folder)
    if not rows:
        return ""
    chips = sorted({environment["chip"] for _, environment in rows})
    dates = sorted(environment["date"][:10] for _, environment in rows)
    text = "\n## On a GPU\n\n"
    text += f"{', '.join(chips)}, {dates[0]} to {dates[-1]}; written from `bench/results/*-gpu-*.json`, of each case and peer the newest.\n"
    text += "How many times as fast the kernel is as upstream's compiler on the same source and as PyTorch's own operations,\n"
    text += "and its share of a copy's rate, each the median over the cases (the lowest to the highest); timed in turns in one\n"
    text += "run. Kernels called `_long` take long lines in pieces; those lines stand in the rows of the others, too.\n"
    text += "Which tries brought what: [notes](notes/2026-11-gpu.md).\n\n"
    text += kernel_table(rows)
    for line in [products_line(folder), corpus_line(folder), definitions_line(folder), halves_line(folder),
                 compile_table(rows)]:
        text += f"\n{line}" if line else ""
    return text
