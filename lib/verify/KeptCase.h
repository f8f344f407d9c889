// SPDX-License-Identifier: Apache-2.0
// One case of a verification, chosen by its name and kept as files: what went in, what the kernel
// made of it, what the reference says, and the command that tries it again. The same for generated
// operators and for folders of kernels.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::verify {

/// E0016 with the names that may have been meant; `where` has the cases called `known`.
Diagnostic unknownCase(const std::string &where, const std::string &name,
                       const std::vector<std::string> &known);

struct KeptTensor {
  std::string name;
  runtime::Tensor content; ///< strided as the kernel saw it; the file is contiguous
  std::string meaning;     ///< "input", "what the kernel computed", …
};

struct KeptCase {
  std::string name, verdict;
  /// The words of a command line that runs the case again.
  std::vector<std::string> command;
  /// More that says what was run, in order: ("seed", "17"), ("grid", "4, 1, 1").
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<KeptTensor> tensors;

  /// The words that name the case and repeat its data.
  void addCommand(const std::string &onlyCase, uint64_t seed);
  void addInput(const std::string &tensor, const runtime::Tensor &content);
  void addOutput(const std::string &tensor, const runtime::Tensor &content);
  /// `bounds`: how far each element may be from its value, infinity = cannot be verified; invalid
  /// when one tolerance holds for all.
  void addExpected(const std::string &tensor, const runtime::Tensor &values,
                   const runtime::Tensor &bounds);
};

/// Words for a POSIX shell.
std::string shellText(const std::vector<std::string> &words);

/// Writes NAME.npy for every tensor and case.txt. Links in the folder are not followed. Types that
/// .npy files lack are widened to float32. E0002, E0003, E0005, E0506.
Status keepCase(const std::string &folder, const KeptCase &kept);

} // namespace nereid::verify
