// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/indices/Along.h"

#include "lib/definition/operations/indices/Along.h"
#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nereid::eager {
namespace {

using runtime::Tensor;

template <class T> bool isNaN(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

/// The order of sorted lines: NaN is larger than everything.
template <class T> bool isBefore(T a, T b) {
  return isNaN(a) || isNaN(b) ? !isNaN(a) && isNaN(b) : a < b;
}

template <class T> struct Line {
  std::vector<T> in, values;
  std::vector<int64_t> positions;
};

template <class T> void sortLine(const definition::SortedPart &given, int64_t kept, Line<T> &line) {
  definition::SortedPart part = given;
  std::vector<int64_t> order(line.in.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const T *in = line.in.data();
  auto stands = [&](int64_t a, int64_t b) {
    const bool isLess = part.isDescending ? isBefore(in[b], in[a]) : isBefore(in[a], in[b]);
    const bool isMore = part.isDescending ? isBefore(in[a], in[b]) : isBefore(in[b], in[a]);
    return isLess || (!isMore && a < b);
  };
  const auto end = static_cast<ptrdiff_t>(part.first + kept);
  if (end < static_cast<ptrdiff_t>(order.size())) {
    std::partial_sort(order.begin(), order.begin() + end, order.end(), stands);
  } else {
    std::sort(order.begin(), order.end(), stands);
  }
  if (part.takesNaN) {
    const auto nan = std::find_if(line.in.begin(), line.in.end(), [](T x) { return isNaN(x); });
    if (nan != line.in.end()) {
      order[static_cast<size_t>(part.first)] = nan - line.in.begin();
    }
  }
  for (int64_t i = 0; i < kept; ++i) {
    const auto to = static_cast<size_t>(i);
    line.positions[to] = order[static_cast<size_t>(part.first + i)];
    line.values[to] = in[line.positions[to]];
  }
}

/// Of everything up to each element, or of the whole line.
template <class T> void extremum(bool isLargest, bool takesLast, bool isScan, Line<T> &line) {
  size_t best = 0;
  for (size_t i = 0; i < line.in.size(); ++i) {
    const T a = line.in[best], b = line.in[i];
    const bool isBetter = isLargest ? b > a : b < a;
    const bool isSame = a == b || (isNaN(a) && isNaN(b));
    const bool replaces =
        isNaN(a) ? isNaN(b) && takesLast : isNaN(b) || isBetter || (takesLast && isSame);
    best = i > 0 && replaces ? i : best;
    const size_t to = isScan ? i : 0;
    line.values[to] = line.in[best];
    line.positions[to] = static_cast<int64_t>(best);
  }
}

template <class T> void accumulate(const std::string &op, Line<T> &line) {
  // Sums of floats as PyTorch's on a CPU, in a wider type; integers wrap.
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  if (op == "logcumsumexp") {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t i = 0; i < line.in.size(); ++i) {
      const auto x = static_cast<double>(line.in[i]);
      const double next = std::max(most, x); // a NaN is in the sum
      const double shift = std::isinf(next) ? (next > 0 ? next : 0) : next;
      sum = std::isinf(next) && next > 0 && !std::isnan(sum) && !isNaN(line.in[i])
                ? 1
                : sum * std::exp(most - shift) + std::exp(x - shift);
      most = next;
      line.values[i] = static_cast<T>(std::log(sum) + shift);
    }
    return;
  }
  Wide total = op == "cumprod" ? 1 : 0;
  for (size_t i = 0; i < line.in.size(); ++i) {
    const auto next = static_cast<Wide>(line.in[i]);
    total = op == "cumprod" ? total * next : total + next;
    line.values[i] = static_cast<T>(total);
  }
}

template <class T> void runLine(const AlongPlan &plan, Line<T> &line) {
  const definition::Node &node = *plan.node;
  const auto kind = definition::findOperation(node.op)->kind;
  if (kind == definition::OperationKind::Sort) {
    sortLine(definition::sortedPart(node, plan.length), plan.kept, line);
  } else if (kind == definition::OperationKind::Reduction) {
    extremum(node.op == "argmax", false, false, line);
  } else if (node.op.starts_with("cummax") || node.op.starts_with("cummin")) {
    extremum(node.op.starts_with("cummax"), true, true, line);
  } else {
    accumulate(node.op, line);
  }
}

template <class T>
void runTyped(const AlongPlan &plan, const Tensor &in, const Tensor *values,
              const Tensor *positions, runtime::ThreadPool &pool) {
  const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, plan.length));
  pool.parallelFor(plan.lines, grain, [&](int64_t begin, int64_t end, int) {
    Line<T> line;
    line.in.resize(static_cast<size_t>(plan.length));
    line.values.resize(static_cast<size_t>(plan.kept));
    line.positions.resize(static_cast<size_t>(plan.kept));
    for (int64_t number = begin; number < end; ++number) {
      int64_t rest = number, offset = 0;
      for (size_t d = plan.sizes.size(); d-- > 0; rest /= plan.sizes[d]) {
        offset += rest % plan.sizes[d] * plan.strides[d];
      }
      gather<T>(elementAt(in.data(), in.dtype(), offset), in.dtype(), plan.step, line.in.data(),
                plan.length);
      runLine(plan, line);
      auto put = [&](const Tensor &out, const auto *from) {
        char *to = const_cast<char *>(elementAt(out.data(), out.dtype(), number * plan.kept));
        scatter(from, to, out.dtype(), plan.kept);
      };
      if (values) {
        put(*values, line.values.data());
      }
      if (positions) {
        put(*positions, line.positions.data());
      }
    }
  });
}

} // namespace

AlongPlan alongPlan(const definition::Node &node, const Tensor &in) {
  AlongPlan plan;
  plan.node = &node;
  const std::optional<int64_t> dim = definition::dimAlong(node);
  if (!dim) {
    plan.length = in.elementCount();
  }
  for (size_t d = 0; dim && d < in.shape().size(); ++d) {
    if (static_cast<int64_t>(d) - static_cast<int64_t>(in.shape().size()) == *dim) {
      plan.length = in.shape()[d];
      plan.step = in.strides()[d];
    } else {
      plan.lines *= in.shape()[d];
      plan.sizes.push_back(in.shape()[d]);
      plan.strides.push_back(in.strides()[d]);
    }
  }
  const auto kind = definition::findOperation(node.op)->kind;
  plan.kept = kind == definition::OperationKind::Scan ? plan.length
              : kind == definition::OperationKind::Reduction
                  ? 1
                  : definition::sortedPart(node, plan.length).count;
  return plan;
}

void runAlong(const AlongPlan &plan, const Tensor &in, const Tensor *values,
              const Tensor *positions, runtime::ThreadPool &pool) {
  // Sums of smaller integers are 64 bits wide, which is the result's type.
  const bool isWidened = values && !isFloat(values->dtype()) && values->dtype() != DType::Bool;
  if (in.dtype() == DType::F64) {
    runTyped<double>(plan, in, values, positions, pool);
  } else if (isFloat(in.dtype())) {
    runTyped<float>(plan, in, values, positions, pool);
  } else {
    withInteger(isWidened ? values->dtype() : in.dtype(),
                [&](auto zero) { runTyped<decltype(zero)>(plan, in, values, positions, pool); });
  }
}

} // namespace nereid::eager
