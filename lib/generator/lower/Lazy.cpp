// SPDX-License-Identifier: Apache-2.0
// Views as index arithmetic, operations as nodes, see Lazy.h.
#include "lib/generator/lower/Lazy.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Types.h"

#include <algorithm>

namespace nereid::generator {
namespace {

template <class T> std::vector<T> with(std::vector<T> list, size_t at, T value) {
  list[at] = std::move(value);
  return list;
}

template <class T> std::vector<T> without(std::vector<T> list, size_t at) {
  list.erase(list.begin() + static_cast<ptrdiff_t>(at));
  return list;
}

Polynomial count(const Shape &shape, size_t begin, size_t end) {
  Polynomial result = 1;
  for (size_t dim = begin; dim < end; ++dim) {
    result = result * shape[dim];
  }
  return result;
}

/// Dimensions [fromBegin, fromEnd) become [toBegin, toEnd).
struct Regrouping {
  size_t fromBegin, fromEnd, toBegin, toEnd;
};

/// The smallest groups with as many elements: whatever stays as it is asks for no division.
std::vector<Regrouping> regroup(const Shape &from, const Shape &to) {
  std::vector<Regrouping> result;
  size_t fromBegin = 0, toBegin = 0;
  for (size_t fromEnd = 0; fromEnd <= from.size(); ++fromEnd) {
    for (size_t toEnd = toBegin; toEnd <= to.size(); ++toEnd) {
      bool isEmpty = fromEnd == fromBegin && toEnd == toBegin;
      if (!isEmpty && count(from, fromBegin, fromEnd) == count(to, toBegin, toEnd)) {
        result.push_back({fromBegin, fromEnd, toBegin, toEnd});
        fromBegin = fromEnd;
        toBegin = toEnd;
        break;
      }
    }
  }
  if (fromBegin < from.size() || toBegin < to.size()) {
    result.push_back({fromBegin, from.size(), toBegin, to.size()});
  }
  return result;
}

} // namespace

Shape broadcast(const std::vector<Lazy> &operands) {
  size_t rank = 0;
  for (const Lazy &operand : operands) {
    rank = std::max(rank, operand.shape.size());
  }
  Shape shape(rank, 1);
  for (const Lazy &operand : operands) {
    for (size_t dim = 0; dim < operand.shape.size(); ++dim) {
      Polynomial &size = shape[rank - operand.shape.size() + dim];
      size = size.isOne() ? operand.shape[dim] : size;
    }
  }
  return shape;
}

Lazy Tensors::make(Shape shape, DType dtype, std::function<const Node *(const Point &)> at) const {
  auto known = std::make_shared<std::map<Point, const Node *>>();
  return {std::move(shape), dtype, [known, at = std::move(at)](const Point &point) {
            auto found = known->find(point);
            return found != known->end() ? found->second : (*known)[point] = at(point);
          }};
}

Lazy Tensors::input(BufferId buffer) const {
  const Buffer &from = program.buffers[buffer];
  return make(from.sizes, from.dtype, [this, buffer](const Point &point) {
    return program.nodes.load(buffer, program.buffers[buffer].dtype, point);
  });
}

Lazy Tensors::constant(const Node *value) const {
  return {{}, value->dtype, [value](const Point &) { return value; }};
}

// ---- views ----

Lazy Tensors::permute(const Lazy &x, std::vector<size_t> order) const {
  Shape shape;
  for (size_t dim : order) {
    shape.push_back(x.shape[dim]);
  }
  return {shape, x.dtype, [x, order = std::move(order)](const Point &point) {
            Point from(point.size());
            for (size_t dim = 0; dim < order.size(); ++dim) {
              from[order[dim]] = point[dim];
            }
            return x.at(from);
          }};
}

Lazy Tensors::expand(const Lazy &x, Shape shape) const {
  const size_t added = shape.size() - x.shape.size();
  return {std::move(shape), x.dtype, [x, added](const Point &point) {
            Point from(point.begin() + static_cast<ptrdiff_t>(added), point.end());
            for (size_t dim = 0; dim < from.size(); ++dim) {
              from[dim] = x.shape[dim].isOne() ? Affine(0) : from[dim];
            }
            return x.at(from);
          }};
}

Lazy Tensors::reshape(const Lazy &x, Shape shape) const {
  std::vector<Regrouping> groups = regroup(x.shape, shape);
  return {shape, x.dtype, [this, x, shape, groups = std::move(groups)](const Point &point) {
            Point from(x.shape.size());
            for (const Regrouping &group : groups) {
              Affine linear;
              for (size_t dim = group.toBegin; dim < group.toEnd; ++dim) {
                linear = linear * shape[dim] + point[dim];
              }
              for (size_t dim = group.fromEnd; dim-- > group.fromBegin;) {
                bool isLast = dim == group.fromBegin; // the rest lies inside already
                from[dim] = isLast ? linear : remainder(linear, x.shape[dim], program.space);
                linear = isLast ? linear : floorDivide(linear, x.shape[dim], program.space);
              }
            }
            return x.at(from);
          }};
}

Lazy Tensors::slice(const Lazy &x, size_t dim, const Polynomial &start, const Polynomial &count,
                    const Polynomial &step) const {
  return {with(x.shape, dim, count), x.dtype, [x, dim, start, step](const Point &point) {
            return x.at(with(point, dim, point[dim] * step + Affine(start)));
          }};
}

Lazy Tensors::flip(const Lazy &x, size_t dim) const {
  return {x.shape, x.dtype, [x, dim](const Point &point) {
            return x.at(with(point, dim, Affine(x.shape[dim] - 1) - point[dim]));
          }};
}

Lazy Tensors::insertDim(const Lazy &x, size_t dim) const {
  Shape shape = x.shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(dim), Polynomial(1));
  return {shape, x.dtype, [x, dim](const Point &point) { return x.at(without(point, dim)); }};
}

