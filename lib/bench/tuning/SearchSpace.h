// SPDX-License-Identifier: Apache-2.0
// What a search may change of a case beyond the configs that its kernel writes down: the lengths of
// its tiles, and on devices warps and stages. A search stands at a config and looks at those around
// it, from round to round (`nereid tune --search`).
#pragma once

#include "lib/bench/tuning/OpenConfigs.h"
#include "lib/machine/Machine.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::bench {

/// "BLOCK_M" and its value, in the order of the kernel's parameters, options behind them.
using SearchPoint = std::vector<std::pair<std::string, int64_t>>;

/// "BLOCK_M=64,BLOCK_N=64,num_warps=4"; and back, nothing for a text of another form.
std::string pointText(const SearchPoint &point);
std::optional<SearchPoint> pointFromText(const std::string &text);

struct SearchSpace {
  launch::KernelCase rest; ///< the case, whose signature does not give what is searched
  /// What the signature gives, the first config, the default of a parameter; a length that none of
  /// them gives is one that suits the chip.
  SearchPoint start;
  /// Parameters of `start` that are lengths of tiles stand in front.
  size_t lengths = 0;
  bool isOpen = false; ///< the case's signature gives nothing of `start`
  /// As OpenConfigs::key, of the signature without what is searched. Of a kernel that names no
  /// arguments all numbers are part of it (ConfigKey.h).
  std::string key;
};

/// Without anything to search, `start` is empty. Nothing, and errors in `diags`, for a kernel that
/// cannot be read.
std::optional<SearchSpace> searchSpace(const launch::KernelCase &one,
                                       const launch::Execution &execution,
                                       const std::string &machine, const Machine &chip,
                                       Diagnostics &diags);

/// The case with the config of that point.
OpenConfig configAt(const SearchSpace &space, const SearchPoint &point);

/// `center` itself, then every point that differs from it in one value: lengths and warps
/// `factor` times as large or as small, one stage more or less; and all lengths together. Only
/// values that a kernel can have.
std::vector<SearchPoint> pointsAround(const SearchSpace &space, const SearchPoint &center,
                                      int64_t factor);

} // namespace nereid::bench
