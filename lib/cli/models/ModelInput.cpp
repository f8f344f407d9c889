// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/models/ModelInput.h"

#include "lib/importer/shapes/Inference.h"

#include <fmt/format.h>

#include <charconv>

namespace nereid::cli {

Result<std::map<std::string, int64_t>> readSizes(const std::vector<std::string> &words) {
  constexpr int64_t most = int64_t{1} << 40;
  std::map<std::string, int64_t> sizes;
  for (const std::string &word : words) {
    const size_t equals = word.rfind('=');
    const std::string name = word.substr(0, equals);
    int64_t size = 0;
    const char *begin = word.data() + std::min(equals + 1, word.size());
    const char *end = word.data() + word.size();
    const auto read = std::from_chars(begin, end, size);
    const bool isSize = equals != std::string::npos && !name.empty() && read.ec == std::errc() &&
                        read.ptr == end && size >= 1 && size <= most;
    if (!isSize || !sizes.emplace(name, size).second) {
      return makeError("E0013",
                       isSize
                           ? fmt::format("--size gives '{}' twice", name)
                           : fmt::format("--size expects NAME=N with N from 1, but got '{}'", word))
          .withHelp("--size batch=8, once for each name");
    }
  }
  return sizes;
}

std::optional<importer::Model>
loadModel(const std::string &path, const std::vector<std::string> &sizes, Diagnostics &diags) {
  auto given = readSizes(sizes);
  if (!given) {
    diags.add(given.error());
    return std::nullopt;
  }
  auto model = importer::readModel(path, diags);
  if (!model) {
    return std::nullopt;
  }
  if (auto bound = importer::bindSizes(*model, *given); !bound) {
    diags.add(bound.error());
    return std::nullopt;
  }
  importer::inferShapes(*model, diags);
  return diags.hasErrors() ? std::nullopt : std::move(model);
}

} // namespace nereid::cli
