// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/lower/Indexed.h"

#include "lib/definition/operations/Promotion.h"

#include <cmath>
#include <limits>
#include <set>

namespace nereid::generator {
namespace {

using definition::Meeting;

class Indexer {
public:
  Indexer(Program &program, const Tensors &make, const IndexedOperands &operands)
      : program(program), make(make), operands(operands), indexing(operands.indexing) {
    points.assign(indexing.rank, Polynomial(1));
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (!indexing.places[d].isIndexed) {
        points[indexing.places[d].number] = operands.table.shape[d];
      }
    }
    for (size_t i = 0; i < operands.indices.size(); ++i) {
      const Shape &shape = operands.indices[i].shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        Polynomial &size = points[indexing.firstDims[i] + d];
        // An index that has a dimension of the table as well may have fewer of it.
        size = !shape[d].isOne() || isOwnDimension(indexing.firstDims[i] + d) ? shape[d] : size;
      }
    }
  }

  /// The element of the table that belongs to a point.
  Point elementAt(const Point &point) const {
    Point element;
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, number] = indexing.places[d];
      element.push_back(isIndexed
                            ? Affine::data(indexNode(number, d, point), operands.table.shape[d])
                            : point[number]);
    }
    return element;
  }

  /// What an index says there, wrapped to where it counts from.
  const Node *indexNode(size_t number, size_t dim, const Point &point) const {
    const Lazy &index = operands.indices[number];
    Point at;
    for (size_t d = 0; d < index.shape.size(); ++d) {
      at.push_back(index.shape[d].isOne() ? Affine(0) : point[indexing.firstDims[number] + d]);
    }
    const Node *given = make.cast(index, DType::I64).at(at);
    if (operands.areNonNegative[number]) {
      return given;
    }
    const Node *size = program.nodes.index(Affine(operands.table.shape[dim]));
    const Node *isNegative =
        program.nodes.map("lt", DType::Bool, {given, program.nodes.integer(0, DType::I64)});
    return program.nodes.map(
        "where", DType::I64,
        {isNegative, program.nodes.map("add", DType::I64, {given, size}), given});
  }

  Lazy values() const {
    return operands.values.shape.size() == points.size() ? operands.values
                                                         : make.expand(operands.values, points);
  }

  const Shape &shape() const { return points; }

  /// The point that leads to an element, as far as the element says it; the rest are iterators.
  Point pointOf(const Point &element, std::vector<IteratorId> &iterators) const {
    Point point(points.size());
    std::set<size_t> known;
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (!indexing.places[d].isIndexed) {
        point[indexing.places[d].number] = element[d];
        known.insert(indexing.places[d].number);
      }
    }
    for (size_t d = 0; d < points.size(); ++d) {
      if (!known.contains(d)) {
        iterators.push_back(program.space.iterators.add(points[d], "r"));
        point[d] = Affine::iterator(iterators.back());
      }
    }
    return point;
  }

  /// Whether the point leads to the element.
  const Node *leadsTo(const Point &point, const Point &element) const {
    const Node *all = nullptr;
    auto add = [&](const Node *condition) {
      all = all ? program.nodes.map("logical_and", DType::Bool, {all, condition}) : condition;
    };
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      const auto &[isIndexed, number] = indexing.places[d];
      if (!isIndexed && points[number] != operands.table.shape[d]) { // a scatter of fewer
        add(program.nodes.map(
            "lt", DType::Bool,
            {program.nodes.index(point[number]), program.nodes.index(Affine(points[number]))}));
      }
    }
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (indexing.places[d].isIndexed) {
        add(program.nodes.map(
            "eq", DType::Bool,
            {indexNode(indexing.places[d].number, d, point), program.nodes.index(element[d])}));
      }
    }
    return all;
  }

