// SPDX-License-Identifier: Apache-2.0
// Neighbouring dimensions that every operand walks through evenly are merged; then each thread
// takes stretches of the result and hands them to the inner loop run by run. An operand that is
// contiguous in the computing type is read in place, the others pass through a buffer.
#include "lib/eager/baseline/Pointwise.h"

#include "lib/eager/baseline/FormulaLoop.h"
#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <vector>

namespace nereid::eager {
namespace {

using runtime::Tensor;

constexpr size_t mostOperands = 5;

struct Walk {
  std::vector<int64_t> sizes;                // merged, outermost first
  std::vector<std::vector<int64_t>> strides; // per operand
};

/// Strides of `tensor` seen in the shape of the result: 0 where it is broadcast.
std::vector<int64_t> broadcastStrides(const Tensor &tensor, size_t rank,
                                      std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(rank, 0);
  size_t offset = rank - tensor.shape().size();
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    bool isBroadcast = tensor.shape()[i] == 1 && sizes[offset + i] != 1;
    strides[offset + i] = isBroadcast || tensor.shape()[i] == 1 ? 0 : tensor.strides()[i];
  }
  return strides;
}

Walk mergeDimensions(std::span<const Tensor> inputs, const Tensor &out) {
  const std::vector<int64_t> &sizes = out.shape();
  std::vector<std::vector<int64_t>> strides;
  for (const Tensor &input : inputs) {
    strides.push_back(broadcastStrides(input, sizes.size(), sizes));
  }
  Walk walk;
  walk.strides.resize(inputs.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) {
      continue;
    }
    bool merges = !walk.sizes.empty();
    for (size_t k = 0; merges && k < inputs.size(); ++k) {
      merges = walk.strides[k].back() == strides[k][i] * sizes[i];
    }
    if (merges) {
      walk.sizes.back() *= sizes[i];
    } else {
      walk.sizes.push_back(sizes[i]);
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (merges) {
        walk.strides[k].back() = strides[k][i];
      } else {
        walk.strides[k].push_back(strides[k][i]);
      }
    }
  }
  if (walk.sizes.empty()) {
    walk.sizes.push_back(1);
    for (auto &list : walk.strides) {
      list.push_back(0);
    }
  }
  return walk;
}

/// `Loop` is called as loop(operands, out, n).
template <class T, class Loop> class Runner {
public:
  Runner(Loop loop, bool acceptsScalar, std::span<const Tensor> inputs, const Tensor &out)
      : loop(loop), acceptsScalar(acceptsScalar), inputs(inputs), out(out),
        walk(mergeDimensions(inputs, out)) {}

  void run(int64_t begin, int64_t end) const {
    alignas(64) T buffers[mostOperands + 1][stageElements];
    int64_t inner = walk.sizes.back();
    while (begin < end) {
      int64_t column = begin % inner;
      int64_t run = std::min(inner - column, end - begin);
      int64_t offsets[mostOperands];
      locate(begin / inner, offsets);
      runRow(begin, column, run, offsets, buffers);
      begin += run;
    }
  }

private:
  void locate(int64_t row, int64_t *offsets) const {
    std::fill(offsets, offsets + inputs.size(), 0);
    for (size_t i = walk.sizes.size() - 1; i-- > 0;) {
      int64_t index = row % walk.sizes[i];
      row /= walk.sizes[i];
      for (size_t k = 0; k < inputs.size(); ++k) {
        offsets[k] += index * walk.strides[k][i];
      }
    }
  }

  void runRow(int64_t position, int64_t column, int64_t run, const int64_t *offsets,
              T (*buffers)[stageElements]) const {
    Operand<T> operands[mostOperands];
    bool isDirect[mostOperands];
    bool isStaged = out.dtype() != dtypeFor<T>;
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t stride = walk.strides[k].back();
      isDirect[k] = stride == 1 && inputs[k].dtype() == dtypeFor<T>;
      bool isScalar = stride == 0;
      isStaged = isStaged || !(isDirect[k] || (isScalar && acceptsScalar));
      if (isScalar) {
        const char *element = elementAt(inputs[k].data(), inputs[k].dtype(), offsets[k]);
        gather<T>(element, inputs[k].dtype(), 0, buffers[k], acceptsScalar ? 1 : fillCount(run));
      }
      operands[k] = {buffers[k], isScalar && acceptsScalar};
    }
    // In place everywhere: one call for the whole run.
    int64_t piece = isStaged ? stageElements : run;
    for (int64_t done = 0; done < run; done += piece) {
      int64_t count = std::min(piece, run - done);
      for (size_t k = 0; k < inputs.size(); ++k) {
        int64_t stride = walk.strides[k].back();
        if (stride == 0) {
          continue;
        }
        const char *base =
            elementAt(inputs[k].data(), inputs[k].dtype(), offsets[k] + (column + done) * stride);
        if (isDirect[k]) {
          operands[k].data = reinterpret_cast<const T *>(base);
        } else {
          gather<T>(base, inputs[k].dtype(), stride, buffers[k], count);
        }
      }
      char *to = const_cast<char *>(elementAt(out.data(), out.dtype(), position + done));
      if (out.dtype() == dtypeFor<T>) {
        loop(operands, reinterpret_cast<T *>(to), count);
      } else {
        loop(operands, buffers[mostOperands], count);
        scatter<T>(buffers[mostOperands], to, out.dtype(), count);
      }
    }
  }

  static int64_t fillCount(int64_t run) { return std::min(run, stageElements); }

  Loop loop;
  bool acceptsScalar;
  std::span<const Tensor> inputs;
  const Tensor &out;
  Walk walk;
};

constexpr int64_t grain = 32768;

template <class T, class Loop>
void runLoop(Loop loop, bool acceptsScalar, std::span<const Tensor> inputs, const Tensor &out,
             runtime::ThreadPool &pool) {
  Runner<T, Loop> runner(std::move(loop), acceptsScalar, inputs, out);
  pool.parallelFor(out.elementCount(), grain,
                   [&](int64_t begin, int64_t end, int) { runner.run(begin, end); });
}

template <class T>
void runTyped(const definition::Node &node, bool acceptsScalar, std::span<const Tensor> inputs,
              const Tensor &out, runtime::ThreadPool &pool) {
  if (const PointwiseLoop<T> loop = ownLoop<T>(node)) {
    return runLoop<T>(loop, acceptsScalar, inputs, out, pool);
  }
  const FormulaLoop<T> formula(node);
  runLoop<T>([&](const Operand<T> *operands, T *to, int64_t n) { formula.run(operands, to, n); },
             false, inputs, out, pool);
}

template <class T> bool takesScalars(const definition::Node &node) {
  return kernelsFor<T>().acceptsScalar[static_cast<size_t>(idOf(node.op))];
}

} // namespace

void runPointwise(const definition::Node &node, std::span<const Tensor> inputs, const Tensor &out,
                  bool inFloat, runtime::ThreadPool &pool) {
  if (out.elementCount() == 0 || inputs.size() > mostOperands) {
    return;
  }
  if (inFloat) {
    runTyped<float>(node, takesScalars<float>(node), inputs, out, pool);
  } else {
    runTyped<double>(node, takesScalars<double>(node), inputs, out, pool);
  }
}

void runIntegers(const definition::Node &node, std::span<const Tensor> inputs, const Tensor &out,
                 DType computed, runtime::ThreadPool &pool) {
  if (out.elementCount() == 0 || inputs.size() > mostOperands) {
    return;
  }
  withInteger(computed,
              [&](auto zero) { runTyped<decltype(zero)>(node, false, inputs, out, pool); });
}

} // namespace nereid::eager
