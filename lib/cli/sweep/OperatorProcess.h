// SPDX-License-Identifier: Apache-2.0
// One operator of a sweep: `nereid develop` in a process of its own, and what became of it.
#pragma once

#include "lib/develop/sweep/OperatorResult.h"
#include "runtime/elements/DType.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::cli {

/// In the operator's folder: what its process printed.
inline constexpr const char *developLog = "develop.log";

struct OperatorProcess {
  std::string definition, folder;
  std::vector<std::string> words;
  std::vector<DType> dtypes; ///< empty: all
  bool isFresh = false;
  double mostSeconds = 0; ///< 0 = as long as it takes
  /// What it is at, as often as that is worth a look.
  std::function<void(const std::string &)> show = [](const std::string &) {};

  /// Fills in the state and all that is measured. It stays Pending when the user interrupts.
  void run(develop::OperatorResult &result) const;
};

} // namespace nereid::cli
