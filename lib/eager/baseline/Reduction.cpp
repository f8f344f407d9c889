// SPDX-License-Identifier: Apache-2.0
// Three ways, by where the reduced elements lie: along the last dimension (rows, the vector unit
// adds neighbours), across it (columns, it adds whole rows), or everything into one element (all
// threads work on pieces, which are then combined).
#include "lib/eager/baseline/Reduction.h"

#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace nereid::eager {
namespace {

using runtime::Tensor;

/// A list of dimensions walked in order; index number i to an offset in elements.
struct Extent {
  std::vector<int64_t> sizes, strides;

  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : sizes) {
      product *= size;
    }
    return product;
  }

  int64_t offset(int64_t index) const {
    int64_t result = 0;
    for (size_t i = sizes.size(); i-- > 0;) {
      result += index % sizes[i] * strides[i];
      index /= sizes[i];
    }
    return result;
  }

  void add(int64_t size, int64_t stride) {
    bool merges = !sizes.empty() && strides.back() == stride * size;
    if (merges) {
      sizes.back() *= size;
      strides.back() = stride;
    } else if (size != 1) {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  }

  /// Takes the innermost dimension away; 1 with stride 0 when there is none.
  std::pair<int64_t, int64_t> takeInner() {
    if (sizes.empty()) {
      return {1, 0};
    }
    std::pair<int64_t, int64_t> inner{sizes.back(), strides.back()};
    sizes.pop_back();
    strides.pop_back();
    return inner;
  }
};

Accumulator identity(OpId op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
  case OpId::prod:
    return {1, 0, 0};
  case OpId::amax:
    return {-infinity, 0, 0};
  case OpId::amin:
    return {infinity, 0, 0};
  default:
    return {0, 0, 0};
  }
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Variances combine by their means' distance (Chan, Golub and LeVeque, 1979).
Accumulator combine(OpId op, const Accumulator &a, const Accumulator &b) {
  int64_t count = a.count + b.count;
  switch (op) {
  case OpId::prod:
    return {a.value * b.value, 0, count};
  case OpId::amax:
    return {std::isnan(b.value) ? b.value : larger(a.value, b.value), 0, count};
  case OpId::amin:
    return {std::isnan(b.value) ? b.value : -larger(-a.value, -b.value), 0, count};
  case OpId::var: {
    if (a.count == 0 || b.count == 0) {
      return a.count == 0 ? b : a;
    }
    double distance = b.value - a.value;
    double share = static_cast<double>(b.count) / static_cast<double>(count);
    return {a.value + distance * share,
            a.squares + b.squares + distance * distance * static_cast<double>(a.count) * share,
            count};
  }
  default:
    return {a.value + b.value, 0, count};
  }
}

/// The loop that carries it: mean adds, std squares.
OpId carrier(OpId op) { return op == OpId::mean ? OpId::sum : op == OpId::std ? OpId::var : op; }

double finish(const ReductionPlan &plan, const Accumulator &total) {
  auto count = static_cast<double>(total.count);
  switch (plan.op) {
  case OpId::mean:
    return total.value / count;
  case OpId::var:
  case OpId::std: {
    double degrees = std::max(0.0, count - static_cast<double>(plan.correction));
    double variance = (total.count == 0 ? 0 : total.squares) / degrees;
    return plan.op == OpId::std ? std::sqrt(variance) : variance;
  }
  default:
    return total.value;
  }
}

void storeResult(const Tensor &out, int64_t index, double value) {
  void *element = const_cast<char *>(elementAt(out.data(), out.dtype(), index));
  storeFromDouble(element, out.dtype(), value);
}

/// Elements [begin, end) of the reduced extent, starting at `base` elements into the tensor.
template <class T>
Accumulator reduceStretch(OpId op, const Tensor &in, int64_t base, const Extent &outer,
                          int64_t innerSize, int64_t innerStride, int64_t begin, int64_t end) {
  constexpr int64_t piece = 4 * stageElements;
  alignas(64) T buffer[piece];
  const TypedKernels<T> &kernels = kernelsFor<T>();
  Accumulator total = identity(op);
  bool isDirect = innerStride == 1 && in.dtype() == dtypeFor<T>;
  while (begin < end) {
    int64_t column = begin % innerSize;
    int64_t run = std::min({innerSize - column, end - begin, piece});
    int64_t at = base + outer.offset(begin / innerSize) + column * innerStride;
    const char *from = elementAt(in.data(), in.dtype(), at);
    const T *values = reinterpret_cast<const T *>(from);
    if (!isDirect) {
      gather<T>(from, in.dtype(), innerStride, buffer, run);
      values = buffer;
    }
    total = combine(op, total, kernels.reduceRow(op, values, run));
    begin += run;
  }
  return total;
}

