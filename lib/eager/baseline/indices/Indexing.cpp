// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/indices/Indexing.h"

#include "lib/definition/operations/indices/Indexing.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nereid::eager {
namespace {

using definition::Meeting;
using runtime::Tensor;

/// Points that a thread takes at least.
constexpr int64_t grain = 4096;

class Points {
public:
  Points(const definition::Node &node, std::span<const Tensor> operands) : operands(operands) {
    std::vector<size_t> ranks;
    for (const Tensor &operand : operands) {
      ranks.push_back(operand.shape().size());
    }
    indexing = definition::indexingOf(node, ranks);
    sizes.assign(indexing.rank, 1);
    const bool isElementwise = node.op == "gather" || node.op.starts_with("scatter");
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (!indexing.places[d].isIndexed) {
        sizes[indexing.places[d].number] = operands[0].shape()[d];
      }
    }
    for (size_t i = 0; i < indexing.indices.size(); ++i) {
      const std::vector<int64_t> &shape = operands[indexing.indices[i]].shape();
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t &size = sizes[indexing.firstDims[i] + d];
        size = isElementwise || shape[d] != 1 ? shape[d] : size;
      }
    }
    for (int64_t size : sizes) {
      count *= size;
    }
  }

  /// Dimensions at the end in which points and table go on together.
  int64_t run() const {
    int64_t elements = 1;
    for (size_t d = sizes.size(), t = indexing.places.size(); d > 0 && t > 0; --d, --t) {
      const auto &place = indexing.places[t - 1];
      const bool isAlong = !place.isIndexed && place.number == d - 1 &&
                           sizes[d - 1] == operands[0].shape()[t - 1] &&
                           std::none_of(indexing.indices.begin(), indexing.indices.end(),
                                        [&](size_t index) { return reaches(index, d - 1); });
      if (!isAlong) {
        break;
      }
      elements *= sizes[d - 1];
    }
    return elements;
  }

  /// The first index outside of its dimension.
  Status check(const definition::Node &node) const {
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (!indexing.places[d].isIndexed) {
        continue;
      }
      const Tensor &index = operands[indexing.indices[indexing.places[d].number]];
      const int64_t size = operands[0].shape()[d];
      const int64_t least = definition::takesNegative(node) ? -size : 0;
      for (int64_t i = 0; i < index.elementCount(); ++i) {
        const auto given = static_cast<int64_t>(runtime::loadInteger(index, i));
        if (given < least || given >= size) {
          return makeError("E0629", fmt::format("'{}' expects indices in [{}, {}), but got {}",
                                                node.op, least, size, given))
              .withHelp("negative indices count from the end in x[index] and index_put alone");
        }
      }
    }
    return Done{};
  }

  /// Number of the table's element, in its order, for a point.
  int64_t element(int64_t number) const {
    int64_t offset = 0;
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, place] = indexing.places[d];
      const int64_t size = operands[0].shape()[d];
      int64_t at = 0;
      if (isIndexed) {
        const int64_t where =
            numberOf(operands[indexing.indices[place]].shape(), indexing.firstDims[place], number);
        at = static_cast<int64_t>(runtime::loadInteger(operands[indexing.indices[place]], where));
        at += at < 0 ? size : 0;
      } else {
        at = coordinate(number, place);
      }
      offset = offset * size + at;
    }
    return offset;
  }
  int64_t valueOf(int64_t number) const {
    const std::vector<int64_t> &shape = operands[indexing.values].shape();
    return numberOf(shape, indexing.rank - shape.size(), number);
  }

  definition::Indexing indexing;
  std::vector<int64_t> sizes;
  int64_t count = 1;

private:
  bool reaches(size_t operand, size_t dim) const {
    const auto found = std::find(indexing.indices.begin(), indexing.indices.end(), operand);
    const size_t first = indexing.firstDims[static_cast<size_t>(found - indexing.indices.begin())];
    return dim >= first && dim < first + operands[operand].shape().size();
  }
  int64_t coordinate(int64_t number, size_t dim) const {
    for (size_t d = sizes.size(); d-- > dim + 1;) {
      number /= sizes[d];
    }
    return number % sizes[dim];
  }
  int64_t numberOf(const std::vector<int64_t> &shape, size_t first, int64_t number) const {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      offset = offset * shape[d] + (shape[d] == 1 ? 0 : coordinate(number, first + d));
    }
    return offset;
  }

  std::span<const Tensor> operands;
};

