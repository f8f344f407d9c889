// SPDX-License-Identifier: Apache-2.0
// 2.6 and 2.7: where every value comes from, who reads it and how often; how exact results are.
#include "lib/definition/Cost.h"
#include "lib/definition/operations/Operations.h"
#include "lib/document/Chapters.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::document {
namespace {

using definition::Node;
using definition::Operator;

std::string valueName(const Operator &op, size_t i) {
  const Node &node = op.nodes[i];
  for (size_t output = 0; output < op.outputs.size(); ++output) {
    if (op.outputs[output] == static_cast<int>(i)) {
      return op.outputNames[output];
    }
  }
  return node.name.empty() ? node.source : node.name;
}

/// The elements over which a reader goes: those of its sum.
definition::SymbolicShape spaceOf(const Operator &op, const Node &reader) {
  const auto terms = definition::flopTerms(op, reader);
  return terms.empty() ? reader.shape : terms[0].elements;
}

std::string flow(const DocumentInput &input) {
  const Operator &op = input.op;
  const SizeNames names(op);
  std::string out =
      "### 2.6 Data flow\n\nEach line is a tensor; \"times\" is how often the reader needs each of "
      "its elements. As one kernel, inputs come from memory once, results go there once, and "
      "everything else stays on chip.\n\n";
  report::Table table({"value", "made by", "elements", "read by", "times", "lives"});
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    const Node &node = op.nodes[i];
    if (definition::isNumber(node)) {
      continue;
    }
    std::string readers, times;
    for (const Node &reader : op.nodes) {
      const auto count =
          std::count(reader.inputs.begin(), reader.inputs.end(), static_cast<int>(i));
      if (count == 0) {
        continue;
      }
      readers +=
          (readers.empty() ? "" : ", ") + code(reader.name.empty() ? reader.op : reader.name);
      const std::string often = timesText(spaceOf(op, reader), node.shape, names);
      times += (times.empty() ? "" : ", ") + (count > 1 ? fmt::format("{}·", count) : "") + often;
    }
    const bool isInput = node.op == "input";
    const bool isOutput =
        std::find(op.outputs.begin(), op.outputs.end(), static_cast<int>(i)) != op.outputs.end();
    table.add({code(valueName(op, i)), isInput ? "caller" : cell(definition::describe(node)),
               SizeSum().add(1, node.shape).text(names), readers.empty() ? "caller" : readers,
               times.empty() ? "1" : times,
               isInput    ? "memory"
               : isOutput ? "memory, written once"
                          : "on chip"});
  }
  return out + table.markdown() + "\n";
}

} // namespace

std::string flowSection(const DocumentInput &input) { return flow(input); }

std::string accuracySection(const DocumentInput &input) {
  const Operator &op = input.op;
  std::string out = "### 2.7 Accuracy\n\nReference: the same graph in float64, with a bound on "
                    "rounding carried along for every element. For ordinary values of case '" +
                    op.performanceCases.at(0).name + "':\n\n";
  report::Table table({"type", ">relative", ">absolute", "because"});
  for (DType dtype : op.dtypes) {
    const auto tolerance = definition::toleranceFor(op, op.performanceCases[0].binding, dtype);
    table.add({std::string(torchName(dtype)), fmt::format("{:.3g}", tolerance.relative),
               fmt::format("{:.3g}", tolerance.absolute), cell(tolerance.derivation)});
  }
  return out + table.markdown() + "\n";
}

} // namespace nereid::document
