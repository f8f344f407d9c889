// SPDX-License-Identifier: Apache-2.0
// Nodes of a test's model as a definition, and the body in its text.
#pragma once

#include "lib/importer/body/ImportNodes.h"
#include "unittests/importer/Models.h"

namespace nereid::importer {

inline Result<ImportedDefinition> imported(const ModelMaker &maker, const std::string &nodes = "",
                                           const std::map<std::string, int64_t> &sizes = {}) {
  Read read = inferred(maker);
  EXPECT_FALSE(read.diags.hasErrors()) << read.diags.render();
  auto chosen = selectNodes(*read.model, nodes);
  if (!chosen) {
    return chosen.error();
  }
  Diagnostics diags;
  auto definition = importNodes(*read.model, *chosen, "op", sizes, diags);
  EXPECT_TRUE(definition || !diags.hasErrors()) << diags.render();
  return definition;
}

inline std::string bodyOf(const ModelMaker &maker, const std::string &nodes = "",
                          const std::map<std::string, int64_t> &sizes = {}) {
  auto definition = imported(maker, nodes, sizes);
  if (!definition) {
    return render(definition.error());
  }
  const std::string &text = definition->text;
  const size_t begin = text.find("\"\"\"\n") + 4;
  return text.substr(begin, text.find("\n\"\"\"", begin) - begin);
}

} // namespace nereid::importer
