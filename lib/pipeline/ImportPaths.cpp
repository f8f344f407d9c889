// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/ImportPaths.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace nereid::pipeline {

std::vector<std::string> allImportPaths(const CompileInput &input) {
  std::vector<std::string> folders = input.importPaths;
  const char *variable = std::getenv("NEREID_IMPORT_PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty()) {
      folders.emplace_back(folder);
    }
  }
  return folders;
}

} // namespace nereid::pipeline
