// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/ReferenceIndexing.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/eager/reference/IntegerRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace nereid::eager {
namespace {

using definition::Indexing;
using definition::Meeting;

/// Values that meet in an element.
struct Group {
  std::vector<Bounded> values;
  std::vector<uint64_t> integers;
};

const char *reductionOf(Meeting meeting) {
  switch (meeting) {
  case Meeting::Product:
    return "prod";
  case Meeting::Maximum:
    return "amax";
  case Meeting::Minimum:
    return "amin";
  case Meeting::Mean:
    return "mean";
  default:
    return "sum";
  }
}

class Walker {
public:
  Walker(const definition::Node &node, const std::vector<const BoundedTensor *> &operands,
         DType type, const ErrorModel &model)
      : node(node), operands(operands), type(type), model(model) {
    std::vector<size_t> ranks;
    for (const BoundedTensor *operand : operands) {
      ranks.push_back(operand->sizes.size());
    }
    indexing = definition::indexingOf(node, ranks);
    findPoints();
  }

  Result<BoundedTensor> run() {
    BoundedTensor out;
    out.sizes = indexing.isWrite ? table().sizes : points;
    const auto count = static_cast<size_t>(definition::elementCountOf(points).value_or(0));
    if (!indexing.isWrite) {
      out.allocate(count);
      out.integers.resize(table().integers.empty() ? 0 : count);
    } else {
      groups.resize(table().elements.size());
    }
    std::vector<int64_t> point(points.size(), 0);
    for (size_t i = 0; i < count; ++i) {
      auto rest = static_cast<int64_t>(i);
      for (size_t d = points.size(); d-- > 0; rest /= points[d]) {
        point[d] = rest % points[d];
      }
      auto element = elementAt(point);
      if (!element) {
        return element.error();
      }
      if (indexing.isWrite) {
        add(groups[*element], point);
      } else {
        out.elements[i] = readAt(*element, point);
        if (!out.integers.empty()) {
          out.integers[i] = table().integers[*element];
        }
      }
    }
    if (indexing.isWrite) {
      joinAll(out);
    }
    return out;
  }

private:
  const BoundedTensor &table() const { return *operands[0]; }

  /// Sizes along which no index runs are the table's; the others those of the indices.
  void findPoints() {
    points.assign(indexing.rank, 1);
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (!indexing.places[d].isIndexed) {
        points[indexing.places[d].number] = table().sizes[d];
      }
    }
    const bool isElementwise = node.op == "gather" || node.op.starts_with("scatter");
    for (size_t i = 0; i < indexing.indices.size(); ++i) {
      const std::vector<int64_t> &sizes = operands[indexing.indices[i]]->sizes;
      for (size_t d = 0; d < sizes.size(); ++d) {
        int64_t &size = points[indexing.firstDims[i] + d];
        size = isElementwise || sizes[d] != 1 ? sizes[d] : size;
      }
    }
  }

