// SPDX-License-Identifier: Apache-2.0
// The files that import statements name: finds them as Python would, reads and parses each once.
// Nothing is looked for before a kernel uses it, so a module that is not here is no error by
// itself. What was read and what was looked for is kept, for the cache of compiled kernels.
#pragma once

#include "lib/language/syntax/Ast.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid::language {

/// What an import statement led to.
struct FoundModule {
  const SourceModule *module = nullptr;  ///< null: there is no such file, or it cannot be parsed
  std::string file;                      ///< empty: there is no such file
  std::vector<std::string> searched;     ///< the files looked for, in order, the last one found
  const Diagnostics *problems = nullptr; ///< of a file that cannot be read or parsed
};

/// A file whose content, presence or absence decided what was compiled.
struct FileState {
  std::string path;   ///< absolute
  std::string digest; ///< SHA-256 of the content; see absentFile, presentFile
  bool operator==(const FileState &) const = default;
};
inline constexpr const char *absentFile = "absent";
inline constexpr const char *presentFile = "present"; ///< only that it exists mattered

class ModuleLoader {
public:
  /// `importPaths`: folders searched for modules after those of the importing file.
  explicit ModuleLoader(std::vector<std::string> importPaths = {});
  ModuleLoader(const ModuleLoader &) = delete;
  ModuleLoader &operator=(const ModuleLoader &) = delete;

  /// Makes an import of this file give this module, which must outlive the loader.
  void add(const SourceModule &module);

  /// The module called `name` in an import statement of the file `importer`. Leading dots count
  /// from the importer's folder. Another name is looked for in the folder that holds the
  /// importer's outermost package (folders with __init__.py), in the folder that holds the nearest
  /// one named like the first part of `name`, in the importer's own, then in the import paths.
  /// `a.b` is a/b/__init__.py or a/b.py.
  const FoundModule &find(const std::string &name, const std::string &importer);

  /// Every file read or looked for until now, sorted by path.
  std::vector<FileState> dependencies() const;

private:
  struct File {
    std::unique_ptr<SourceModule> module;
    Diagnostics problems;
  };
  std::vector<std::string> roots(const std::string &first, const std::string &folder);
  bool isFile(const std::string &path);
  FoundModule search(const std::string &name, const std::string &folder);
  void load(FoundModule &found);

  std::vector<std::string> importPaths;
  std::map<std::string, const SourceModule *> given;                ///< by path, normalized
  std::map<std::string, std::unique_ptr<File>> files;               ///< by path, normalized
  std::map<std::pair<std::string, std::string>, FoundModule> known; ///< by folder and name
  std::map<std::string, std::string> states;                        ///< absolute path to digest
};

/// Whether the recorded files are on disk as they were: the same content, or still absent.
bool isCurrent(const std::vector<FileState> &recorded);

/// Without "." and ".." parts; symbolic links stay.
std::string absolutePath(const std::string &path);
/// "pkg" of "pkg/__init__.py", "." of "kernel.py".
std::string folderOf(const std::string &path);

} // namespace nereid::language
