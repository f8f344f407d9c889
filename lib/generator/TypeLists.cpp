// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/TypeLists.h"

#include <algorithm>

namespace nereid::generator {

bool areAllFloat(const std::vector<DType> &types) {
  return std::all_of(types.begin(), types.end(), [](DType type) { return isFloat(type); });
}

bool areAllInteger(const std::vector<DType> &types) {
  return std::none_of(types.begin(), types.end(), [](DType type) { return isFloat(type); });
}

bool areAllBool(const std::vector<DType> &types) {
  return std::all_of(types.begin(), types.end(), [](DType type) { return type == DType::Bool; });
}

} // namespace nereid::generator
