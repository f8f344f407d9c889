// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/LeadingSum.h"

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {

std::optional<int64_t> keptOfLeading(const Node &node) {
  return node.attributes.contains("leading") ? std::optional(integerAttribute(node, "leading", 0))
                                             : std::nullopt;
}

bool withRank(std::map<std::string, Attribute> &attributes, int64_t rank) {
  const auto leading = attributes.find("leading");
  if (leading == attributes.end()) {
    return true;
  }
  const int64_t kept = std::get<int64_t>(leading->second);
  attributes.erase(leading);
  std::vector<int64_t> dims;
  for (int64_t dim = -rank; dim < -kept; ++dim) {
    dims.push_back(dim);
  }
  attributes["dim"] = dims;
  return !dims.empty();
}

} // namespace nereid::definition
