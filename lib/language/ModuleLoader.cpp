// SPDX-License-Identifier: Apache-2.0
// Paths are put together from what the user wrote, so that messages show them in the same form.
#include "lib/language/ModuleLoader.h"

#include "lib/language/syntax/Lexer.h"
#include "lib/language/syntax/Parser.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Hash.h"

#include <algorithm>
#include <filesystem>

namespace nereid::language {
namespace {

namespace fs = std::filesystem;

std::string normal(const fs::path &path) {
  std::string text = path.lexically_normal().string();
  return text.empty() ? "." : text;
}

std::string parentOf(const std::string &folder) { return normal(fs::path(folder) / ".."); }

/// "./a.py" of the current folder reads better as "a.py".
std::string joined(const std::string &folder, const std::string &name) {
  return normal(folder == "." ? fs::path(name) : fs::path(folder) / name);
}

std::string folderName(const std::string &folder) {
  fs::path full = absolutePath(folder);
  return (full.has_filename() ? full : full.parent_path()).filename().string();
}

bool isRegularFile(const std::string &path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

std::string digestOf(const std::string &path) {
  if (!isRegularFile(path)) {
    return absentFile;
  }
  Result<std::string> text = readTextFile(path);
  return text ? toHex(sha256(*text)) : std::string(presentFile);
}

} // namespace

std::string absolutePath(const std::string &path) {
  std::error_code failed;
  fs::path full = fs::absolute(path, failed);
  return normal(failed ? fs::path(path) : full);
}

std::string folderOf(const std::string &path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : normal(folder);
}

bool isCurrent(const std::vector<FileState> &recorded) {
  // What exists or not is cheap to find out, so it is compared before any content is.
  for (bool isContent : {false, true}) {
    for (const FileState &file : recorded) {
      bool hasContent = file.digest != absentFile && file.digest != presentFile;
      if (hasContent != isContent) {
        continue;
      }
      std::string presence = isRegularFile(file.path) ? presentFile : absentFile;
      if (file.digest != (isContent ? digestOf(file.path) : presence)) {
        return false;
      }
    }
  }
  return true;
}

ModuleLoader::ModuleLoader(std::vector<std::string> importPaths)
    : importPaths(std::move(importPaths)) {}

void ModuleLoader::add(const SourceModule &module) { given[normal(module.path)] = &module; }

bool ModuleLoader::isFile(const std::string &path) {
  bool isThere = isRegularFile(path);
  states.emplace(absolutePath(path), isThere ? presentFile : absentFile);
  return isThere || given.count(normal(path));
}

std::vector<std::string> ModuleLoader::roots(const std::string &first, const std::string &folder) {
  // Deeper than any package; ends the walk above a folder that cannot be resolved.
  constexpr int mostLevels = 64;
  std::string aroundPackage, aroundNamesake;
  std::string at = folder;
  bool isInPackage = true;
  for (int level = 0; level < mostLevels; ++level) {
    std::string above = parentOf(at);
    if (absolutePath(above) == absolutePath(at)) {
      break;
    }
    isInPackage = isInPackage && isFile(joined(at, "__init__.py"));
    if (isInPackage) {
      aroundPackage = above;
    }
    if (aroundNamesake.empty() && folderName(at) == first) {
      aroundNamesake = above;
    }
    at = above;
  }
  std::vector<std::string> found;
  for (const std::string &root : {aroundPackage, aroundNamesake}) {
    if (!root.empty()) {
      found.push_back(root);
    }
  }
  found.push_back(folder);
  found.insert(found.end(), importPaths.begin(), importPaths.end());
  return found;
}

FoundModule ModuleLoader::search(const std::string &name, const std::string &folder) {
  size_t dots = std::min(name.find_first_not_of('.'), name.size());
  std::string rest = name.substr(dots);
  std::vector<std::string> from;
  if (dots > 0) {
    std::string base = folder;
    for (size_t i = 1; i < dots; ++i) {
      base = parentOf(base);
    }
    from.push_back(base);
  } else {
    from = roots(rest.substr(0, rest.find('.')), folder);
  }
  std::string inside = rest;
  std::replace(inside.begin(), inside.end(), '.', '/');
  FoundModule found;
  for (const std::string &root : from) {
    std::vector<std::string> candidates = {joined(joined(root, inside), "__init__.py")};
    if (!inside.empty()) {
      candidates.push_back(joined(root, inside + ".py"));
    }
    for (const std::string &candidate : candidates) {
      if (std::find(found.searched.begin(), found.searched.end(), candidate) !=
          found.searched.end()) {
        continue;
      }
      found.searched.push_back(candidate);
      if (isFile(candidate)) {
        found.file = candidate;
        return found;
      }
    }
  }
  return found;
}

void ModuleLoader::load(FoundModule &found) {
  std::string path = normal(found.file);
  if (auto own = given.find(path); own != given.end()) {
    found.module = own->second;
    return;
  }
  std::unique_ptr<File> &file = files[path];
  if (!file) {
    file = std::make_unique<File>();
    Result<std::string> text = readTextFile(found.file, maxFileBytes);
    if (!text) {
      file->problems.add(text.error());
    } else {
      states[absolutePath(found.file)] = toHex(sha256(*text));
      if (auto parsed = parseModule(found.file, std::move(*text), file->problems)) {
        file->module = std::make_unique<SourceModule>(std::move(*parsed));
      }
    }
  }
  found.module = file->module.get();
  found.problems = found.module ? nullptr : &file->problems;
}

const FoundModule &ModuleLoader::find(const std::string &name, const std::string &importer) {
  std::pair<std::string, std::string> key{folderOf(importer), name};
  auto [entry, isNew] = known.try_emplace(key);
  if (isNew) {
    entry->second = search(name, key.first);
    if (!entry->second.file.empty()) {
      load(entry->second);
    }
  }
  return entry->second;
}

std::vector<FileState> ModuleLoader::dependencies() const {
  std::vector<FileState> result;
  for (const auto &[path, digest] : states) {
    result.push_back({path, digest});
  }
  return result;
}

} // namespace nereid::language
