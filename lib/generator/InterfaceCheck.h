// SPDX-License-Identifier: Apache-2.0
// The files of an operator promise one interface, the definition's: names and order of parameters,
// their types and defaults, the result, and the checks that inputs must pass. This reads the files
// back and compares. Run after generation and before verify, since people edit files.
#pragma once

#include "lib/generator/Generator.h"
#include "lib/generator/Interface.h"

namespace nereid::generator {

/// What was compared, for a table: a row per property, a column per file.
struct InterfaceReport {
  struct Cell {
    std::string text; ///< "" = this file has no such thing and needs none
    bool differs = false;
  };
  struct Row {
    std::string property, definition;
    std::vector<Cell> cells; ///< one per file
  };
  std::vector<std::string> files; ///< "kernel file", "launcher", …
  std::vector<Row> rows;
  bool agrees = true;
};

/// E0610 for every disagreement: its place, both versions and what to write. More checks than the
/// definition's, other names of variables, comments and layout are no disagreement.
InterfaceReport checkInterfaces(const std::string &directory, const Generation &generation,
                                Diagnostics &diags);

} // namespace nereid::generator