Lazy Tensors::dropDim(const Lazy &x, size_t dim) const {
  return {without(x.shape, dim), x.dtype, [x, dim](const Point &point) {
            Point from = point;
            from.insert(from.begin() + static_cast<ptrdiff_t>(dim), Affine(0));
            return x.at(from);
          }};
}

Lazy Tensors::windows(const Lazy &x, size_t dim, const Polynomial &size, const Polynomial &step,
                      const Polynomial &dilation, const Polynomial &count) const {
  Shape shape = with(x.shape, dim, count);
  shape.push_back(size);
  return {shape, x.dtype, [x, dim, step, dilation](const Point &point) {
            Point from(point.begin(), point.end() - 1);
            from[dim] = point[dim] * step + point.back() * dilation;
            return x.at(from);
          }};
}

const Node *Tensors::compare(const std::string &name, const Affine &a, const Affine &b) const {
  return program.nodes.map(name, DType::Bool, {program.nodes.index(a), program.nodes.index(b)});
}

Lazy Tensors::pad(const Lazy &x, size_t dim, const Polynomial &before, const Polynomial &after,
                  const Node *value) const {
  Shape shape = with(x.shape, dim, x.shape[dim] + before + after);
  return make(shape, x.dtype, [this, x, dim, before, value](const Point &point) {
    Affine from = point[dim] - Affine(before);
    const Node *isInside =
        program.nodes.map("logical_and", DType::Bool,
                          {compare("ge", from, 0), compare("lt", from, Affine(x.shape[dim]))});
    return program.nodes.map("where", x.dtype, {isInside, x.at(with(point, dim, from)), value});
  });
}

Lazy Tensors::cat(const std::vector<Lazy> &parts, size_t dim) const {
  Polynomial total;
  for (const Lazy &part : parts) {
    total = total + part.shape[dim];
  }
  Shape shape = with(parts[0].shape, dim, total);
  return make(shape, parts[0].dtype, [this, parts, dim, total](const Point &point) {
    // From the last part on, so that each one lies where the ones before do not.
    Polynomial begin = total - parts.back().shape[dim];
    const Node *value = parts.back().at(with(point, dim, point[dim] - Affine(begin)));
    for (size_t number = parts.size() - 1; number-- > 0;) {
      const Polynomial end = begin;
      begin = begin - parts[number].shape[dim];
      const Node *own = parts[number].at(with(point, dim, point[dim] - Affine(begin)));
      value = program.nodes.map("where", parts[0].dtype,
                                {compare("lt", point[dim], Affine(end)), own, value});
    }
    return value;
  });
}

// ---- operations ----

Lazy Tensors::map(const std::string &name, std::vector<Lazy> operands) const {
  Shape shape = broadcast(operands);
  for (Lazy &operand : operands) {
    operand = expand(operand, shape);
  }
  auto nodesAt = [operands](const Point &point) {
    std::vector<const Node *> nodes;
    for (const Lazy &operand : operands) {
      nodes.push_back(operand.at(point));
    }
    return nodes;
  };
  // Its type follows from those of operands, which no value is needed for.
  std::vector<Node> types(operands.size());
  std::vector<const Node *> pointers;
  for (size_t i = 0; i < operands.size(); ++i) {
    types[i].dtype = operands[i].dtype;
    pointers.push_back(&types[i]);
  }
  DType dtype = mapType(name, pointers);
  return make(shape, dtype, [this, name, dtype, nodesAt](const Point &point) {
    return program.nodes.map(name, dtype, nodesAt(point));
  });
}

