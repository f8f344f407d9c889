// SPDX-License-Identifier: Apache-2.0
// PTX of CUDA C++ sources, kept between runs beside compiled kernels: by the text, what it includes
// from its folder, macros, flags, architecture and compiler. The compiler's own headers count as
// part of it.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/targets/nvidia/cuda/CudaCompiler.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::nvidia {

class CudaCache {
public:
  /// Not used where `isUsed` is false, and for sources of which the text does not tell what they
  /// include.
  CudaCache(const CudaSource &source, const CudaCompiler &compiler, bool isUsed);

  /// The PTX, if all files that decided are as they were.
  std::optional<std::string> find() const;
  void store(const std::string &ptx) const;

private:
  /// False when what a text includes is not clear.
  bool addIncludes(std::string_view text, const std::string &folder);

  bool isUsed;
  std::string key;
  std::vector<language::FileState> files; ///< included, or looked for and not there
};

/// The names behind #include, without their quotes or brackets; nothing when one is given by a
/// macro, or a text asks what could be included. Those in comments count as well.
std::optional<std::vector<std::string>> includesOf(std::string_view text);

} // namespace nereid::nvidia
