// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/EditedFiles.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {

std::vector<std::string> editedFiles(const generator::Project &project,
                                     const std::vector<generator::GeneratedFile> &written) {
  std::vector<std::string> edited;
  for (const auto &file : written) {
    auto present = readTextFile(project.path(file.name));
    if (present && *present != file.content) {
      edited.push_back(file.name);
    }
  }
  return edited;
}

Status keepEditedFiles(const generator::Project &project, const std::vector<std::string> &edited,
                       const std::vector<generator::GeneratedFile> &next,
                       const std::function<void(const std::string &)> &tell) {
  for (const auto &file : next) {
    if (std::find(edited.begin(), edited.end(), file.name) == edited.end()) {
      continue;
    }
    auto present = readTextFile(project.path(file.name));
    if (!present || *present == file.content) {
      continue;
    }
    if (auto kept = project.writeFile({file.name + ".bak", *present}); !kept) {
      return kept;
    }
    tell(fmt::format("'{}' was edited by hand; that version is kept as '{}.bak'", file.name,
                     file.name));
  }
  return Done{};
}

} // namespace nereid::develop
