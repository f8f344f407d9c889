// SPDX-License-Identifier: Apache-2.0
// Reads the lowerings of operations.def, see Lowering.h.
#include "lib/definition/operations/Lowering.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/reader/Body.h"

#include <algorithm>

namespace nereid::definition {
namespace {

struct Row {
  std::string name, when, text;
  std::optional<Operator> graph; ///< none: the text is refused
};

std::optional<Operator> read(const Row &row) {
  Operator op;
  op.name = row.name;
  op.dtypes = {DType::F32};
  for (const Argument &argument : findOperation(row.name)->arguments) {
    if (argument.type != ArgumentType::Operand) {
      continue;
    }
    Parameter parameter;
    parameter.name = argument.name;
    parameter.shape = {Dim{"..."}};
    parameter.fixedDtype = argument.name == "mask" ? std::optional(DType::Bool) : std::nullopt;
    Node leaf;
    leaf.op = "input";
    leaf.shape = parameter.shape;
    leaf.name = parameter.name;
    op.nodes.push_back(std::move(leaf));
    op.parameters.push_back(std::move(parameter));
  }
  op.outputNames = {"out"};
  op.body = row.text.find("out =") == std::string::npos ? "out = " + row.text : row.text;
  Diagnostics diags;
  bool isRead = readBody(op, {row.name, op.body}, diags);
  return isRead ? std::optional(std::move(op)) : std::nullopt;
}

/// Without graphs: bodies, those of the table included, are read with its help.
const std::vector<Row> &texts() {
  static const std::vector<Row> table = {
#define NEREID_LOWERING(name, when, text) {#name, when, text, std::nullopt},
#include "lib/definition/operations/operations.def"
  };
  return table;
}

const std::vector<Row> &rows() {
  static const std::vector<Row> table = [] {
    std::vector<Row> made = texts();
    for (Row &row : made) {
      row.graph = read(row);
    }
    return made;
  }();
  return table;
}

bool applies(const Row &row, const Node &node) {
  return row.name == node.op && isMet(row.when, node);
}

} // namespace

const Operator *loweringOf(const Node &node, DType computed) {
  auto found = std::find_if(rows().begin(), rows().end(), [&](const Row &row) {
    return applies(row, node) && (row.when != "floats" || isFloat(computed));
  });
  return found == rows().end() || !found->graph ? nullptr : &*found->graph;
}

bool hasForm(const Node &node, std::vector<std::string> &known) {
  for (const Row &row : texts()) {
    if (applies(row, node)) {
      return true;
    }
    if (row.name == node.op) {
      known.push_back(row.when);
    }
  }
  return known.empty();
}

std::vector<std::pair<std::string, const Operator *>> allLowerings() {
  std::vector<std::pair<std::string, const Operator *>> result;
  for (const Row &row : rows()) {
    result.emplace_back(row.name + (row.when.empty() ? "" : " " + row.when),
                        row.graph ? &*row.graph : nullptr);
  }
  return result;
}

} // namespace nereid::definition
