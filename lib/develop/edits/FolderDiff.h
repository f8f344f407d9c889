// SPDX-License-Identifier: Apache-2.0
// An operator's folder against what its definition generated: which files were edited, which kind
// of change that is, and which files must follow. Nothing is written.
#pragma once

#include "lib/develop/edits/EditClass.h"
#include "lib/generator/InterfaceCheck.h"
#include "lib/generator/Project.h"

namespace nereid::develop {

struct FileEdit {
  std::string file;
  EditClass editClass = EditClass::None;
  bool isMissing = false;
  std::vector<std::string> reasons;
  std::vector<Hunk> hunks;
};

struct FolderDiff {
  std::vector<FileEdit> edits;        ///< the definition first
  std::vector<std::string> followers; ///< files that must follow the edits
  EditClass editClass() const;        ///< the greatest
};

/// E0611 for no folder of an operator, or one of another version of the program, whose files cannot
/// be made again; what is wrong with an edited definition goes to `diags` with its place.
Result<FolderDiff> diffFolder(const std::string &directory, Diagnostics &diags);

/// The interfaces of a folder's files against its definition; as checkInterfaces(), and E0610 where
/// the definition was edited behind them.
Result<generator::InterfaceReport> checkFolder(const std::string &directory, Diagnostics &diags);

/// A section for change_log.md: class, reasons and files that follow.
std::string changeLogEntry(const DefinitionChange &change,
                           const std::vector<std::string> &followers);
/// Files whose text another definition changes; the document among them.
std::vector<std::string> followersOf(const generator::Manifest &former,
                                     const definition::Operator &before,
                                     const definition::Operator &after);

} // namespace nereid::develop