Lazy Tensors::cast(const Lazy &x, DType dtype) const {
  return {x.shape, dtype, [this, x, dtype](const Point &point) {
            const Node *value = x.at(point);
            return value->dtype == dtype ? value : program.nodes.map("cast", dtype, {value});
          }};
}

/// A sum of products over `iterators` as well, as far as both factors have them: one contraction
/// over the dimensions of both. These are taken off. Those of one factor alone stay outside: with
/// them it would be no contraction but a sum of M * N * K terms, which no kernel of products makes.
static const Node *withinProduct(Program &program, const Node *value,
                                 std::vector<IteratorId> &iterators) {
  if (value->kind != NodeKind::Reduce || value->name != "sum" || !isMap(*value->inputs[0], "mul")) {
    return value;
  }
  const std::set<IteratorId> &a = value->inputs[0]->inputs[0]->free;
  const std::set<IteratorId> &b = value->inputs[0]->inputs[1]->free;
  const bool isContraction = !std::includes(a.begin(), a.end(), b.begin(), b.end()) &&
                             !std::includes(b.begin(), b.end(), a.begin(), a.end());
  std::vector<IteratorId> within;
  std::erase_if(iterators, [&](IteratorId each) {
    const bool isTaken = !isContraction || (a.contains(each) && b.contains(each)) ||
                         program.space.iterators[each].extent.isOne();
    if (isTaken) {
      within.push_back(each);
    }
    return isTaken;
  });
  within.insert(within.end(), value->iterators.begin(), value->iterators.end());
  return program.nodes.reduce("sum", value->dtype, within, {value->inputs[0]});
}

Lazy Tensors::reduce(const std::string &monoid, const Lazy &x, const std::vector<size_t> &dims,
                     bool keepsDims) const {
  auto isReduced = [dims](size_t dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  };
  Shape shape;
  for (size_t dim = 0; dim < x.shape.size(); ++dim) {
    if (!isReduced(dim)) {
      shape.push_back(x.shape[dim]);
    } else if (keepsDims) {
      shape.push_back(1);
    }
  }
  return make(shape, x.dtype, [this, monoid, x, keepsDims, isReduced](const Point &point) {
    std::vector<IteratorId> iterators;
    Point from;
    size_t next = 0;
    for (size_t dim = 0; dim < x.shape.size(); ++dim) {
      if (isReduced(dim)) {
        iterators.push_back(program.space.iterators.add(x.shape[dim], "r"));
        from.push_back(Affine::iterator(iterators.back()));
        next += keepsDims ? 1 : 0;
      } else {
        from.push_back(point[next++]);
      }
    }
    const Node *value = x.at(from);
    if (monoid == "sum") {
      value = withinProduct(program, value, iterators);
    }
    return program.nodes.reduce(monoid, x.dtype, iterators, {value});
  });
}

Lazy Tensors::scan(const std::string &monoid, const Lazy &x, size_t dim, bool isReverse) const {
  // One line for all positions on it: the same node but for the index at which it is read.
  auto lines = std::make_shared<std::map<Point, IteratorId>>();
  return make(x.shape, x.dtype, [this, monoid, x, dim, isReverse, lines](const Point &point) {
    auto [line, isNew] = lines->emplace(without(point, dim), 0);
    if (isNew) {
      line->second = program.space.iterators.add(x.shape[dim], "s");
    }
    NodeParts parts{NodeKind::Scan, x.dtype};
    parts.name = monoid;
    parts.iterators = {line->second};
    parts.inputs = {x.at(with(point, dim, Affine::iterator(line->second)))};
    parts.indices = {point[dim]};
    parts.isReverse = isReverse;
    return program.nodes.make(std::move(parts));
  });
}

void Tensors::store(const std::string &stage,
                    const std::vector<std::pair<BufferId, Lazy>> &results) const {
  Stage made{stage, {}};
  Point point;
  for (const Polynomial &size : results[0].second.shape) {
    point.push_back(Affine::iterator(program.space.iterators.add(size, "i")));
  }
  for (const auto &[buffer, x] : results) {
    made.stores.push_back({buffer, point, x.at(point), "", nullptr});
  }
  program.stages.push_back(std::move(made));
}

} // namespace nereid::generator