template <class T>
void reduceRowsWise(const ReductionPlan &plan, const Tensor &in, const Tensor &out,
                    const Extent &kept, Extent reduced, runtime::ThreadPool &pool) {
  OpId op = carrier(plan.op);
  int64_t length = reduced.count();
  auto [innerSize, innerStride] = reduced.takeInner();
  int64_t outputs = kept.count();
  constexpr int64_t chunk = 65536;
  if (outputs < pool.threadCount() && length > 2 * chunk) {
    int64_t pieces = (length + chunk - 1) / chunk;
    for (int64_t i = 0; i < outputs; ++i) {
      std::vector<Accumulator> partial(static_cast<size_t>(pieces));
      int64_t base = kept.offset(i), inner = innerSize, stride = innerStride;
      pool.parallelFor(pieces, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t p = begin; p < end; ++p) {
          int64_t last = std::min(length, (p + 1) * chunk);
          partial[static_cast<size_t>(p)] =
              reduceStretch<T>(op, in, base, reduced, inner, stride, p * chunk, last);
        }
      });
      Accumulator total = identity(op);
      for (const Accumulator &each : partial) {
        total = combine(op, total, each);
      }
      storeResult(out, i, finish(plan, total));
    }
    return;
  }
  int64_t inner = innerSize, stride = innerStride;
  int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(length, 1));
  pool.parallelFor(outputs, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      Accumulator total =
          reduceStretch<T>(op, in, kept.offset(i), reduced, inner, stride, 0, length);
      storeResult(out, i, finish(plan, total));
    }
  });
}

/// A tile of neighbouring results: their inputs lie side by side in every reduced position.
template <class T>
void reduceTile(const ReductionPlan &plan, const Tensor &in, const Tensor &out, int64_t base,
                int64_t stride, const Extent &reduced, int64_t first, int64_t count) {
  alignas(64) T buffer[stageElements], state[stageElements], mean[stageElements];
  const TypedKernels<T> &kernels = kernelsFor<T>();
  OpId op = carrier(plan.op);
  bool isDirect = stride == 1 && in.dtype() == dtypeFor<T>;
  int64_t length = reduced.count();
  auto row = [&](int64_t index) {
    const char *from = elementAt(in.data(), in.dtype(), base + reduced.offset(index));
    if (isDirect) {
      return reinterpret_cast<const T *>(from);
    }
    gather<T>(from, in.dtype(), stride, buffer, count);
    return static_cast<const T *>(buffer);
  };
  OpId firstPass = op == OpId::var ? OpId::sum : op;
  std::fill(state, state + count, static_cast<T>(identity(firstPass).value));
  bool isHalf = in.dtype() == DType::F16 || in.dtype() == DType::BF16;
  if (firstPass == OpId::sum && isHalf && stride == 1 && std::is_same_v<T, float>) {
    const KernelTable &table = kernelTable();
    auto add = in.dtype() == DType::F16 ? table.addHalf : table.addBfloat16;
    for (int64_t i = 0; i < length; ++i) {
      const char *from = elementAt(in.data(), in.dtype(), base + reduced.offset(i));
      add(reinterpret_cast<const uint16_t *>(from), reinterpret_cast<float *>(state), count);
    }
  } else {
    for (int64_t i = 0; i < length; ++i) {
      kernels.accumulateColumns(firstPass, row(i), state, count);
    }
  }
  if (op == OpId::var) {
    for (int64_t i = 0; i < count; ++i) {
      mean[i] = state[i] / static_cast<T>(length);
      state[i] = 0;
    }
    for (int64_t i = 0; i < length; ++i) {
      kernels.accumulateSquares(row(i), mean, state, count);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    auto value = static_cast<double>(state[i]);
    storeResult(out, first + i, finish(plan, {value, value, length}));
  }
}

template <class T>
void reduceColumnsWise(const ReductionPlan &plan, const Tensor &in, const Tensor &out, Extent kept,
                       const Extent &reduced, runtime::ThreadPool &pool) {
  auto inner = kept.takeInner();
  int64_t innerSize = inner.first, stride = inner.second;
  int64_t tile = std::min<int64_t>(stageElements, 256);
  int64_t tilesPerRow = (innerSize + tile - 1) / tile;
  pool.parallelFor(kept.count() * tilesPerRow, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t row = t / tilesPerRow, column = t % tilesPerRow * tile;
      int64_t count = std::min(tile, innerSize - column);
      reduceTile<T>(plan, in, out, kept.offset(row) + column * stride, stride, reduced,
                    row * innerSize + column, count);
    }
  });
}

template <class T>
void reduceTyped(const ReductionPlan &plan, const Tensor &in, const Tensor &out,
                 runtime::ThreadPool &pool) {
  Extent kept, reduced;
  bool innermostIsReduced = true;
  int64_t length = 1;
  for (size_t i = 0; i < in.shape().size(); ++i) {
    (plan.reduced[i] ? reduced : kept).add(in.shape()[i], in.strides()[i]);
    length *= plan.reduced[i] ? in.shape()[i] : 1;
    if (in.shape()[i] != 1) {
      innermostIsReduced = plan.reduced[i];
    }
  }
  // Windows: a few elements each, beside many neighbours.
  constexpr int64_t mostPlaces = 128, fewNeighbours = 16;
  const bool areWindows = innermostIsReduced && length <= mostPlaces && !kept.sizes.empty() &&
                          kept.sizes.back() >= fewNeighbours &&
                          (reduced.sizes.size() > 1 || kept.strides.back() < length);
  if (length == 0) {
    for (int64_t i = 0; i < out.elementCount(); ++i) {
      storeResult(out, i, finish(plan, identity(carrier(plan.op))));
    }
  } else if (innermostIsReduced && !areWindows) {
    reduceRowsWise<T>(plan, in, out, kept, reduced, pool);
  } else {
    reduceColumnsWise<T>(plan, in, out, kept, reduced, pool);
  }
}

