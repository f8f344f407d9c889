// SPDX-License-Identifier: Apache-2.0
// 2.1 to 2.3: how much there is to compute, to hold and to move, as sums over the operator's sizes
// and as numbers of its cases.
#include "lib/definition/Cost.h"
#include "lib/definition/operations/Operations.h"
#include "lib/document/Chapters.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

namespace nereid::document {
namespace {

using definition::Node;
using definition::Operator;

std::string stepName(const Node &node) { return node.name.empty() ? node.source : node.name; }

SizeSum operationsOf(const Operator &op, const Node &node) {
  SizeSum sum;
  for (const definition::FlopTerm &term : definition::flopTerms(op, node)) {
    sum.add(term.factor, term.elements);
  }
  return sum;
}

std::string time(const Operator &op) {
  const SizeNames names(op);
  std::string body = op.body;
  body.erase(0, body.find_first_not_of('\n') == std::string::npos ? body.size()
                                                                  : body.find_first_not_of('\n'));
  if (!body.ends_with('\n')) {
    body += "\n";
  }
  std::string out = "### 2.1 Time\n\n```python\n" + body + "```\n\n";
  report::Table table({"step", "operation", "result", "FLOP for each", "how many", "FLOP"});
  SizeSum total;
  for (const Node &node : op.nodes) {
    if (definition::isLeaf(node)) {
      continue;
    }
    const SizeSum own = operationsOf(op, node);
    total.add(own);
    std::string factors, counts;
    for (const definition::FlopTerm &term : definition::flopTerms(op, node)) {
      factors += (factors.empty() ? "" : " and ") + fmt::format("{}", term.factor);
      counts += (counts.empty() ? "" : " and ") + SizeSum().add(1, term.elements).text(names);
    }
    table.add({code(stepName(node)), cell(definition::describe(node)),
               code(definition::text(node.shape)), factors.empty() ? "0" : factors,
               counts.empty() ? "-" : counts, own.text(names)});
  }
  out += table.markdown();
  out +=
      fmt::format("\nTogether {} FLOP, which is **O({})**", total.text(names), total.order(names));
  for (size_t i = 0; i < op.performanceCases.size(); ++i) {
    const auto &one = op.performanceCases[i];
    out += fmt::format("{} {} in case '{}'", i == 0 ? ":" : ",",
                       report::formatCount(total.evaluate(one.binding)), one.name);
  }
  return out +
         ". A reduction counts for each element that it reads, a product for each pair that is "
         "multiplied, everything else for each element of its result; a function counts what its "
         "vector implementation executes.\n\n";
}

/// The tensors of a call, in order: inputs, then outputs.
struct TensorRow {
  std::string name, role;
  const definition::SymbolicShape *shape;
  size_t node;
  bool isOutput;
};

std::vector<TensorRow> tensorsOf(const Operator &op) {
  std::vector<TensorRow> rows;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (!op.parameters[i].isScalar) {
      rows.push_back({op.parameters[i].name, "input", &op.nodes[i].shape, i, false});
    }
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const auto node = static_cast<size_t>(op.outputs[i]);
    rows.push_back({op.outputNames[i], "output", &op.nodes[node].shape, node, true});
  }
  return rows;
}

std::string space(const DocumentInput &input) {
  const Operator &op = input.op;
  const SizeNames names(op);
  const std::vector<DType> types = definition::nodeDtypes(op, input.dtype);
  report::Table table({"tensor", "role", "shape", ">elements", ">bytes for each"});
  SizeSum total, intermediates;
  for (const TensorRow &row : tensorsOf(op)) {
    total.add(1, *row.shape);
    table.add({code(row.name), row.role, code(definition::text(*row.shape)),
               SizeSum().add(1, *row.shape).text(names),
               std::to_string(sizeInBytes(types[row.node]))});
  }
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    const bool isKept =
        std::find(op.outputs.begin(), op.outputs.end(), static_cast<int>(i)) != op.outputs.end();
    if (!definition::isLeaf(op.nodes[i]) && !definition::isView(op.nodes[i]) && !isKept) {
      intermediates.add(1, op.nodes[i].shape);
    }
  }
  std::string out = "### 2.2 Space\n\n" + table.markdown();
  out += fmt::format("\nTogether {} elements, which is **O({})**", total.text(names),
                     total.order(names));
  for (size_t i = 0; i < op.performanceCases.size(); ++i) {
    const auto &one = op.performanceCases[i];
    out += fmt::format("{} {} in case '{}'", i == 0 ? ":" : ",",
                       report::formatBytes(definition::tensorBytes(op, one.binding, input.dtype)),
                       one.name);
  }
  out += fmt::format(" ({}). ", torchName(input.dtype));
  out += intermediates.isZero()
             ? "There are no intermediate tensors.\n\n"
             : fmt::format("Operation by operation {} elements of intermediate tensors come to "
                           "that; one kernel keeps them on chip.\n\n",
                           intermediates.text(names));
  return out;
}

