// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/EditedFiles.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace nereid::develop {

std::vector<std::string> editedFiles(const generator::Project &project,
                                     const std::vector<generator::GeneratedFile> &written) {
  std::vector<std::string> edited;
  for (const auto &file : written) {
    // What a link leads to is nothing that a person wrote into this folder.
    const bool isLink = !refuseLink(project.path(file.name));
    auto present = readTextFile(project.path(file.name));
    if (!isLink && present && *present != file.content) {
      edited.push_back(file.name);
    }
  }
  return edited;
}

/// "x.bak", or "x.bak.2" and so on behind those that hold something else. Links and other things
/// that are no files are left as they are.
static std::string backupName(const generator::Project &project, const std::string &file,
                              const std::string &content) {
  std::string name = file + ".bak";
  for (int number = 2;; ++number) {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(project.path(name), ignored);
    if (status.type() == std::filesystem::file_type::not_found) {
      return name;
    }
    const bool isFile = status.type() == std::filesystem::file_type::regular;
    auto present = isFile ? readTextFile(project.path(name)) : Result<std::string>("");
    if (isFile && present && *present == content) {
      return name;
    }
    name = fmt::format("{}.bak.{}", file, number);
  }
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
    const std::string backup = backupName(project, file.name, *present);
    if (auto kept = project.writeFile({backup, *present}); !kept) {
      return kept;
    }
    tell(fmt::format("'{}' was edited by hand; that version is kept as '{}'", file.name, backup));
  }
  return Done{};
}

} // namespace nereid::develop
