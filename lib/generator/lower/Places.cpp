// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/lower/Places.h"

namespace nereid::generator {

bool areFewPlaces(const Shape &shape, const std::vector<size_t> &dims) {
  constexpr int64_t most = 32;
  int64_t places = 1;
  for (size_t dim : dims) {
    const std::optional<int64_t> size = shape[dim].constant();
    places = size && *size > 0 && *size <= most ? places * *size : most + 1;
    if (places > most) {
      return false;
    }
  }
  return true;
}

Lazy placeByPlace(const Tensors &make, const std::string &monoid, const Lazy &x,
                  const std::vector<size_t> &dims, bool keepsDims) {
  static const std::map<std::string, std::string> operations = {
      {"sum", "add"}, {"prod", "mul"}, {"max", "maximum"}, {"min", "minimum"}};
  Lazy total;
  std::vector<int64_t> place(dims.size(), 0);
  for (bool isLast = false; !isLast;) {
    Lazy part = x;
    for (size_t i = dims.size(); i-- > 0;) {
      part = make.slice(part, dims[i], place[i], 1, 1);
      part = keepsDims ? part : make.dropDim(part, dims[i]);
    }
    total = total.at ? make.map(operations.at(monoid), {total, part}) : part;
    isLast = true;
    for (size_t i = dims.size(); isLast && i-- > 0;) { // the next one
      isLast = ++place[i] == *x.shape[dims[i]].constant();
      place[i] = isLast ? 0 : place[i];
    }
  }
  return total;
}

} // namespace nereid::generator
