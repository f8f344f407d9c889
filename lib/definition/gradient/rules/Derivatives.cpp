// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/rules/Derivatives.h"

#include "lib/definition/operations/Operations.h"

#include <algorithm>

namespace nereid::definition {
namespace {

struct Row {
  std::string name, operand, when, text;
};

const std::vector<Row> &rows() {
  static const std::vector<Row> table = {
#define NEREID_DERIVATIVE(name, operand, when, text) {#name, #operand, when, text},
#include "lib/definition/gradient/rules/derivatives.def"
#define NEREID_DERIVATIVE(name, operand, when, text) {#name, #operand, when, text},
#include "lib/definition/operations/operations.def"
  };
  return table;
}

} // namespace

const std::string *derivativeOf(const Node &node, std::string_view operand) {
  auto found = std::find_if(rows().begin(), rows().end(), [&](const Row &row) {
    const bool isCorner = row.when.find('=') == std::string::npos;
    return row.name == node.op && row.operand == operand &&
           (isCorner ? row.when.empty() || row.when == stringAttribute(node, "corner", "")
                     : isMet(row.when, node));
  });
  return found == rows().end() ? nullptr : &found->text;
}

std::vector<std::string> allDerivatives() {
  std::vector<std::string> names;
  for (const Row &row : rows()) {
    if (row.text == "0" || row.text.empty()) {
      continue;
    }
    names.push_back(row.name + " " + row.operand + (row.when.empty() ? "" : " " + row.when));
  }
  return names;
}

} // namespace nereid::definition
