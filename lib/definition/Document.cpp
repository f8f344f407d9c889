// SPDX-License-Identifier: Apache-2.0
// Everything the document says is counted on the graph; nothing is written per operator.
#include "lib/definition/Document.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

std::string bytesText(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string countText(double count) {
  const char *units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  while (count >= 1000 && unit < 4) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g}{}", count, units[unit]);
}

std::string dtypeList(const Operator &op) {
  std::string list;
  for (DType dtype : op.dtypes) {
    list += (list.empty() ? "" : ", ") + std::string(torchName(dtype));
  }
  return list;
}

bool reduces(const Operator &op) {
  return std::any_of(op.nodes.begin(), op.nodes.end(), [](const Node &node) {
    const Operation *operation = findOperation(node.op);
    return operation && operation->kind == OperationKind::Reduction;
  });
}

void writeInterface(const Operator &op, std::string &out) {
  out += "## Interface\n\n```python\n" + op.name + "(";
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    out += (i ? ", " : "") + parameter.name;
    if (parameter.isScalar) {
      out += fmt::format("={}", parameter.value);
    }
  }
  out += ")\n```\n\n| argument | shape | type | meaning |\n|---|---|---|---|\n";
  for (const Parameter &parameter : op.parameters) {
    std::string type =
        parameter.fixedDtype ? std::string(torchName(*parameter.fixedDtype)) : "the operator's";
    out +=
        fmt::format("| `{}` | {} | {} | {} |\n", parameter.name,
                    parameter.isScalar ? "number" : "`" + text(parameter.shape) + "`",
                    parameter.isScalar ? fmt::format("number, default {}", parameter.value) : type,
                    parameter.description);
  }
  out += "\n| result | shape | type |\n|---|---|---|\n";
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const Node &node = op.nodes[static_cast<size_t>(op.outputs[i])];
    std::optional<DType> dtype = op.outputDtypes[i];
    out += fmt::format("| `{}` | `{}` | {} |\n", op.outputNames[i], text(node.shape),
                       dtype ? torchName(*dtype) : "the operator's");
  }
  out += "\nDefined for: " + dtypeList(op) +
         ". `...` stands for any number of dimensions, none "
         "included.\n\n## Constraints\n\n";
  for (const Constraint &constraint : op.constraints) {
    out += "- `" + constraint.text + "`\n";
  }
  out += "- operands broadcast as in PyTorch; sizes are checked at every call\n"
         "- inputs may have any strides; results are contiguous\n\n";
}

void writeComputation(const Operator &op, std::string &out) {
  out += "## Computation\n\n```python" + std::string(op.body.rfind('\n', 0) == 0 ? "" : "\n") +
         op.body + (op.body.empty() || op.body.back() != '\n' ? "\n" : "") + "```\n\n";
  out += "| step | operation | shape | FLOP per element |\n|---|---|---|---|\n";
  for (const Node &node : op.nodes) {
    if (const Operation *operation = findOperation(node.op)) {
      std::string what = node.name.empty() ? node.source : node.name;
      std::replace(what.begin(), what.end(), '|', '/');
      out += fmt::format("| `{}` | {} | `{}` | {} |\n", what, describe(node), text(node.shape),
                         operation->flops);
    }
  }
  out += "\n";
}

void writeComplexity(const Operator &op, std::string &out) {
  const Node &result = op.nodes[static_cast<size_t>(op.outputs[0])];
  std::string size;
  for (const Dim &dim : result.shape) {
    std::string factor = dim.isRest()         ? "P"
                         : dim.symbol.empty() ? std::to_string(dim.constant)
                                              : dim.symbol;
    size += (size.empty() ? "" : " · ") + factor;
  }
  bool hasRest = !result.shape.empty() && result.shape[0].isRest();
  out +=
      fmt::format("## Complexity\n\nTime O({0}), memory O({0}) for inputs and results{1}; a fused "
                  "kernel needs no intermediate tensor.\n\n",
                  size.empty() ? "1" : size,
                  hasRest ? ", P being the product of the leading dimensions `...`" : "");
}

