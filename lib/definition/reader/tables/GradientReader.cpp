// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/tables/GradientReader.h"

#include "lib/definition/reader/tables/SceneReader.h"

namespace nereid::definition {

void readGradients(TomlReader &toml, Operator &op) {
  constexpr std::string_view what = "[gradient]", shared = "body";
  const toml::table *table = toml.subtable(toml.root(), "gradient", false);
  if (!table) {
    return;
  }
  std::vector<std::string> known = {std::string(shared)};
  for (const Parameter &parameter : op.parameters) {
    if (!parameter.isScalar && (!parameter.fixedDtype || isFloat(*parameter.fixedDtype))) {
      known.push_back(parameter.name);
    }
  }
  toml.rejectUnknownKeys(*table, what, known);
  const std::string body =
      table->contains(shared) ? readProse(toml, *table, what, shared, true).value_or("") : "";
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const std::string &name = op.parameters[i].name;
    if (!table->contains(name)) {
      continue;
    }
    if (std::optional<std::string> text = readProse(toml, *table, what, name, true)) {
      op.nodes[i].attributes["gradient"] = std::move(*text);
      op.nodes[i].attributes["shared"] = body;
    }
  }
}

} // namespace nereid::definition
