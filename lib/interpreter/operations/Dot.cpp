// SPDX-License-Identifier: Apache-2.0
// Matrix products. Floats are summed in double (float64: with fused multiply-add in long double)
// and rounded once at the end, so the result is more exact than any order of roundings a target
// takes; TF32 requests are read exactly as well. Integers wrap in the accumulator's width.
#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {
namespace {

struct Sizes {
  size_t batch, m, n, k;
};

Sizes sizesOf(const Tile &a, const Tile &b) {
  const size_t rank = a.shape.size();
  return {rank == 3 ? static_cast<size_t>(a.shape[0]) : 1, static_cast<size_t>(a.shape[rank - 2]),
          static_cast<size_t>(b.shape[rank - 1]), static_cast<size_t>(a.shape[rank - 1])};
}

/// Sums a[i,k] * b[k,j] over k onto c[i,j] in type Sum.
template <class Sum, class Read, class Write>
void multiply(const Tile &a, const Tile &b, const Tile &c, Read read, Write write) {
  const Sizes sizes = sizesOf(a, b);
  for (size_t row = 0; row < sizes.batch * sizes.m; ++row) {
    const size_t firstB = row / sizes.m * sizes.k * sizes.n;
    for (size_t j = 0; j < sizes.n; ++j) {
      Sum sum = read(c, row * sizes.n + j);
      for (size_t k = 0; k < sizes.k; ++k) {
        sum += read(a, row * sizes.k + k) * read(b, firstB + k * sizes.n + j);
      }
      write(row * sizes.n + j, sum);
    }
  }
}

/// Decoding an element once beats decoding it for every product it takes part in.
std::vector<double> numbersOf(const Tile &tile) {
  std::vector<double> numbers(tile.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = tile.number(i);
  }
  return numbers;
}

template <class Sum> void multiplyFloats(const Tile &a, const Tile &b, const Tile &c, Tile &out) {
  const std::vector<double> left = numbersOf(a), right = numbersOf(b), start = numbersOf(c);
  auto read = [&](const Tile &tile, size_t i) -> Sum {
    return &tile == &a ? left[i] : &tile == &b ? right[i] : start[i];
  };
  multiply<Sum>(a, b, c, read, [&](size_t i, Sum sum) {
    out.at(i) = encodeFloat(static_cast<double>(sum), out.type);
  });
}

bool dot(Instance &instance, mlir::Operation *op) {
  const Tile a = instance.operand(op, 0), b = instance.operand(op, 1), c = instance.operand(op, 2);
  const Sizes sizes = sizesOf(a, b);
  if (!instance.charge(op, uint64_t(sizes.batch) * sizes.m * sizes.n * sizes.k)) {
    return false;
  }
  Tile result = c.like(c.type);
  if (!c.type.isFloat()) {
    multiply<uint64_t>(
        a, b, c, [](const Tile &tile, size_t i) { return static_cast<uint64_t>(tile.integer(i)); },
        [&](size_t i, uint64_t sum) { result.at(i) = sum & c.type.mask(); });
  } else if (c.type.kind == Kind::F64) {
    multiplyFloats<long double>(a, b, c, result);
  } else {
    multiplyFloats<double>(a, b, c, result);
  }
  return instance.finish(op, std::move(result));
}

} // namespace

void addDotHandlers(HandlerTable &table) { table.add<tile::DotOp>(dot); }

} // namespace nereid::interpreter