  /// Offset in a contiguous tensor whose dimensions are the point's from `first` on.
  static size_t offsetOf(const std::vector<int64_t> &sizes, size_t first,
                         const std::vector<int64_t> &point) {
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      offset = offset * sizes[d] + (sizes[d] == 1 ? 0 : point[first + d]);
    }
    return static_cast<size_t>(offset);
  }

  Result<size_t> elementAt(const std::vector<int64_t> &point) const {
    int64_t offset = 0;
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, number] = indexing.places[d];
      const int64_t size = table().sizes[d];
      int64_t at = isIndexed ? 0 : point[number];
      if (isIndexed) {
        const BoundedTensor &index = *operands[indexing.indices[number]];
        const size_t where = offsetOf(index.sizes, indexing.firstDims[number], point);
        const auto given = static_cast<int64_t>(index.integers[where]);
        const int64_t least = definition::takesNegative(node) ? -size : 0;
        if (given < least || given >= size) {
          return makeError("E0629", fmt::format("'{}' expects indices in [{}, {}), but got {}",
                                                node.op, least, size, given))
              .withHelp("the definition's 'range' of the input says which values tests draw");
        }
        at = given < 0 ? given + size : given;
      }
      offset = offset * size + at;
    }
    return static_cast<size_t>(offset);
  }

  /// Of how many elements an implementation may read another one, because rounding moved an index;
  /// nothing where they are too many to look at.
  static constexpr size_t mostOthers = 256;
  std::optional<std::vector<size_t>> othersAt(const std::vector<int64_t> &point) const {
    std::vector<size_t> offsets = {0};
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, number] = indexing.places[d];
      const int64_t size = table().sizes[d];
      int64_t first = isIndexed ? 0 : point[number], last = first;
      if (isIndexed) {
        const BoundedTensor &index = *operands[indexing.indices[number]];
        const size_t where = offsetOf(index.sizes, indexing.firstDims[number], point);
        const auto given = static_cast<int64_t>(index.integers[where]);
        const double error = index.elements[where].error;
        if (!(error < static_cast<double>(mostOthers))) {
          return std::nullopt;
        }
        const int64_t at = given < 0 ? given + size : given;
        const auto reach = static_cast<int64_t>(error);
        first = std::max<int64_t>(at - reach, 0);
        last = std::min(at + reach, size - 1);
      }
      std::vector<size_t> next;
      for (size_t offset : offsets) {
        for (int64_t at = first; at <= last; ++at) {
          next.push_back(offset * static_cast<size_t>(size) + static_cast<size_t>(at));
        }
      }
      if (next.size() > mostOthers) {
        return std::nullopt;
      }
      offsets = std::move(next);
    }
    return offsets;
  }

  bool isUncertain(const std::vector<int64_t> &point) const {
    for (size_t i = 0; i < indexing.indices.size(); ++i) {
      const BoundedTensor &index = *operands[indexing.indices[i]];
      if (index.elements[offsetOf(index.sizes, indexing.firstDims[i], point)].error > 0) {
        return true;
      }
    }
    return false;
  }

  Bounded readAt(size_t element, const std::vector<int64_t> &point) const {
    Bounded out = table().elements[element];
    if (!isUncertain(point)) {
      return out;
    }
    const auto others = othersAt(point);
    if (!others) {
      return {out.value, std::numeric_limits<double>::infinity()};
    }
    const double value = out.value;
    for (size_t other : *others) {
      const Bounded &each = table().elements[other];
      const bool isSame = each.value == value || (std::isnan(each.value) && std::isnan(value));
      const double away = isSame ? 0 : std::fabs(each.value - value);
      out.error = std::max(out.error, std::isnan(away) ? std::numeric_limits<double>::infinity()
                                                       : away + each.error);
    }
    return out;
  }

  void add(Group &group, const std::vector<int64_t> &point) const {
    const BoundedTensor &values = *operands[indexing.values];
    const size_t at = offsetOf(values.sizes, indexing.rank - values.sizes.size(), point);
    group.values.push_back(values.elements[at]);
    if (!values.integers.empty()) {
      group.integers.push_back(values.integers[at]);
    } else if (!table().integers.empty()) { // a number
      group.integers.push_back(
          static_cast<uint64_t>(static_cast<int64_t>(values.elements[at].value)));
    }
  }

  void joinAll(BoundedTensor &out) {
    out.allocate(groups.size());
    out.integers = table().integers;
    for (size_t i = 0; i < groups.size(); ++i) {
      Group &group = groups[i];
      const bool isJoined = indexing.meeting != Meeting::Replace;
      const bool hasOwn = isJoined && indexing.includesTable;
      if (group.values.empty()) {
        out.elements[i] = table().elements[i];
        continue;
      }
      if (hasOwn) {
        group.values.insert(group.values.begin(), table().elements[i]);
      }
      out.elements[i] = isJoined ? joined(group.values) : group.values.back();
      if (!out.integers.empty()) {
        if (hasOwn) {
          group.integers.insert(group.integers.begin(), table().integers[i]);
        }
        out.integers[i] = isJoined ? joinedIntegers(group.integers) : group.integers.back();
        out.elements[i] = {isUnsignedInteger(type)
                               ? static_cast<double>(out.integers[i])
                               : static_cast<double>(static_cast<int64_t>(out.integers[i])),
                           0};
      }
    }
  }

  Bounded joined(const std::vector<Bounded> &values) const {
    definition::Node reduction;
    reduction.op = reductionOf(indexing.meeting);
    Bounded result = reduceRule(reduction, values, model);
    const bool isSum = indexing.meeting == Meeting::Sum || indexing.meeting == Meeting::Mean;
    if (isSum && model.compute == DType::F32) {
      // Atomic additions in a GPU's memory take numbers below the normal ones for 0.
      result.error += static_cast<double>(values.size()) * definition::smallestNormal(DType::F32);
    }
    return result;
  }

  uint64_t joinedIntegers(const std::vector<uint64_t> &values) const {
    const bool isUnsigned = isUnsignedInteger(type);
    uint64_t result = values[0];
    for (size_t i = 1; i < values.size(); ++i) {
      const uint64_t other = values[i];
      const bool isLess =
          isUnsigned ? other < result : static_cast<int64_t>(other) < static_cast<int64_t>(result);
      switch (indexing.meeting) {
      case Meeting::Product:
        result *= other;
        break;
      case Meeting::Maximum:
        result = isLess ? result : other;
        break;
      case Meeting::Minimum:
        result = isLess ? other : result;
        break;
      default:
        result += other;
      }
    }
    return wrapped(result, type);
  }

  const definition::Node &node;
  const std::vector<const BoundedTensor *> &operands;
  const DType type;
  const ErrorModel &model;
  Indexing indexing;
  std::vector<int64_t> points;
  std::vector<Group> groups;
};

} // namespace

Result<BoundedTensor> indexedBounded(const definition::Node &node,
                                     const std::vector<const BoundedTensor *> &operands, DType type,
                                     const ErrorModel &model) {
  return Walker(node, operands, type, model).run();
}

} // namespace nereid::eager