void readAll(const Points &points, const Tensor &table, const Tensor &out,
             runtime::ThreadPool &pool) {
  const int64_t run = std::max<int64_t>(points.run(), 1);
  const auto bytes = static_cast<int64_t>(sizeInBytes(table.dtype()));
  const auto *from = static_cast<const char *>(table.data());
  auto *to = static_cast<char *>(out.data());
  const int64_t rows = points.count / run;
  pool.parallelFor(rows, std::max<int64_t>(grain / run, 1), [&](int64_t first, int64_t last, int) {
    for (int64_t row = first; row < last; ++row) {
      std::memcpy(to + row * run * bytes, from + points.element(row * run) * bytes,
                  static_cast<size_t>(run * bytes));
    }
  });
}

template <class T> T joined(Meeting meeting, T a, T b) {
  switch (meeting) {
  case Meeting::Product:
    return a * b;
  case Meeting::Maximum:
    return a != a || a > b ? a : b;
  case Meeting::Minimum:
    return a != a || a < b ? a : b;
  case Meeting::Replace:
    return b;
  default:
    return a + b;
  }
}

template <class T, class Load, class Save>
void writeAll(const Points &points, const Tensor &table, const Tensor &values, Load load,
              Save save) {
  const auto size = static_cast<size_t>(table.elementCount());
  const definition::Indexing &indexing = points.indexing;
  std::vector<T> results(size);
  std::vector<int64_t> counts(size, indexing.includesTable ? 1 : 0);
  for (size_t i = 0; i < size; ++i) {
    results[i] = load(table, static_cast<int64_t>(i));
  }
  for (int64_t number = 0; number < points.count; ++number) {
    const auto at = static_cast<size_t>(points.element(number));
    const T value = load(values, points.valueOf(number));
    results[at] = counts[at]++ == 0 ? value : joined(indexing.meeting, results[at], value);
  }
  for (size_t i = 0; i < size; ++i) {
    const bool isMean = indexing.meeting == Meeting::Mean && counts[i] > 1;
    save(static_cast<int64_t>(i), isMean ? results[i] / static_cast<T>(counts[i]) : results[i]);
  }
}

template <class T>
void writeFloats(const Points &points, const Tensor &table, const Tensor &values,
                 const Tensor &out) {
  writeAll<T>(
      points, table, values,
      [](const Tensor &from, int64_t i) { return static_cast<T>(from.at(i)); },
      [&](int64_t i, T value) { out.set(i, static_cast<double>(value)); });
}

/// In 64 bits, of which the result's type keeps the lower ones: the order does not matter.
template <class T>
void writeIntegers(const Points &points, const Tensor &table, const Tensor &values,
                   const Tensor &out) {
  writeAll<T>(
      points, table, values,
      [](const Tensor &from, int64_t i) {
        return isFloat(from.dtype()) ? static_cast<T>(static_cast<int64_t>(from.at(i)))
                                     : static_cast<T>(runtime::loadInteger(from, i));
      },
      [&](int64_t i, T value) { runtime::storeInteger(out, i, static_cast<uint64_t>(value)); });
}

} // namespace

Status runIndexing(const definition::Node &node, std::span<const Tensor> operands,
                   const Tensor &out, runtime::ThreadPool &pool) {
  std::vector<Tensor> whole(operands.begin(), operands.end());
  whole[0] = whole[0].isContiguous() ? whole[0] : whole[0].to(whole[0].dtype());
  const Points points(node, whole);
  if (whole[0].elementCount() == 0 && definition::readsNothingAsZero(node)) {
    std::fill_n(static_cast<char *>(out.data()),
                out.elementCount() * static_cast<int64_t>(sizeInBytes(out.dtype())), 0);
    return Done{};
  }
  if (points.count > 0) {
    if (Status inside = points.check(node); !inside) {
      return inside;
    }
  }
  if (out.elementCount() == 0) {
    return Done{};
  }
  if (!points.indexing.isWrite) {
    readAll(points, whole[0], out, pool);
    return Done{};
  }
  const Tensor &values = whole[points.indexing.values];
  const DType type = out.dtype();
  if (type == DType::F64) {
    writeFloats<double>(points, whole[0], values, out);
  } else if (isFloat(type)) {
    writeFloats<float>(points, whole[0], values, out);
  } else if (type == DType::U64) {
    writeIntegers<uint64_t>(points, whole[0], values, out);
  } else if (points.indexing.meeting == Meeting::Maximum ||
             points.indexing.meeting == Meeting::Minimum) {
    writeIntegers<int64_t>(points, whole[0], values, out);
  } else { // sums and products wrap alike in both
    writeIntegers<uint64_t>(points, whole[0], values, out);
  }
  return Done{};
}

} // namespace nereid::eager