template <class T>
void runRowsTyped(const RowPlan &plan, const Tensor &in, const Tensor &out,
                  runtime::ThreadPool &pool) {
  const TypedKernels<T> &kernels = kernelsFor<T>();
  int64_t n = plan.columns;
  auto columns = static_cast<size_t>(n);
  auto whole = [&](const Tensor *tensor) {
    std::vector<T> values(tensor ? columns : 0);
    if (tensor) {
      gather<T>(tensor->data(), tensor->dtype(), 1, values.data(), n);
    }
    return values;
  };
  std::vector<T> weight = whole(plan.weight), bias = whole(plan.bias);
  const T *w = plan.weight ? weight.data() : nullptr, *b = plan.bias ? bias.data() : nullptr;
  bool inPlace = in.dtype() == dtypeFor<T> && out.dtype() == dtypeFor<T>;
  int64_t grain = std::max<int64_t>(1, 32768 / n);
  pool.parallelFor(plan.rows, grain, [&](int64_t begin, int64_t end, int) {
    std::vector<T> buffer(inPlace ? 0 : columns);
    for (int64_t row = begin; row < end; ++row) {
      const char *from = elementAt(in.data(), in.dtype(), row * n);
      char *to = const_cast<char *>(elementAt(out.data(), out.dtype(), row * n));
      const T *values = inPlace ? reinterpret_cast<const T *>(from) : buffer.data();
      T *results = inPlace ? reinterpret_cast<T *>(to) : buffer.data();
      if (!inPlace) {
        gather<T>(from, in.dtype(), 1, buffer.data(), n);
      }
      if (plan.op == OpId::layer_norm) {
        kernels.layerNormRow(values, w, b, static_cast<T>(plan.eps), results, n);
      } else if (plan.op == OpId::rms_norm) {
        kernels.rmsNormRow(values, w, static_cast<T>(plan.eps), results, n);
      } else {
        kernels.softmaxRow(values, results, n, plan.op == OpId::log_softmax);
      }
      if (!inPlace) {
        scatter<T>(buffer.data(), to, out.dtype(), n);
      }
    }
  });
}

/// One after another: sums wrap, so that their order does not matter.
template <class T>
T reduceIntegers(OpId op, const Tensor &in, int64_t base, const Extent &outer, int64_t innerSize,
                 int64_t innerStride) {
  T buffer[stageElements];
  uint64_t total = op == OpId::prod ? 1 : 0;
  T extreme = op == OpId::amax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  for (int64_t row = 0; row < outer.count(); ++row) {
    for (int64_t column = 0; column < innerSize; column += stageElements) {
      const int64_t n = std::min(stageElements, innerSize - column);
      const int64_t at = base + outer.offset(row) + column * innerStride;
      gather<T>(elementAt(in.data(), in.dtype(), at), in.dtype(), innerStride, buffer, n);
      for (int64_t i = 0; i < n; ++i) {
        const auto value = static_cast<uint64_t>(buffer[i]);
        total = op == OpId::prod ? total * value : total + value;
        extreme = op == OpId::amax ? std::max(extreme, buffer[i]) : std::min(extreme, buffer[i]);
      }
    }
  }
  return op == OpId::amax || op == OpId::amin ? extreme : static_cast<T>(total);
}

} // namespace

void runIntegerReduction(const ReductionPlan &plan, const Tensor &in, const Tensor &out,
                         runtime::ThreadPool &pool) {
  Extent kept, reduced;
  for (size_t i = 0; i < in.shape().size(); ++i) {
    (plan.reduced[i] ? reduced : kept).add(in.shape()[i], in.strides()[i]);
  }
  auto inner = reduced.takeInner();
  withInteger(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    pool.parallelFor(out.elementCount(), 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        out.as<T>()[i] =
            reduceIntegers<T>(plan.op, in, kept.offset(i), reduced, inner.first, inner.second);
      }
    });
  });
}

void runReduction(const ReductionPlan &plan, const Tensor &in, const Tensor &out, bool inFloat,
                  runtime::ThreadPool &pool) {
  if (inFloat) {
    reduceTyped<float>(plan, in, out, pool);
  } else {
    reduceTyped<double>(plan, in, out, pool);
  }
}

void runRows(const RowPlan &plan, const Tensor &in, const Tensor &out, bool inFloat,
             runtime::ThreadPool &pool) {
  if (plan.rows == 0 || plan.columns == 0) {
    return;
  }
  if (inFloat) {
    runRowsTyped<float>(plan, in, out, pool);
  } else {
    runRowsTyped<double>(plan, in, out, pool);
  }
}

} // namespace nereid::eager
