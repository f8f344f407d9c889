// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/FindDefinitions.h"

#include "lib/develop/sweep/SweepRecord.h"
#include "lib/generator/Project.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace nereid::develop {
namespace {

namespace fs = std::filesystem;

/// A definition is text that people write; what is larger is none.
constexpr uint64_t mostBytes = 16u << 20;

/// Holds a copy of a definition, and no definition of its own.
bool isOperatorsFolder(const fs::path &folder) {
  std::error_code ignored;
  return generator::Project::isProject(folder.string()) ||
         fs::exists(folder / SweepRecord::fileName, ignored);
}

/// Of the files below the folder those that may be definitions, sorted.
Result<std::vector<std::string>> definitionFiles(const std::string &folder) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const fs::path &path = at->path();
    const bool isHidden = path.filename().string().starts_with(".");
    if (at->is_directory(ignored)) {
      if (isHidden || isOperatorsFolder(path)) {
        at.disable_recursion_pending();
      }
    } else if (!isHidden && path.extension() == ".toml") {
      files.push_back(path.string());
    }
  }
  if (failed) {
    return makeError("E0001",
                     fmt::format("cannot read the folder '{}': {}", folder, failed.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string nameOfFile(const std::string &path) {
  std::string name = fs::path(path).stem().string();
  for (char &letter : name) {
    letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  }
  return name.empty() ? "definition" : name;
}

} // namespace

std::optional<std::vector<FoundDefinition>> findDefinitions(const std::string &folder,
                                                            Diagnostics &diags) {
  auto files = definitionFiles(folder);
  if (!files) {
    diags.add(files.error().withHelp("name a folder of definitions"));
    return std::nullopt;
  }
  if (files->empty()) {
    diags.add(makeError("E0625", fmt::format("expects definitions, but '{}' has no *.toml", folder))
                  .withHelp(generator::Project::isProject(folder)
                                ? "it is the folder of one operator: leave --all out"
                                : "name a folder with definitions in it, or below it"));
    return std::nullopt;
  }
  std::vector<FoundDefinition> found;
  std::map<std::string, std::string> paths;
  for (const std::string &path : *files) {
    auto text = readTextFile(path, mostBytes);
    if (!text) {
      diags.add(text.error());
      continue;
    }
    FoundDefinition one;
    one.path = path;
    one.text = std::move(*text);
    one.op = definition::parseOperator(path, one.text, one.problems);
    one.name = one.op ? one.op->name : nameOfFile(path);
    if (auto [known, isNew] = paths.emplace(one.name, path); !isNew) {
      diags.add(makeError("E0626", fmt::format("two definitions are named '{}': '{}' and '{}'",
                                               one.name, known->second, path))
                    .withHelp("give one of them another name; each is developed in a folder of its "
                              "name"));
    }
    found.push_back(std::move(one));
  }
  if (diags.hasErrors()) {
    return std::nullopt;
  }
  std::sort(found.begin(), found.end(),
            [](const FoundDefinition &a, const FoundDefinition &b) { return a.name < b.name; });
  return found;
}

std::string shippedDefinitions() { return shippedFolder("operators"); }

} // namespace nereid::develop