private:
  bool isOwnDimension(size_t dim) const {
    for (const auto &place : indexing.places) {
      if (!place.isIndexed && place.number == dim) {
        return true;
      }
    }
    return false;
  }

  Program &program;
  const Tensors &make;
  const IndexedOperands &operands;
  const definition::Indexing &indexing;
  Shape points;
};

const Node *number(Program &program, double value, DType type) {
  if (isFloat(type)) {
    return program.nodes.real(value, type);
  }
  const auto whole = std::isinf(value)
                         ? (value < 0 ? definition::lowestInteger(type)
                                      : static_cast<int64_t>(definition::highestInteger(type)))
                         : static_cast<int64_t>(value);
  return program.nodes.integer(whole, type);
}

struct Joining {
  const char *monoid, *map;
  double identity;
};

Joining joiningOf(Meeting meeting) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (meeting) {
  case Meeting::Product:
    return {"prod", "mul", 1};
  case Meeting::Maximum:
    return {"max", "maximum", -infinity};
  case Meeting::Minimum:
    return {"min", "minimum", infinity};
  default:
    return {"sum", "add", 0};
  }
}

} // namespace

Lazy readIndexed(Program &program, const Tensors &make, const IndexedOperands &operands) {
  const auto indexer = std::make_shared<const Indexer>(program, make, operands);
  // Operands are kept by whoever asks later.
  const auto kept = std::make_shared<const IndexedOperands>(operands);
  return make.make(indexer->shape(), operands.table.dtype,
                   [&program, &make, kept](const Point &at) {
                     return kept->table.at(Indexer(program, make, *kept).elementAt(at));
                   });
}

bool meetAsOrdinals(const IndexedOperands &operands) {
  const Meeting meeting = operands.indexing.meeting;
  const DType type = operands.table.dtype;
  return (meeting == Meeting::Maximum || meeting == Meeting::Minimum) && isFloat(type) &&
         meetingType(meeting, type) == DType::F32;
}

static constexpr int64_t nothingMet = std::numeric_limits<int32_t>::min(); // NaN, of no ordinal

IndexedOperands asOrdinals(Program &program, const Tensors &make, IndexedOperands operands) {
  const bool isMinimum = operands.indexing.meeting == Meeting::Minimum;
  auto ordinal = [&](const Lazy &numbers) {
    return make.map("ordinal", {isMinimum ? make.map("neg", {numbers}) : numbers});
  };
  operands.values = ordinal(operands.values);
  operands.table = operands.indexing.includesTable
                       ? ordinal(operands.table)
                       : make.expand(make.constant(program.nodes.integer(nothingMet, DType::I32)),
                                     operands.table.shape);
  operands.indexing.meeting = Meeting::Maximum;
  return operands;
}

Lazy ofOrdinals(Program &program, const Tensors &make, const IndexedOperands &operands,
                const Lazy &met) {
  Lazy numbers = make.map("of_ordinal", {met});
  if (operands.indexing.meeting == Meeting::Minimum) {
    numbers = make.map("neg", {numbers});
  }
  if (operands.indexing.includesTable) {
    return numbers;
  }
  const Lazy none = make.constant(program.nodes.integer(nothingMet, DType::I32));
  return make.map("where", {make.map("eq", {met, none}), operands.table, numbers});
}

bool canMeetInMemory(const IndexedOperands &operands, bool isDeterministic) {
  const DType type = operands.table.dtype;
  switch (operands.indexing.meeting) {
  case Meeting::Replace:
    return true;
  case Meeting::Sum: // of integers any order gives the same
    return operands.indexing.includesTable && (!isDeterministic || !isFloat(type));
  case Meeting::Mean:
    return !isDeterministic;
  case Meeting::Maximum:
  case Meeting::Minimum:
    return meetAsOrdinals(operands) || (operands.indexing.includesTable && isSignedInteger(type));
  case Meeting::Product:
    return false;
  }
  return false;
}

