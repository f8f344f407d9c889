// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/tables/DataReader.h"

#include "lib/definition/cases/ComputedData.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>

namespace nereid::definition {
void readData(TomlReader &toml, Operator &op, Diagnostics &diags) {
  const toml::table *inputs = toml.root()["inputs"].as_table();
  for (size_t i = 0; inputs && i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    const toml::table *table = inputs->get(parameter.name)->as_table();
    const toml::node *node = table ? table->get("data") : nullptr;
    if (!node) {
      continue;
    }
    const std::string text =
        toml.line(*table, "[inputs." + parameter.name + "]", "data", true).value_or("");
    // The assignment in front of the text is no part of the file.
    const auto column = static_cast<int>(node->source().begin.column + 1);
    const BodyPlace place{toml.filePath(), toml.fileText(),
                          static_cast<int>(node->source().begin.line),
                          column - static_cast<int>(parameter.name.size()) - 3};
    const auto made = readDataOf(op, i, text, place, diags);
    if (!made) {
      toml.fail("E0602", node->source(),
                fmt::format("'data' of '{}' cannot be read", parameter.name))
          .withHelp("it is an expression of bodies over the tensors in front of it");
      continue;
    }
    const auto result = static_cast<size_t>(made->outputs[0]);
    for (const DType dtype : op.dtypes) {
      const DType expected = parameter.fixedDtype.value_or(dtype);
      const DType computed = nodeDtypes(*made, dtype)[result];
      const SymbolicShape &shape = made->nodes[result].shape;
      if (computed != expected || shape.size() != parameter.shape.size()) {
        toml.fail("E0602", node->source(),
                  fmt::format("'data' of '{}' expects {} {}, but computes {} {}", parameter.name,
                              torchName(expected), definition::text(parameter.shape),
                              torchName(computed), definition::text(shape)));
        break;
      }
    }
    op.nodes[i].attributes["data"] = text;
  }
}

} // namespace nereid::definition
