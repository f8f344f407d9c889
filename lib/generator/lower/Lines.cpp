// SPDX-License-Identifier: Apache-2.0
// Lines as stages, see Lines.h.
#include "lib/generator/lower/Lines.h"

#include "lib/definition/operations/indices/Along.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Names.h"

#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

Point with(Point point, size_t dim, Affine value) {
  point[dim] = std::move(value);
  return point;
}

BufferId temporary(Program &program, const char *hint, const Shape &shape, DType dtype) {
  Buffer buffer;
  buffer.name = freeName(program, hint);
  buffer.dtype = dtype;
  buffer.role = BufferRole::Temporary;
  buffer.sizes = shape;
  buffer.strides = contiguousStrides(shape);
  return program.add(std::move(buffer));
}

const Node *reference(Program &program, BufferId buffer, const Point &point) {
  NodeParts parts{NodeKind::Ref, program.buffers[buffer].dtype};
  parts.buffer = buffer;
  parts.indices = point;
  return program.nodes.make(std::move(parts));
}

const Node *picked(Program &program, const Node *tuple, uint32_t component, DType dtype,
                   const std::vector<Affine> &at) {
  NodeParts parts{NodeKind::Pick, dtype};
  parts.inputs = {tuple};
  parts.component = component;
  parts.indices = at;
  return program.nodes.make(std::move(parts));
}

} // namespace

Point Lines::freshPoint(const Shape &shape) {
  Point point;
  for (const Polynomial &size : shape) {
    point.push_back(Affine::iterator(program.space.iterators.add(size, "i")));
  }
  return point;
}

Lazy Lines::searched(bool isLargest, const Lazy &x, const std::vector<size_t> &dims,
                     bool keepsDims) {
  auto isReduced = [dims](size_t dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  };
  Shape shape;
  for (size_t dim = 0; dim < x.shape.size(); ++dim) {
    if (!isReduced(dim) || keepsDims) {
      shape.push_back(isReduced(dim) ? Polynomial(1) : x.shape[dim]);
    }
  }
  return make.make(
      shape, DType::I64, [this, isLargest, x, keepsDims, isReduced](const Point &point) {
        std::vector<IteratorId> iterators;
        Point from;
        Affine position;
        size_t next = 0;
        for (size_t dim = 0; dim < x.shape.size(); ++dim) {
          if (!isReduced(dim)) {
            from.push_back(point[next++]);
            continue;
          }
          iterators.push_back(program.space.iterators.add(x.shape[dim], "r"));
          from.push_back(Affine::iterator(iterators.back()));
          position = position * x.shape[dim] + from.back();
          next += keepsDims ? 1 : 0;
        }
        if (iterators.empty()) { // a tensor without dimensions is one element
          return program.nodes.integer(0, DType::I64);
        }
        const Node *best = program.nodes.reduce(isLargest ? "argmax" : "argmin", x.dtype, iterators,
                                                {x.at(from), program.nodes.index(position)});
        return picked(program, best, 1, DType::I64, {});
      });
}

// ---- lines ----

/// What a line reads twice, or with reductions in it, is stored first.
Lazy Lines::plain(const Lazy &x) {
  const Node *value = x.at(freshPoint(x.shape));
  const Node *inner = value;
  while (isMap(*inner, "cast")) {
    inner = inner->inputs[0];
  }
  if (isAccess(*inner)) {
    return x;
  }
  const BufferId buffer = temporary(program, "line", x.shape, x.dtype);
  make.store("line", {{buffer, x}});
  return make.make(x.shape, x.dtype, [this, buffer](const Point &point) {
    return reference(program, buffer, point);
  });
}

