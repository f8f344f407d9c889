// SPDX-License-Identifier: Apache-2.0
// Generated files that a person has changed since. Writing them again keeps the changed version as
// `<file>.bak`, `<file>.bak.2`, …, so that no work is lost: no backup is overwritten.
#pragma once

#include "lib/generator/Project.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::develop {

/// Names of the project's files that are not as `written` has them; missing ones are not edited.
std::vector<std::string> editedFiles(const generator::Project &project,
                                     const std::vector<generator::GeneratedFile> &written);

/// Copies each edited file that `next` would change to a backup and tells so.
Status keepEditedFiles(const generator::Project &project, const std::vector<std::string> &edited,
                       const std::vector<generator::GeneratedFile> &next,
                       const std::function<void(const std::string &)> &tell);

} // namespace nereid::develop