DType meetingType(Meeting meeting, DType storage) {
  if (meeting == Meeting::Replace) {
    return storage;
  }
  if (isFloat(storage)) {
    return storage == DType::F64 ? DType::F64 : DType::F32;
  }
  return sizeInBytes(storage) == 8 ? DType::I64 : DType::I32;
}

void writeInMemory(Program &program, const Tensors &make, const IndexedOperands &operands,
                   const std::string &stage, const std::vector<BufferId> &results) {
  const definition::Indexing &indexing = operands.indexing;
  const Indexer indexer(program, make, operands);
  const bool isMean = indexing.meeting == Meeting::Mean;
  const DType type = operands.table.dtype;
  const bool startsEmpty = isMean && !indexing.includesTable;
  std::vector<std::pair<BufferId, Lazy>> first;
  const auto filled = [&](double value) {
    return make.expand(make.constant(number(program, value, type)), operands.table.shape);
  };
  first.emplace_back(results[0], startsEmpty ? filled(0) : operands.table);
  if (isMean) {
    first.emplace_back(results[1], filled(startsEmpty ? 0 : 1));
  }
  make.store(stage, first);
  Point point;
  for (const Polynomial &size : indexer.shape()) {
    point.push_back(Affine::iterator(program.space.iterators.add(size, "i")));
  }
  const std::string monoid =
      indexing.meeting == Meeting::Replace ? "" : joiningOf(indexing.meeting).monoid;
  const Point element = indexer.elementAt(point);
  Stage added{stage, {{results[0], element, indexer.values().at(point), monoid, nullptr}}};
  if (isMean) {
    // One for each point: a value in each lane, which Triton's interpreter wants of atomics.
    const Node *index = indexer.indexNode(0, 0, point);
    const Node *isThere =
        program.nodes.map("ge", DType::Bool, {index, program.nodes.integer(0, DType::I64)});
    const Node *one = program.nodes.map(
        "where", type, {isThere, number(program, 1, type), number(program, 0, type)});
    added.stores.push_back({results[1], element, one, monoid, nullptr});
  }
  program.stages.push_back(std::move(added));
}

Lazy writeByElements(Program &program, const Tensors &make, const IndexedOperands &operands) {
  const auto kept = std::make_shared<const IndexedOperands>(operands);
  return make.make(
      operands.table.shape, operands.table.dtype, [&program, &make, kept](const Point &element) {
        const definition::Indexing &indexing = kept->indexing;
        const Indexer indexer(program, make, *kept);
        const DType type = kept->table.dtype;
        const Joining joining = joiningOf(indexing.meeting);
        std::vector<IteratorId> iterators;
        const Point point = indexer.pointOf(element, iterators);
        const Node *isHere = indexer.leadsTo(point, element);
        const Node *share = program.nodes.map(
            "where", type,
            {isHere, indexer.values().at(point), number(program, joining.identity, type)});
        const Node *met = program.nodes.reduce(joining.monoid, type, iterators, {share});
        const Node *own = kept->table.at(element);
        const bool isMean = indexing.meeting == Meeting::Mean;
        if (indexing.includesTable) {
          met = program.nodes.map(joining.map, type, {own, met});
        }
        if (indexing.includesTable && !isMean) {
          return met;
        }
        const DType counted = isMean ? type : DType::I32;
        const Node *hits = program.nodes.map(
            "where", counted, {isHere, number(program, 1, counted), number(program, 0, counted)});
        const Node *count = program.nodes.reduce("sum", counted, iterators, {hits});
        const Node *isMet =
            program.nodes.map("gt", DType::Bool, {count, number(program, 0, counted)});
        if (isMean) {
          const Node *all =
              indexing.includesTable
                  ? program.nodes.map("add", type, {count, number(program, 1, type)})
                  : program.nodes.map("maximum", type, {count, number(program, 1, type)});
          met = program.nodes.map("div", type, {met, all});
        }
        return indexing.includesTable ? met : program.nodes.map("where", type, {isMet, met, own});
      });
}

} // namespace nereid::generator