void writeWork(const Operator &op, DType dtype, const Machine &chip, std::string &out) {
  out +=
      fmt::format("## Work per case ({})\n\n| case | must move | FLOP | FLOP/B | unfused moves |",
                  torchName(dtype));
  const double peakFlops = chip.peakFor(DType::F32);
  bool hasRoofline = peakFlops > 0 && chip.copyBandwidth > 0;
  out += hasRoofline ? " bound by | least time |\n|---|---|---|---|---|---|---|\n"
                     : "\n|---|---|---|---|---|\n";
  for (const Case &one : op.performanceCases) {
    Work work = countWork(op, one.binding, dtype);
    Work unfused = countUnfusedWork(op, one.binding, dtype);
    out += fmt::format("| {} | {} | {} | {:.3g} | {} |", one.name, bytesText(work.bytes()),
                       countText(work.flops), work.intensity(), bytesText(unfused.bytes()));
    if (hasRoofline) {
      double memory = work.bytes() / chip.copyBandwidth, compute = work.flops / peakFlops;
      out += fmt::format(" {} | {:.4g} ms |", memory >= compute ? "memory" : "arithmetic",
                         1e3 * std::max(memory, compute));
    }
    out += "\n";
  }
  out += "\nBytes count every input and result once; a broadcast operand counts at its own size. "
         "FLOP counts are those of the operations table, a function at what its vector "
         "implementation executes.\n\n";
  if (hasRoofline) {
    double ridge = peakFlops / chip.copyBandwidth;
    out += fmt::format("## Roofline\n\nOn {}: {}FLOP/s and {}B/s, so the ridge lies at {:.3g} "
                       "FLOP/B. Cases below it are bound by memory.\n\n",
                       chip.name, countText(peakFlops), countText(chip.copyBandwidth), ridge);
  }
}

void writeAccuracy(const Operator &op, DType dtype, std::string &out) {
  out += "## Accuracy\n\nReference: the same graph in float64, with a bound on rounding carried "
         "along for every element.";
  if (!op.performanceCases.empty()) {
    Tolerance tolerance = toleranceFor(op, op.performanceCases[0].binding, dtype);
    out += fmt::format(" For ordinary values of case '{}' in {} that is within {:.3g} relative and "
                       "{:.3g} absolute: {}.",
                       op.performanceCases[0].name, torchName(dtype), tolerance.relative,
                       tolerance.absolute, tolerance.derivation);
  }
  out += "\n\n";
}

void writeStrategy(const Operator &op, DType dtype, const Machine &chip, std::string &out) {
  double fused = 0, unfused = 0, largestResult = 0, intensity = 0;
  for (const Case &one : op.performanceCases) {
    Work work = countWork(op, one.binding, dtype);
    fused += work.bytes();
    unfused += countUnfusedWork(op, one.binding, dtype).bytes();
    largestResult = std::max(largestResult, work.bytesWritten);
    intensity = std::max(intensity, work.intensity());
  }
  out += "## Strategy\n\n";
  if (unfused > fused) {
    out += fmt::format("- Fuse everything into one kernel: over all cases {:.2f} times fewer bytes "
                       "than operation by operation.\n",
                       unfused / fused);
  } else {
    out += "- One operation: there is nothing to fuse, so the gain must come from blocks, "
           "parallelism and how memory is accessed.\n";
  }
  if (reduces(op)) {
    out += "- Keep a row, or a block of it, on chip between its reductions; rows are independent "
           "and run in parallel.\n";
  } else {
    out += "- Flatten the leading dimensions; a low-rank operand is read once per block and reused "
           "over the block's rows.\n";
  }
  const double peakFlops = chip.peakFor(DType::F32);
  bool isMemoryBound =
      peakFlops <= 0 || chip.copyBandwidth <= 0 || intensity < peakFlops / chip.copyBandwidth;
  out += isMemoryBound ? "- Bound by memory: whole cache lines, contiguous inner loops, no "
                         "intermediate written.\n"
                       : "- Bound by arithmetic in some cases: vector functions with short "
                         "polynomials, enough independent work per core.\n";
  if (!chip.caches.empty() && largestResult > static_cast<double>(chip.lastCacheBytes())) {
    out += "- Results larger than the last-level cache: write them past the caches (streaming "
           "stores).\n";
  }
  if (chip.cores > 1) {
    out +=
        fmt::format("- At least a few program instances for each of the {} cores.\n", chip.cores);
  }
  out += fmt::format("- Target: {:.2f} times the unfused baseline, in at most {} rounds.\n",
                     op.targetSpeedup, op.maxRounds);
}

} // namespace

std::string definitionDocument(const Operator &op, DType dtype, const Machine &chip) {
  std::string out = "# " + op.name + "\n\n" + op.summary + "\n\n";
  writeInterface(op, out);
  writeComputation(op, out);
  writeComplexity(op, out);
  writeWork(op, dtype, chip, out);
  writeAccuracy(op, dtype, out);
  writeStrategy(op, dtype, chip, out);
  return out;
}

} // namespace nereid::definition
