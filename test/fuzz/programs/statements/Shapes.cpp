// SPDX-License-Identifier: Apache-2.0
// Statements that move elements: broadcasts, reshapes, permutations, joins, splits, gathers.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::fuzz {

void broadcasting(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || a.shape.size() > 2 || countOf(a.shape) > 128) {
    return;
  }
  size_t axis = static_cast<size_t>(w.pick(static_cast<int64_t>(a.shape.size()) + 1));
  Shape shape = a.shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
  Value wide = w.bind(fmt::format("tl.expand_dims({}, {})", a.name, axis), a.type, shape, true);
  shape[axis] = int64_t{1} << (1 + w.pick(3));
  w.bind(fmt::format("tl.broadcast_to({}, {})", wide.name, fmt::join(shape, ", ")), a.type, shape,
         true);
}

void reshaping(Writer &w) {
  Value a = w.any();
  if (a.shape.size() < 2) {
    if (a.shape.size() == 1 && a.shape[0] >= 8) {
      w.drawn(Class::Reshape);
      w.bind(fmt::format("tl.reshape({}, ({}, 4))", a.name, a.shape[0] / 4), a.type,
             {a.shape[0] / 4, 4}, true);
    }
    return;
  }
  w.drawn(Class::Reshape);
  if (w.chance(40)) {
    w.bind(fmt::format("tl.reshape({}, ({},))", a.name, countOf(a.shape)), a.type,
           {countOf(a.shape)}, true);
    return;
  }
  std::vector<size_t> order(a.shape.size());
  for (size_t d = 0; d < order.size(); ++d) {
    order[d] = d;
  }
  w.shuffle(order);
  Shape shape;
  for (size_t d : order) {
    shape.push_back(a.shape[d]);
  }
  w.bind(fmt::format("tl.permute({}, ({}))", a.name, fmt::join(order, ", ")), a.type, shape, true);
}

void joiningAndSplitting(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || a.shape.size() > 3 || a.type == "int1" || countOf(a.shape) > 256) {
    return;
  }
  w.drawn(Class::JoinSplit);
  if (a.shape.back() == 2 && a.shape.size() > 1) {
    Shape shape(a.shape.begin(), a.shape.end() - 1);
    Value left{w.name(), a.type, shape}, right{w.name(), a.type, shape};
    w.line(fmt::format("{}, {} = tl.split({})", left.name, right.name, a.name));
    w.keep(left);
    w.keep(right);
    return;
  }
  Value b = w.like(a.shape, isReal(a.type));
  Shape shape = a.shape;
  shape.push_back(2);
  w.bind(fmt::format("tl.join({}, {}.to(tl.{}))", a.name, b.name, a.type), a.type, shape, true);
}

/// Elements of pairs, picked by sums of products with a mask: how sorting networks are written.
/// Some masks pick, some do nearly.
void pickingBySums(Writer &w) {
  Value a = w.any();
  const int64_t count = countOf(a.shape);
  if (a.shape.empty() || a.type == "int1" || count < 4 || count > 256 || count % 2 != 0) {
    return;
  }
  int64_t stride = 1;
  while (stride * 4 <= count && w.chance(60)) {
    stride *= 2;
  }
  const std::string pairs = fmt::format("({}, 2, {})", count / (2 * stride), stride);
  const std::string at = "tl.arange(0, 2)[None, :, None]";
  const std::vector<std::string> masks = {at, "(1 - " + at + ")", "(" + at + " ^ 1)",
                                          "(" + at + " == 0).to(tl.int32)", "(2 - " + at + ")"};
  w.drawn(Class::PickedBySums);
  const Value one = w.bind(
      fmt::format("tl.sum(tl.reshape({}, {}) * {}, axis=1).to(tl.{})", a.name, pairs,
                  masks[static_cast<size_t>(w.pick(static_cast<int64_t>(masks.size())))], a.type),
      a.type, {count / (2 * stride), stride}, false);
  const Value both = w.bind(fmt::format("tl.broadcast_to({}[:, None, :], {})", one.name, pairs),
                            a.type, {count / (2 * stride), 2, stride}, true);
  w.bind(fmt::format("tl.reshape({}, ({},))", both.name, fmt::join(a.shape, ", ")), a.type, a.shape,
         true);
}

void gathering(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || a.type == "int1") {
    return;
  }
  w.drawn(Class::Gather);
  auto axis = static_cast<size_t>(w.pick(static_cast<int64_t>(a.shape.size())));
  Value index = w.like(a.shape, false);
  w.bind(fmt::format("tl.gather({}, ({} & {}).to(tl.int32), {})", a.name, index.name,
                     a.shape[axis] - 1, axis),
         a.type, a.shape, true);
}

} // namespace nereid::fuzz
