// SPDX-License-Identifier: Apache-2.0
// A random chain of views, sums and scans: the same tensor lazy, as a program, and dense. Sizes are
// numbers, or symbols that have a value.
#pragma once

#include "lib/generator/lower/Lazy.h"
#include "lib/generator/program/Evaluate.h"
#include "unittests/generator/lower/Dense.h"

#include <random>

namespace nereid::generator {

/// Which steps a chain takes; Reductions: no scans.
enum class Steps : uint8_t { All, Pointwise, Reductions };

/// One tensor, lazy and dense side by side.
class Chain {
public:
  Chain(unsigned number, bool hasSymbols, Steps steps = Steps::All);

  void step();
  /// Stores the result; no step after it.
  void finish();
  EvaluationInput data() const;

  Program program;
  Dense dense;

private:
  int64_t draw(unsigned count) { return static_cast<int64_t>(random() % count); }
  int64_t valueOf(const Polynomial &value) const;
  Polynomial size(int64_t value, int64_t low = 1);
  bool isProvedPositive(const Polynomial &value) const;
  int64_t elements() const { return static_cast<int64_t>(dense.elements.size()); }

  void permuteAll();
  void reshapeTo(const Shape &shape);
  void regroup(size_t dim);
  void cut(size_t dim);
  void grow(size_t dim);
  void padSome(size_t dim);
  void join(size_t dim);
  void lookThroughWindows(size_t dim);
  void reduceOne(size_t dim);
  void addOrScan(size_t dim);

  std::mt19937 random;
  bool hasSymbols;
  Steps steps;
  Tensors make{program};
  Lazy lazy;
  std::vector<int64_t> values;
  std::vector<double> input;
};

} // namespace nereid::generator
