// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/cases/ComputedData.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/Operations.h"

namespace nereid::definition {

std::optional<Operator> readDataOf(const Operator &op, size_t number, const std::string &text,
                                   const BodyPlace &place, Diagnostics &diags) {
  const Parameter &parameter = op.parameters[number];
  Operator made;
  made.name = parameter.name + "_data";
  made.summary = "Test data of '" + parameter.name + "'.";
  made.path = op.path;
  made.dtypes = op.dtypes;
  made.body = parameter.name + " = " + text;
  const std::set<std::string> names = namesIn(text);
  for (size_t i = 0; i < number; ++i) {
    if (!op.parameters[i].isScalar && names.contains(op.parameters[i].name)) {
      made.parameters.push_back(op.parameters[i]);
      made.nodes.push_back(op.nodes[i]);
    }
  }
  made.outputNames = {parameter.name};
  made.outputDescriptions = {""};
  made.outputDtypes = {parameter.fixedDtype};
  return readBody(made, place, diags) ? std::optional(std::move(made)) : std::nullopt;
}

std::optional<Operator> dataOperator(const Operator &op, size_t parameter) {
  const std::string text = stringAttribute(op.nodes[parameter], "data", "");
  Diagnostics unused;
  return text.empty() ? std::nullopt : readDataOf(op, parameter, text, {}, unused);
}

} // namespace nereid::definition
