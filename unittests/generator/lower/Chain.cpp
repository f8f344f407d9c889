// SPDX-License-Identifier: Apache-2.0
// Steps of random chains, see Chain.h.
#include "unittests/generator/lower/Chain.h"

#include <numeric>

namespace nereid::generator {
namespace {

constexpr size_t rankAtMost = 5;
constexpr int64_t elementsAtMost = 400;

} // namespace

Chain::Chain(unsigned number, bool hasSymbols, Steps steps)
    : random(number), hasSymbols(hasSymbols), steps(steps) {
  Buffer x{"x", DType::F32, BufferRole::Input, {}, {}, {}, {}};
  Dense::Position shape;
  for (unsigned dim = 0, rank = 1 + draw(3); dim < rank; ++dim) {
    x.sizes.push_back(size(1 + draw(5)));
    shape.push_back(valueOf(x.sizes.back()));
  }
  x.strides = contiguousStrides(x.sizes);
  int64_t next = 0;
  dense = Dense::make(shape, [&](const auto &) { return static_cast<double>(next++); });
  input = dense.elements;
  lazy = make.input(program.add(std::move(x)));
}

void Chain::step() {
  const size_t rank = lazy.shape.size();
  const size_t dim = rank == 0 ? 0 : draw(static_cast<unsigned>(rank));
  if (rank == 0) {
    grow(0);
    return;
  }
  switch (draw(11)) {
  case 0:
    permuteAll();
    break;
  case 1:
  case 2:
    regroup(dim);
    break;
  case 3:
    cut(dim);
    break;
  case 4:
    lazy = make.flip(lazy, dim);
    dense = flip(dense, dim);
    break;
  case 5:
    grow(dim);
    break;
  case 6:
    padSome(dim);
    break;
  case 7:
    join(dim);
    break;
  case 8:
    lookThroughWindows(dim);
    break;
  case 9:
    steps == Steps::Pointwise ? addOrScan(dim) : reduceOne(dim);
    break;
  default:
    addOrScan(dim);
  }
}

/// Stores the result; no step after it.
void Chain::finish() {
  Buffer y{"y", DType::F32, BufferRole::Output, lazy.shape, contiguousStrides(lazy.shape), {}, {}};
  make.store("chain", {{program.add(std::move(y)), lazy}});
}

EvaluationInput Chain::data() const {
  EvaluationInput result;
  result.sizes = values;
  result.memory["x"] = input;
  return result;
}

int64_t Chain::valueOf(const Polynomial &value) const {
  return *value.evaluate(*program.space.symbols.bind(values));
}
/// A number, or a symbol that has this value.
Polynomial Chain::size(int64_t value, int64_t low) {
  if (!hasSymbols) {
    return value;
  }
  const bool isEven = value % 2 == 0 && draw(2);
  values.push_back(value);
  return program.space.symbols.add({"S" + std::to_string(values.size()), low, {}, isEven ? 2 : 1});
}
bool Chain::isProvedPositive(const Polynomial &value) const {
  return program.space.symbols.isPositive(value);
}

void Chain::permuteAll() {
  std::vector<size_t> order(lazy.shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  lazy = make.permute(lazy, order);
  dense = permute(dense, order);
}

void Chain::reshapeTo(const Shape &shape) {
  Dense::Position numbers;
  for (const Polynomial &one : shape) {
    numbers.push_back(valueOf(one));
  }
  lazy = make.reshape(lazy, shape);
  dense = reshape(dense, numbers);
}

/// Merges neighbours, or all, or parts a dimension into factors.
void Chain::regroup(size_t dim) {
  Shape shape = lazy.shape;
  if (draw(3) == 0) {
    Polynomial all = 1;
    for (const Polynomial &one : shape) {
      all = all * one;
    }
    shape = {all};
    dim = 0;
  } else if (dim + 1 < shape.size() && draw(2)) {
    shape[dim] = shape[dim] * shape[dim + 1];
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(dim) + 1);
  }
  std::vector<Polynomial> factors = {2, 3};
  for (const Polynomial &one : lazy.shape) {
    factors.push_back(one);
  }
  Polynomial factor = factors[static_cast<size_t>(draw(static_cast<unsigned>(factors.size())))];
  if (auto other = shape[dim].dividedBy(factor); other && shape.size() < rankAtMost) {
    shape[dim] = *other;
    shape.insert(shape.begin() + static_cast<ptrdiff_t>(dim) + draw(2), factor);
  }
  reshapeTo(shape);
}

void Chain::cut(size_t dim) {
  const Polynomial whole = lazy.shape[dim];
  Polynomial start = 0, count = whole, step = 1;
  switch (draw(3)) {
  case 0: // every second
    count = program.space.symbols.addQuotient(whole + 1, 2);
    step = 2;
    break;
  case 1: // without the ends
    start = isProvedPositive(whole - 1) ? 1 : 0;
    count = whole - start;
    count = isProvedPositive(count - 1) ? count - 1 : count;
    break;
  default: { // from a size on
    start = size(draw(static_cast<unsigned>(valueOf(whole))), 0);
    program.space.symbols.assume(whole - start - 1);
    count = whole - start;
  }
  }
  int64_t first = valueOf(start), many = valueOf(count), by = valueOf(step);
  lazy = make.slice(lazy, dim, start, count, step);
  dense = slice(dense, dim, first, many, by);
}

void Chain::grow(size_t dim) {
  if (lazy.shape.size() == rankAtMost || elements() * 3 > elementsAtMost) {
    return;
  }
  Polynomial times = size(1 + draw(3));
  lazy = make.insertDim(lazy, dim);
  Shape shape = lazy.shape;
  shape[dim] = times;
  lazy = make.expand(lazy, shape);
  dense = expand(insertDim(dense, dim), dim, valueOf(times));
}

void Chain::padSome(size_t dim) {
  if (elements() * 4 > elementsAtMost) {
    return;
  }
  Polynomial before = draw(2) ? size(draw(3), 0) : Polynomial(draw(3));
  Polynomial after = draw(2) ? before : Polynomial(draw(2));
  lazy = make.pad(lazy, dim, before, after, program.nodes.real(-1, DType::F32));
  dense = pad(dense, dim, valueOf(before), valueOf(after), -1);
}

void Chain::join(size_t dim) {
  if (elements() * 3 > elementsAtMost) {
    return;
  }
  lazy = make.cat({lazy, make.flip(lazy, dim), lazy}, dim);
  dense = cat({dense, flip(dense, dim), dense}, dim);
}

void Chain::lookThroughWindows(size_t dim) {
  const Polynomial count = lazy.shape[dim] - 1;
  if (lazy.shape.size() == rankAtMost || !isProvedPositive(count) ||
      elements() * 2 > elementsAtMost) {
    return;
  }
  dense = windows(dense, dim, 2, 1, 1, valueOf(count));
  lazy = make.windows(lazy, dim, 2, 1, 1, count);
}

void Chain::reduceOne(size_t dim) {
  const bool isMaximum = draw(3) == 0, keepsDim = draw(2);
  lazy = make.reduce(isMaximum ? "max" : "sum", lazy, {dim}, keepsDim);
  dense = reduce(dense, dim, isMaximum, keepsDim);
}

void Chain::addOrScan(size_t dim) {
  if (draw(2) && steps == Steps::All) {
    const bool isReverse = draw(2);
    lazy = make.scan("sum", lazy, dim, isReverse);
    dense = runningSum(dense, dim, isReverse);
  } else {
    lazy = make.map("add", {lazy, make.flip(lazy, dim)});
    dense = add(dense, flip(dense, dim));
  }
}

} // namespace nereid::generator
