// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/ReferenceIndexing.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/eager/reference/rules/IntegerRules.h"
#include "lib/eager/reference/rules/ReductionRules.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

using definition::Indexing;
using definition::Meeting;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values that meet in an element.
struct Group {
  std::vector<Bounded> values;
  std::vector<uint64_t> integers;
  double open = 0; ///< magnitudes of values that may meet here, or somewhere else
  /// Of meetings that keep one of their values, some of which may meet elsewhere: the least and the
  /// greatest of all that may be here.
  bool isOpen = false;
  double least = infinity, greatest = -infinity;

  void mayMeet(const Bounded &value) {
    isOpen = true;
    least = std::min(least, value.value - value.error);
    greatest = std::max(greatest, value.value + value.error);
    open = std::isfinite(value.value) ? open : infinity;
  }
};

/// The element that a point leads to, and those that it may lead to as an index is not exact.
struct Place {
  size_t element = 0;
  std::vector<size_t> others;
  bool isLost = false; ///< it may be any
};

/// Where an index may be more than these it may be any of its dimension.
constexpr size_t mostOthers = 256;
/// Elements that are looked at for that, in all; behind them what is met may be anything.
constexpr int64_t mostLooked = int64_t{1} << 24;

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
      : node(node), operands(operands), type(type), model(model),
        takesNegative(definition::takesNegative(node)) {
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
    if (table().elements.empty() && definition::readsNothingAsZero(node)) {
      return out;
    }
    std::vector<int64_t> point(points.size(), 0);
    Place place; // one for all: a list for each element would cost more than the rest
    for (size_t i = 0; i < count; ++i) {
      if (Status found = findPlace(point, place); !found) {
        return found.error();
      }
      if (indexing.isWrite) {
        add(place, point);
      } else {
        out.elements[i] = read(place);
        if (!out.integers.empty()) {
          out.integers[i] = table().integers[place.element];
        }
      }
      for (size_t d = points.size(); d-- > 0;) { // the next point
        point[d] = point[d] + 1 == points[d] ? 0 : point[d] + 1;
        if (point[d] != 0) {
          break;
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

  Status findPlace(const std::vector<int64_t> &point, Place &place) {
    place.others.clear();
    place.isLost = false;
    int64_t offset = 0;
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, number] = indexing.places[d];
      const int64_t size = table().sizes[d];
      int64_t at = isIndexed ? 0 : point[number];
      if (isIndexed) {
        const BoundedTensor &index = *operands[indexing.indices[number]];
        const size_t where = offsetOf(index.sizes, indexing.firstDims[number], point);
        const auto given = static_cast<int64_t>(index.integers[where]);
        const int64_t least = takesNegative ? -size : 0;
        if (given < least || given >= size) {
          return makeError("E0629", fmt::format("'{}' expects indices in [{}, {}), but got {}",
                                                node.op, least, size, given))
              .withHelp("the definition's 'range' of the input says which values tests draw");
        }
        at = given < 0 ? given + size : given;
        addOthers(place, index.elements[where].error, at, d);
      }
      offset = offset * size + at;
    }
    place.element = static_cast<size_t>(offset);
    for (size_t &other : place.others) { // distances so far
      other += place.element;
    }
    return Done{};
  }

  /// As distances from the place itself, in elements: of those so far, each by as much.
  void addOthers(Place &place, double error, int64_t at, size_t dim) {
    if (error == 0 || place.isLost) {
      return;
    }
    const int64_t size = table().sizes[dim];
    const bool mayBeAny = !(error < static_cast<double>(mostOthers));
    const auto reach = mayBeAny ? size : static_cast<int64_t>(error);
    const int64_t first = std::max(-reach, -at), last = std::min(reach, size - 1 - at);
    looked += (last - first + 1) * (1 + std::ssize(place.others));
    place.isLost = looked > mostLooked;
    if (place.isLost) {
      return;
    }
    int64_t step = 1;
    for (size_t behind = dim + 1; behind < table().sizes.size(); ++behind) {
      step *= table().sizes[behind];
    }
    std::vector<size_t> next;
    for (int64_t away = first; away <= last; ++away) {
      const auto moved = static_cast<size_t>(away * step); // wraps, and back again
      if (away != 0) {
        next.push_back(moved);
      }
      for (size_t other : place.others) {
        next.push_back(other + moved);
      }
    }
    place.others = std::move(next);
  }

  Bounded read(const Place &place) const {
    Bounded value = table().elements[place.element];
    for (size_t other : place.others) {
      const Bounded &there = table().elements[other];
      value.error = std::max(value.error, distance(there.value, value.value) + there.error);
    }
    value.error = place.isLost ? infinity : value.error;
    return value;
  }

  void add(const Place &place, const std::vector<int64_t> &point) {
    Group &group = groups[place.element];
    const BoundedTensor &values = *operands[indexing.values];
    const size_t at = offsetOf(values.sizes, indexing.rank - values.sizes.size(), point);
    group.values.push_back(values.elements[at]);
    if (type == DType::Bool) { // a number is true unless it is 0
      group.values.back().value = group.values.back().value != 0 ? 1 : 0;
    }
    if (!values.integers.empty()) {
      group.integers.push_back(values.integers[at]);
    } else if (!table().integers.empty()) { // a number
      group.integers.push_back(
          static_cast<uint64_t>(static_cast<int64_t>(values.elements[at].value)));
    }
    isLost = isLost || place.isLost;
    if (!place.others.empty()) {
      const Bounded &value = group.values.back();
      const bool isAdded = indexing.meeting == Meeting::Sum && std::isfinite(value.value);
      const double most = isAdded ? std::fabs(value.value) + value.error : infinity;
      auto meet = [&](Group &met) {
        if (keepsOne()) {
          met.mayMeet(value);
        } else {
          met.open += most;
        }
      };
      meet(group);
      for (size_t other : place.others) {
        meet(groups[other]);
      }
    }
  }

  /// The result is one of the values that meet, or the table's.
  bool keepsOne() const {
    return indexing.meeting == Meeting::Replace || indexing.meeting == Meeting::Maximum ||
           indexing.meeting == Meeting::Minimum;
  }

  void joinAll(BoundedTensor &out) {
    out.allocate(groups.size());
    out.integers = table().integers;
    for (size_t i = 0; i < groups.size(); ++i) {
      Group &group = groups[i];
      const bool isJoined = indexing.meeting != Meeting::Replace;
      const bool hasOwn = isJoined && indexing.includesTable;
      if (group.isOpen) { // what is here may have met another place, too
        for (const Bounded &value : group.values) {
          group.mayMeet(value);
        }
        group.mayMeet(table().elements[i]);
      }
      if (group.values.empty()) {
        out.elements[i] = table().elements[i];
        open(out.elements[i], group);
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
      open(out.elements[i], group);
    }
  }

  void open(Bounded &element, const Group &group) const {
    element.error = isLost ? infinity : element.error + group.open;
    if (group.isOpen) {
      element.error =
          std::max({element.error, element.value - group.least, group.greatest - element.value});
    }
  }

  Bounded joined(const std::vector<Bounded> &values) const {
    definition::Node reduction;
    reduction.op = reductionOf(indexing.meeting);
    Bounded result = reduceRule(reduction, values, model);
    const bool isSum = indexing.meeting == Meeting::Sum || indexing.meeting == Meeting::Mean;
    if (isSum && model.compute == DType::F32 && std::isfinite(result.value)) {
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
  const bool takesNegative;
  Indexing indexing;
  std::vector<int64_t> points;
  std::vector<Group> groups;
  int64_t looked = 0;
  bool isLost = false; ///< a value may have met any element
};

} // namespace

Result<BoundedTensor> indexedBounded(const definition::Node &node,
                                     const std::vector<const BoundedTensor *> &operands, DType type,
                                     const ErrorModel &model) {
  return Walker(node, operands, type, model).run();
}

} // namespace nereid::eager
