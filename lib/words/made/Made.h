// SPDX-License-Identifier: Apache-2.0
// A definition that no one shipped, from a body and the tensors that it reads: what chains of
// functions and formulas of a text become.
#pragma once

#include "lib/words/Shipped.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::words {

struct MadeInput {
  std::string name;
  std::string shape; ///< "[\"...\", \"D\"]"; empty for a number
  std::string description;
  std::string value = {}; ///< of a number
};

struct MadeParts {
  std::string name, summary, origin, body;
  std::vector<MadeInput> inputs;
  std::set<std::string> functions; ///< Shipped::body
  bool isProduct = false;          ///< sizes are M, N and K; else those of rows, and D
};

/// Shapes of the usual tensors in such a definition.
std::string rowsShape(bool isProduct); ///< of what most operations read and give
std::string rowShape(bool isProduct);  ///< of one value for each column

/// With the first shape of the result that fits the body: as the rows, a column, a value for each
/// row, or one number. Nothing for a body that the reader refuses.
std::optional<Shipped> madeDefinition(const MadeParts &parts);

} // namespace nereid::words