Lines::Line &Lines::scanLine(const std::string &monoid, const Lazy &x, int source, size_t dim) {
  const Key key(monoid, {source, static_cast<int64_t>(dim)});
  auto [found, isNew] = lines.try_emplace(key);
  Line &line = found->second;
  if (!isNew) {
    return line;
  }
  line.x = x;
  line.point = freshPoint(x.shape);
  const IteratorId bound = program.space.iterators.add(x.shape[dim], "s");
  NodeParts parts{NodeKind::Scan, x.dtype};
  parts.name = monoid;
  parts.iterators = {bound};
  parts.inputs = {x.at(with(line.point, dim, Affine::iterator(bound)))};
  if (monoid == "cummax" || monoid == "cummin") {
    parts.inputs.push_back(program.nodes.index(Affine::iterator(bound)));
  } else if (monoid == "logsumexp") {
    parts.inputs.push_back(program.nodes.real(1, x.dtype));
  }
  parts.indices = {line.point[dim]};
  line.node = program.nodes.make(std::move(parts));
  line.stage = program.stages.size();
  program.stages.push_back({monoid, {}});
  return line;
}

Lines::Line &Lines::orderLine(const Lazy &given, int source, size_t dim, bool isDescending) {
  const Key key(isDescending ? "descending" : "ascending", {source, static_cast<int64_t>(dim)});
  auto [found, isNew] = lines.try_emplace(key);
  Line &line = found->second;
  if (!isNew) {
    return line;
  }
  line.x = plain(given);
  line.point = freshPoint(line.x.shape);
  const IteratorId bound = program.space.iterators.add(line.x.shape[dim], "s");
  NodeParts parts{NodeKind::Order, line.x.dtype};
  parts.iterators = {bound};
  parts.inputs = {line.x.at(with(line.point, dim, Affine::iterator(bound)))};
  parts.isDescending = isDescending;
  line.node = program.nodes.make(std::move(parts));
  line.stage = program.stages.size();
  program.stages.push_back({"sort", {}});
  return line;
}

/// The tensor as a temporary of the line's stage, made when it is asked for.
LineTensor Lines::stored(const Line &line, Shape shape, const Node *value, const Node *guard) {
  LineTensor made;
  made.result = std::make_shared<LineResult>(LineResult{line.stage, line.point, value, guard});
  auto buffer = std::make_shared<std::optional<BufferId>>();
  made.tensor = make.make(shape, value->dtype,
                          [this, shape, buffer, result = made.result](const Point &point) {
                            if (!*buffer) {
                              *buffer = temporary(program, "found", shape, result->value->dtype);
                              program.stages[result->stage].stores.push_back(
                                  {**buffer, result->point, result->value, "", result->guard});
                            }
                            return reference(program, **buffer, point);
                          });
  return made;
}

/// Of lines of one element.
LineTensor Lines::constant(const Lazy &x, const Shape &shape, bool isPosition) const {
  if (!isPosition) {
    return {make.make(shape, x.dtype, x.at), nullptr};
  }
  const Node *zero = program.nodes.integer(0, DType::I64);
  return {make.make(shape, DType::I64, [zero](const Point &) { return zero; }), nullptr};
}

LineTensor Lines::scanned(const std::string &op, const Lazy &x, int source, size_t dim) {
  const bool isExtremum = op.starts_with("cummax") || op.starts_with("cummin");
  const bool isPosition = op.ends_with("_indices");
  if (x.shape[dim].isOne()) {
    return constant(x, x.shape, isPosition);
  }
  if (isExtremum) {
    const Line &line = scanLine(op.substr(0, 6), x, source, dim);
    const DType dtype = isPosition ? DType::I64 : x.dtype;
    return stored(line, x.shape, picked(program, line.node, isPosition ? 1 : 0, dtype, {}),
                  nullptr);
  }
  if (op == "logcumsumexp") {
    const Line &line = scanLine("logsumexp", x, source, dim);
    const Node *most = picked(program, line.node, 0, x.dtype, {});
    const Node *sum = picked(program, line.node, 1, x.dtype, {});
    const Node *infinite = program.nodes.real(std::numeric_limits<double>::infinity(), x.dtype);
    const Node *logarithm =
        program.nodes.map("add", x.dtype, {program.nodes.map("log", x.dtype, {sum}), most});
    const Node *isInfinite = program.nodes.map("eq", DType::Bool, {most, infinite});
    return stored(line, x.shape,
                  program.nodes.map("where", x.dtype, {isInfinite, infinite, logarithm}), nullptr);
  }
  const Line &line = scanLine(op == "cumsum" ? "sum" : "prod", x, source, dim);
  return stored(line, x.shape, line.node, nullptr);
}

