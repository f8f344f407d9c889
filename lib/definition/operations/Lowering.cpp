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

std::string attributeText(const Node &node, const std::string &name) {
  auto found = node.attributes.find(name);
  if (found == node.attributes.end()) {
    return "";
  }
  if (const bool *flag = std::get_if<bool>(&found->second)) {
    return *flag ? "True" : "False";
  }
  const int64_t *number = std::get_if<int64_t>(&found->second);
  return number ? std::to_string(*number) : stringAttribute(node, name, "");
}

bool applies(const Row &row, const Node &node) {
  const size_t equals = row.when.find('=');
  return row.name == node.op &&
         (equals == std::string::npos ||
          attributeText(node, row.when.substr(0, equals)) == row.when.substr(equals + 1));
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
