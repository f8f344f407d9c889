// SPDX-License-Identifier: Apache-2.0
// Definitions by what their own text says: name, summary, requirement, functions of the body,
// inputs, scenes. Nothing about a definition stands anywhere else.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/words/Vocabulary.h"
#include "lib/words/numbers/Arguments.h"

#include <map>

namespace nereid::words {

/// The term that definitions have which write into an input, and no others.
constexpr const char *inPlaceIdea = "in_place";

struct Shipped {
  std::string text; ///< of its file
  definition::Operator op;
  std::set<std::string> names;           ///< terms of its name
  std::set<std::string> summary;         ///< of its summary
  std::set<std::string> body;            ///< functions
  std::set<std::string> inputs;          ///< of the inputs' names
  std::set<std::string> support;         ///< of requirement, inputs and scenes
  std::set<std::string> classes;         ///< "loss", "normalisation", "random"
  std::string origin;                    ///< of one that does not ship: what it was made from
  std::map<std::string, bool> structure; ///< "rows", "elementwise", "two_tensors": whether it is

  /// Of a gradient: what each of its outputs is the gradient of. Empty for all others.
  std::vector<std::set<std::string>> gradients;
  std::vector<BodyArgument> arguments;
  /// Of name, summary and body, but for those of an argument that has several, which are not the
  /// same.
  std::set<double> numbers;

  /// In name, summary or body: what it computes.
  bool computes(const std::string &idea) const;
  bool has(const std::string &idea) const;
  /// Whether one of its outputs is the gradient of this tensor.
  bool hasGradientOf(const std::string &idea) const;
};

/// Fills in `arguments` and `numbers`.
void readNumbers(Shipped &one);

/// All definitions below the folders, those that cannot be read left out; ordered by name. Of two
/// with one name the first folder's.
std::vector<Shipped> readShipped(const std::vector<std::string> &folders);

/// Every term that a definition has.
std::set<std::string> knownTerms(const std::vector<Shipped> &shipped);

} // namespace nereid::words
