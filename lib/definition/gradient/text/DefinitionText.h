// SPDX-License-Identifier: Apache-2.0
// A definition as the text of its file, which docs/definitions.md describes.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

struct TensorText {
  std::string name;
  SymbolicShape shape;
  std::optional<DType> dtype;
  std::string description;
  bool isScalar = false, isInteger = false;
  double value = 0;                               ///< of a scalar
  std::optional<IndexRange> range = std::nullopt; ///< of an input of indices
};

struct DefinitionParts {
  std::string name, summary;
  std::vector<DType> dtypes;
  std::vector<std::string> lines; ///< of the body
  std::vector<std::string> constraints;
  bool isDeterministic = false;
  std::vector<TensorText> inputs, outputs;
  const std::vector<Case> *cases = nullptr, *accuracyCases = nullptr;
};

/// TOML.
std::string definitionText(const DefinitionParts &parts);

} // namespace nereid::definition
