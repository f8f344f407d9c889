// SPDX-License-Identifier: Apache-2.0
// What `nereid analyze` prints: tables for people, or all of it as JSON.
#pragma once

#include "lib/importer/analysis/FusionGroups.h"

#include <string>

namespace nereid::cli {

struct ModelAnalysis {
  importer::Model model;
  Machine chip;
  std::vector<importer::NodeCost> costs; ///< by node
  std::vector<importer::FusionGroup> fusions;
};

/// `top`: how many nodes and groups each list has; `listsNodes`: and every node in a table.
std::string analysisText(const ModelAnalysis &analysis, int top, bool listsNodes);
std::string analysisJson(const ModelAnalysis &analysis, int top);

} // namespace nereid::cli
