// SPDX-License-Identifier: Apache-2.0
// Numbers and words that a definition's body gives its calls, each under the argument's name:
// "F.unfold(x, 3, stride=2)" has the kernel_size 3 and the stride 2.
#pragma once

#include <string>
#include <vector>

namespace nereid::words {

struct BodyArgument {
  std::string function;       ///< "unfold"
  std::string name;           ///< "kernel_size"; "" of one that no table knows
  std::string text;           ///< "3", "(1, 2)", "reflect" of a word
  std::vector<double> values; ///< of a number one, of several all, of a word none
  size_t members = 1;         ///< of a tuple, whatever they are
  bool isWord = false;
};

/// In the order of the text; none of a body that cannot be read.
std::vector<BodyArgument> argumentsOf(const std::string &body);

/// Of several numbers in one argument that are not all the same: none of them is the argument's.
bool isMixed(const BodyArgument &argument);

/// A name that calls of bodies use for what is no tensor: "dim", "stride", "num_classes".
bool isArgumentName(const std::string &name);

} // namespace nereid::words