std::string traffic(const DocumentInput &input) {
  const Operator &op = input.op;
  const SizeNames names(op);
  SizeSum reads, writes, operations;
  std::string readers, writers;
  for (const TensorRow &row : tensorsOf(op)) {
    if (!row.isOutput && !definition::isUsed(op, row.node)) {
      continue;
    }
    (row.isOutput ? writes : reads).add(1, *row.shape);
    std::string &list = row.isOutput ? writers : readers;
    list += (list.empty() ? "" : " + ") + SizeSum().add(1, *row.shape).text(names) + " (" +
            code(row.name) + ")";
  }
  for (const Node &node : op.nodes) {
    operations.add(operationsOf(op, node));
  }
  SizeSum accesses = reads;
  accesses.add(writes);
  std::string out = "### 2.3 Reads, writes and intensity\n\nEvery input is read and every result "
                    "written at least once; a broadcast operand counts at its own size.\n\n";
  out += "- reads: " + (readers.empty() ? "none" : readers + " = " + reads.text(names)) +
         " elements\n";
  out += "- writes: " + writers + " = " + writes.text(names) + " elements\n";
  out += fmt::format("- operations by accesses: ({}) / ({})\n\n", operations.text(names),
                     accesses.text(names));
  report::Table table(
      {"case", "type", ">reads", ">writes", ">must move", ">FLOP", ">FLOP/B", ">unfused moves"});
  double least = 0, most = 0;
  bool isFirst = true;
  for (const auto &one : op.performanceCases) {
    for (DType dtype : op.dtypes) {
      const auto work = definition::countWork(op, one.binding, dtype);
      const auto unfused = definition::countUnfusedWork(op, one.binding, dtype);
      least = isFirst ? work.intensity() : std::min(least, work.intensity());
      most = isFirst ? work.intensity() : std::max(most, work.intensity());
      isFirst = false;
      table.add({cell(one.name), std::string(torchName(dtype)), report::formatBytes(work.bytesRead),
                 report::formatBytes(work.bytesWritten), report::formatBytes(work.bytes()),
                 report::formatCount(work.flops), fmt::format("{:.3g}", work.intensity()),
                 report::formatBytes(unfused.bytes())});
    }
  }
  out += table.markdown() + "\n";
  if (hasModel(input.chip)) {
    const double ridge = input.chip.peakFor(arithmeticType(input.dtype)) / input.chip.copyBandwidth;
    out +=
        fmt::format("Conclusion: between {:.3g} and {:.3g} FLOP/B, where the chip needs {:.3g} to "
                    "be busy with arithmetic: {}.\n\n",
                    least, most, ridge,
                    most < ridge    ? "memory decides everywhere"
                    : least > ridge ? "arithmetic decides everywhere"
                                    : "some cases wait for memory, some for arithmetic");
  }
  return out;
}

} // namespace

std::string costSections(const DocumentInput &input) {
  return time(input.op) + space(input) + traffic(input);
}

} // namespace nereid::document
