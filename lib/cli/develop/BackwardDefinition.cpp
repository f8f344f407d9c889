// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/BackwardDefinition.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/operations/Shape.h"
#include "lib/eager/gradient/GradientCheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace nereid::cli {
namespace {

using definition::Operator;

/// Each difference evaluates the whole operator.
constexpr int64_t mostElements = 2000, mostOfOne = 100000;
constexpr size_t mostCases = 3;

/// Sizes of small cases of the grid with more than one element, each once; where none is small the
/// smallest.
std::vector<definition::GridCase> smallCases(const Operator &op, uint64_t seed) {
  std::optional<definition::GridCase> smallest;
  int64_t least = mostOfOne + 1;
  std::vector<definition::GridCase> cases;
  std::vector<std::vector<std::vector<int64_t>>> seen;
  for (definition::GridCase &one : definition::accuracyGrid(op, seed)) {
    std::vector<std::vector<int64_t>> shapes;
    int64_t most = 0;
    for (const definition::Parameter &parameter : op.parameters) {
      auto sizes = definition::bind(parameter.shape, one.binding);
      const int64_t count = sizes ? definition::elementCountOf(*sizes).value_or(0) : 0;
      most = std::max(most, count > 0 ? count : mostOfOne + 1);
      shapes.push_back(sizes ? *sizes : std::vector<int64_t>());
    }
    const bool isNew = std::find(seen.begin(), seen.end(), shapes) == seen.end();
    if (one.unmet.empty() && most > 1 && most < least) {
      smallest = one;
      least = most;
    }
    if (one.unmet.empty() && most > 1 && most <= mostElements && isNew &&
        cases.size() < mostCases) {
      seen.push_back(std::move(shapes));
      cases.push_back(std::move(one));
    }
  }
  if (cases.empty() && smallest) {
    cases.push_back(std::move(*smallest));
  }
  return cases;
}

} // namespace

Result<BackwardDefinition> writeBackward(const std::string &input, std::string &out,
                                         const std::vector<std::string> &by, uint64_t seed,
                                         Diagnostics &diags) {
  auto op = definition::loadOperator(input, diags);
  if (!op) {
    return diags.all().front();
  }
  auto backward = definition::backwardOf(*op, by);
  if (!backward) {
    return backward.error();
  }
  BackwardDefinition written;
  for (const definition::GridCase &one : smallCases(*op, seed)) {
    auto check = eager::checkGradient(*op, *backward, one.binding, seed, runtime::defaultPool());
    if (!check) {
      return check.error();
    }
    if (!check->failure.empty()) {
      Diagnostic error = makeError("E0621", check->failure);
      error.file = input;
      error.note("in the backward definition:\n" + backward->text);
      return error;
    }
    written.compared += check->compared;
    written.worstError = std::max(written.worstError, check->worstError);
  }
  out = out.empty() ? backward->op.name : out;
  std::error_code failed;
  std::filesystem::create_directories(out, failed);
  written.path = (std::filesystem::path(out) / (backward->op.name + ".toml")).string();
  std::ofstream file(written.path);
  file << "# SPDX-License-Identifier: Apache-2.0\n"
       << "# Made from " << std::filesystem::path(input).filename().string()
       << " by nereid --backward.\n"
       << backward->text;
  if (!file.flush()) {
    return makeError("E0601", fmt::format("'{}' cannot be written", written.path))
        .withHelp("name another folder with --out");
  }
  return written;
}

} // namespace nereid::cli
