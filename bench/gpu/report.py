# SPDX-License-Identifier: Apache-2.0
"""Short texts of records: a line for each row, and what all of one kind come to."""

import math

PEERS = ("upstream", "eager", "compile", "copy")
# What is asked of a ratio, by kind of work: (first words, peer, at least).
_ASKED = [
    (("vector_add", "gelu", "bias_gelu", "dropout"), {"compile": 1.0, "upstream": 1.0}),
    (("softmax", "softmax_backward", "layer_norm", "layer_norm_backward", "rms_norm",
      "rms_norm_backward", "cross_entropy", "cross_entropy_backward"),
     {"compile": 1.0, "eager": 1.0, "copy": 0.98}),
    (("matmul_v0", "matmul_v1", "matmul_grouped", "matmul_batched", "matmul_int8", "attention"),
     {"upstream": 0.8}),
]


def kind_of(record):
    return record["case"].split()[0]


def asked_of(record):
    kind = kind_of(record)
    asked = dict(next((wanted for kinds, wanted in _ASKED if kind in kinds), {}))
    if record["case"].endswith(" large"):
        asked["copy"] = 0.97
    return asked


def ratio(record, peer):
    return record.get("peers", {}).get(peer, {}).get("ratio")


def rate(record):
    if "median" not in record:
        return "-"
    if kind_of(record).startswith(("matmul", "attention")):
        return f"{record['flops'] / record['median'] / 1e12:.1f} TF"
    return f"{record['bytes'] / record['median'] / 1e9:.0f} GB/s"


def sustained_ratio(record):
    both = record.get("sustained", {})
    return both["upstream"] / both["ours"] if {"upstream", "ours"} <= both.keys() else None


def number(value):
    return "-" if value is None else f"{value:.2f}"


def line(record):
    cells = [f"{record['case']:40}", f"{rate(record):>10}"]
    cells += [f"{number(ratio(record, peer)):>5}" for peer in PEERS]
    cells.append(f"{number(sustained_ratio(record)):>5}")
    if failures := record.get("failures"):
        cells.append("; ".join(f"{who}: {why[:90]}" for who, why in failures.items()))
    elif record.get("same_bits_as_upstream") is False:
        cells.append("~")
    return " ".join(cells)


HEAD = f"{'row':40} {'ours':>10} {'x up':>5} {'eager':>5} {'compl':>5} {'copy':>5} {'sust.':>5}"


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def summary(records):
    """For each kind and peer: the geometric mean and the worst row; then the rows that miss."""
    lines = [f"{'kind':24} rows wrong  " + "  ".join(f"{p:>14}" for p in PEERS)]
    kinds = dict.fromkeys(kind_of(r) for r in records)
    for kind in kinds:
        of_kind = [r for r in records if kind_of(r) == kind]
        failed = sum("median" not in r for r in of_kind)
        cells = []
        for peer in PEERS:
            found = [v for r in of_kind if (v := ratio(r, peer)) is not None]
            cells.append(f"{geometric(found):.2f} (min {min(found):.2f})" if found else "-")
        lines.append(f"{kind:24} {len(of_kind):4} {failed:5}  " +
                     "  ".join(f"{c:>14}" for c in cells))
    missed = [f"{r['case']}: {p} {v:.2f} < {least:g}" for r in records
              for p, least in asked_of(r).items() if (v := ratio(r, p)) is not None and v < least]
    lines.append(f"{len(missed)} ratios below what is asked; worst: "
                 if missed else "no ratio below what is asked")
    order = sorted(missed, key=lambda text: float(text.split(" < ")[0].rsplit(" ", 1)[1]))
    return lines + ["  " + text for text in order[:25]]
