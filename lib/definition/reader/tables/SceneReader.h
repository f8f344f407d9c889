// SPDX-License-Identifier: Apache-2.0
// What a definition says for people: the requirement it comes from and its [[scene]]s. Both stand
// in the document as they are written, so that they must not be able to end a block of it.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/reader/TomlReader.h"

namespace nereid::definition {

/// Text of several lines: E0602 for control characters other than line breaks and tabs, for a line
/// that begins a fence ("```"), and for more than 64 KiB. Without blank lines at its ends.
std::optional<std::string> readProse(TomlReader &toml, const toml::table &table,
                                     std::string_view what, std::string_view key, bool isRequired);

/// The list [[scene]]: `name` and `code`, and perhaps a `description`. E0602 for anything else, and
/// for two of one name.
std::vector<Scene> readScenes(TomlReader &toml);

} // namespace nereid::definition
