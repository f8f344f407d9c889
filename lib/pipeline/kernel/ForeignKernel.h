// SPDX-License-Identifier: Apache-2.0
// A kernel that somebody wrote in the language that a target's devices have of their own, such as
// CUDA C++: what is asked of the target, and what it gives. Such kernels are peers, beside which
// ours are timed; nothing of them passes through tile IR.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::pipeline {

struct ForeignSource {
  std::string path; ///< in messages; what the text includes is looked for in its folder
  std::string text;
  std::string function;
  std::vector<runtime::ArgumentInfo> arguments = {}; ///< that the function must take, in order
  std::vector<std::pair<std::string, std::string>> macros = {}; ///< names and values
  std::vector<std::string> flags = {};                          ///< for the compiler, besides
  bool useCache = true;
};

/// Code that the target's devices load.
struct ForeignCode {
  std::vector<uint8_t> object;
  std::string symbol;        ///< of the function
  uint32_t threads = 0;      ///< of a program, as the source says; 0 = it does not
  bool isThreadsMost = true; ///< that many at most; else exactly
  std::string compiler;      ///< that made it, "NVRTC 13.0"
  bool isFromCache = false;
};

/// Compiled and loaded on the device that the target names, or the first of its kind. threads: of a
/// program, 0 = as many as the source says. What Target::compileForeign says, what the device
/// refuses, and E0316 where nobody says how many threads there are, or both disagree.
Result<runtime::Kernel> loadForeign(const ForeignSource &source, const std::string &target,
                                    uint32_t threads);

} // namespace nereid::pipeline
