// SPDX-License-Identifier: Apache-2.0
// An operator's folder on disk, see Project.h.
#include "lib/generator/Project.h"

#include "lib/generator/Manifest.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace nereid::generator {
namespace {

constexpr const char *manifestName = "nereid.json";

} // namespace

StageRecord &Manifest::stage(const std::string &name) {
  for (StageRecord &record : stages) {
    if (record.stage == name) {
      return record;
    }
  }
  stages.emplace_back();
  stages.back().stage = name;
  return stages.back();
}

const StageRecord *Manifest::findStage(const std::string &name) const {
  auto found = std::find_if(stages.begin(), stages.end(),
                            [&](const StageRecord &record) { return record.stage == name; });
  return found == stages.end() ? nullptr : &*found;
}

bool Manifest::isCurrent(const std::string &name, const std::string &inputHash) const {
  const StageRecord *record = findStage(name);
  return record && record->isDone && record->inputHash == inputHash;
}

Result<Project> Project::create(const std::string &directory, const definition::Operator &op,
                                std::string definitionText) {
  if (auto made = createFolders(directory); !made) {
    return made.error();
  }
  Project project;
  project.folder = directory;
  if (Status isOwn = refuseLink(project.path(manifestName)); !isOwn) {
    return isOwn.error();
  }
  project.manifest.operatorName = op.name;
  project.manifest.definitionPath = op.path;
  project.manifest.definitionHash = toHex(sha256(definitionText));
  project.manifest.definitionText = std::move(definitionText);
  if (auto written = project.writeFile({op.name + ".toml", project.manifest.definitionText});
      !written) {
    return written.error();
  }
  if (auto saved = project.saveManifest(); !saved) {
    return saved.error();
  }
  return project;
}

Result<Project> Project::open(const std::string &directory) {
  Project project;
  project.folder = directory;
  std::string path = project.path(manifestName);
  if (Status isOwn = refuseLink(path); !isOwn) {
    return isOwn.error();
  }
  if (!isProject(directory)) {
    Diagnostic error = makeError("E0611", fmt::format("'{}' is no operator folder: it has no '{}'",
                                                      directory, manifestName));
    return std::move(error.withHelp("make one: nereid develop DEF.toml --out DIR"));
  }
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  auto manifest = readManifest(path, *text);
  if (!manifest) {
    return manifest.error();
  }
  project.manifest = std::move(*manifest);
  // The name becomes part of file names.
  bool isName = !project.manifest.operatorName.empty() &&
                project.manifest.operatorName.find('/') == std::string::npos;
  if (!isName) {
    return makeError("E0611", fmt::format("'{}' cannot be used: operator name '{}' is no name",
                                          path, project.manifest.operatorName))
        .withHelp("remove the file and run 'nereid develop' again");
  }
  return project;
}

bool Project::isProject(const std::string &directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(directory) / manifestName, ignored);
}

std::string Project::path(const std::string &fileName) const {
  return (std::filesystem::path(folder) / fileName).string();
}
std::string Project::definitionFile() const { return path(manifest.operatorName + ".toml"); }
std::string Project::tritonFile() const { return path(manifest.operatorName + "_triton.py"); }

Status Project::writeFile(const GeneratedFile &file) const {
  std::string target = path(file.name);
  if (Status isOwn = refuseLink(target); !isOwn) {
    return isOwn;
  }
  std::error_code ignored;
  if (std::filesystem::is_regular_file(target, ignored)) {
    auto present = readTextFile(target);
    if (present && *present == file.content) {
      return Done{};
    }
  }
  return writeOwnFile(target, file.content);
}

Status Project::writeFiles(const std::vector<GeneratedFile> &files) const {
  for (const GeneratedFile &file : files) {
    if (auto written = writeFile(file); !written) {
      return written;
    }
  }
  return Done{};
}

Status Project::saveManifest() const { return writeFile({manifestName, manifestText(manifest)}); }

} // namespace nereid::generator