Lazy Lines::atPosition(const Lazy &x, size_t dim, const Lazy &positions, bool hasLine) const {
  return make.make(positions.shape, x.dtype, [x, dim, positions, hasLine](const Point &point) {
    const Affine at = Affine::data(positions.at(point), x.shape[dim]);
    Point from = point;
    if (hasLine) {
      from[dim] = at;
    } else {
      from.insert(from.begin() + static_cast<ptrdiff_t>(dim), at);
    }
    return x.at(from);
  });
}

LineTensor Lines::sorted(const definition::Node &node, const Lazy &x, size_t dim) {
  const bool isPosition = definition::findPairOfIndices(node.op) != nullptr;
  const bool isTopk = node.op.starts_with("topk"), isMedian = node.op.starts_with("median");
  const bool isOne = isMedian || node.op.starts_with("kthvalue");
  const definition::SortedPart part = definition::sortedPart(node, 1);
  const int64_t k = isTopk ? part.count : isOne && !isMedian ? part.first + 1 : -1;
  const Polynomial extent = x.shape[dim];
  if (extent.isOne()) {
    const bool hasDim = !isOne || definition::keepsDim(node);
    Shape all = x.shape;
    all[dim] = k == 0 ? Polynomial(0) : extent;
    const LineTensor made = constant(x, all, isPosition);
    return hasDim ? made : LineTensor{make.dropDim(made.tensor, dim), nullptr};
  }
  Line &line = orderLine(x, node.inputs[0], dim, part.isDescending);
  Shape shape = x.shape;
  const Node *guard = nullptr;
  if (k >= 0 && extent != Polynomial(k)) {
    shape[dim] = k;
    guard = program.nodes.map(
        "lt", DType::Bool,
        {program.nodes.index(line.point[dim]), program.nodes.integer(k, DType::I64)});
  }
  const Node *position = picked(program, line.node, 1, DType::I64, {line.point[dim]});
  if (!isOne && isPosition) {
    return stored(line, shape, position, guard);
  }
  if (!isOne) {
    const Node *value = line.x.at(with(line.point, dim, Affine::data(position, extent)));
    return stored(line, shape, value, guard);
  }
  const Lazy all = stored(line, shape, position, guard).tensor;
  Lazy place; // which of the sorted ones
  if (isMedian) {
    const std::optional<int64_t> length = extent.constant();
    const Polynomial middle =
        length ? Polynomial((*length - 1) / 2) : program.space.symbols.addQuotient(extent - 1, 2);
    place = make.constant(program.nodes.index(Affine(middle)));
    if (isFloat(x.dtype)) { // the first NaN, which stand last
      const Lazy nans =
          make.reduce("sum", make.cast(make.map("ne", {line.x, line.x}), DType::I64), {dim}, true);
      const Node *none = program.nodes.integer(0, DType::I64);
      const Lazy begin =
          make.map("sub", {make.constant(program.nodes.index(Affine(extent))), nans});
      const Lazy chosen =
          make.map("where", {make.map("gt", {nans, make.constant(none)}), begin, place});
      const BufferId buffer = temporary(program, "middle", chosen.shape, DType::I64);
      make.store("middle", {{buffer, chosen}});
      place = make.make(chosen.shape, DType::I64, [this, buffer](const Point &point) {
        return reference(program, buffer, point);
      });
    }
  }
  Shape kept = shape;
  kept[dim] = 1;
  Lazy positions = make.make(kept, DType::I64, [=](const Point &point) {
    if (!isMedian) {
      return all.at(with(point, dim, Affine(k - 1)));
    }
    const Affine at = place.shape.empty() ? Affine(place.at({})->indices[0])
                                          : Affine::data(place.at(point), extent);
    return all.at(with(point, dim, at));
  });
  if (!definition::keepsDim(node)) {
    positions = make.dropDim(positions, dim);
  }
  return {isPosition ? positions : atPosition(line.x, dim, positions, definition::keepsDim(node)),
          nullptr};
}

} // namespace nereid::generator
