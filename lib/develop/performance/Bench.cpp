// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Bench.h"

#include "lib/definition/cases/OtherNumbers.h"
#include "lib/develop/performance/EagerForm.h"
#include "lib/eager/baseline/Eager.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {

using generator::Generation;
using runtime::Tensor;

static std::string shapeText(const std::vector<int64_t> &shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

static std::vector<verify::Canaries::Named> namedTensors(CaseTensors &tensors,
                                                         const generator::CalledOperator &called) {
  std::vector<verify::Canaries::Named> named;
  auto input = tensors.inputs.begin();
  for (const auto &parameter : called.op.parameters) {
    if (!parameter.isScalar) {
      named.push_back({parameter.name, &*input++});
    }
  }
  auto output = tensors.outputs.begin();
  for (const auto &operand : called.operands) {
    if (operand.isOutput) {
      named.push_back({operand.name, &*output++});
    }
  }
  return named;
}

static std::string wrongResult(const definition::Operator &op, const CaseTensors &tensors,
                               DType dtype) {
  auto comparison = compareOutputs(op, tensors, dtype);
  if (!comparison) {
    return comparison.error().message;
  }
  return comparison->passed() ? "" : "wrong result: " + comparison->text();
}

bench::TimedLaunch libraryForm(const std::string &name, definition::Operator op,
                               const std::vector<Tensor> &inputs) {
  return {.name = name, .run = [op = std::move(op), inputs] {
            auto result = eager::runGraph(op, inputs, runtime::defaultPool());
            return result ? std::string() : result.error().message;
          }};
}

/// The same as kernels on the device, verified once; the row says why there is none.
static std::optional<bench::TimedLaunch> eagerForm(const Generation &generation,
                                                   const definition::Case &testCase,
                                                   const CaseTensors &tensors, PerformanceRow &row,
                                                   const Machine &chip,
                                                   const PerformanceOptions &options) {
  auto made = EagerForm::make(generation.op(), testCase.binding, row.dtype, tensors, options.source,
                              chip, *options.device);
  if (!made) {
    row.missingBaseline = made.error().message;
    return std::nullopt;
  }
  const std::shared_ptr<EagerForm> form = *made;
  bench::TimedLaunch timed = bench::queuedWork(
      "eager", *options.device, [form](runtime::Stream &stream) { return form->queue(stream); },
      queueingOf(options));
  std::string wrong = form->send().message;
  wrong = wrong.empty() ? timed.run() : wrong;
  row.missingBaseline = wrong.empty() ? form->verify() : wrong;
  if (!row.missingBaseline.empty()) {
    return std::nullopt;
  }
  // As for the kernel, the device has just written all tensors.
  timed.prepare = [form] { (void)form->send(); };
  return timed;
}

/// A copy between the case's own largest tensors. It starts from the caches the kernel starts from,
/// full of the outputs' poison on its way to memory: without that it is a tenth faster on a 256 MiB
/// output. Empty within the caches.
static std::optional<bench::CopyTensors>
copyOf(const PerformanceRow &row, const definition::Operator &op, const CaseTensors &tensors) {
  const auto from = std::max_element(
      tensors.inputs.begin(), tensors.inputs.end(),
      [](const Tensor &a, const Tensor &b) { return a.byteCount() < b.byteCount(); });
  if (!row.isBeyondCache || from == tensors.inputs.end() || !from->isContiguous()) {
    return std::nullopt;
  }
  return bench::CopyTensors{tensors.outputs[0], *from, [op, tensors] {
                              (void)renewOutputs(op, tensors.inputs, tensors.outputs);
                            }};
}

DType rateTypeOf(const definition::Operator &op, DType dtype, const Machine &chip) {
  if (dtype == DType::F64) {
    return DType::F64;
  }
  const bool hasBytes = std::any_of(
      op.parameters.begin(), op.parameters.end(), [&](const definition::Parameter &each) {
        const DType type = each.fixedDtype.value_or(dtype);
        return !each.isScalar && (type == DType::I8 || type == DType::U8);
      });
  const DType ofBytes = measure::peakType(chip, DType::I8);
  return hasBytes && chip.peakFor(ofBytes) > chip.peakFor(DType::F32) ? ofBytes : DType::F32;
}

OperatorBench OperatorBench::make(Generation &generation, const definition::Case &testCase,
                                  DType dtype, const Machine &chip,
                                  const PerformanceOptions &options) {
  OperatorBench result;
  PerformanceRow &row = result.row;
  const auto &op = generation.op();
  const definition::Operator sized = definition::withSizeInputs(op, testCase.binding);
  const definition::Work work = definition::countWork(op, testCase.binding, dtype);
  row.caseName = testCase.name;
  row.dtype = dtype;
  row.bytes = work.bytes();
  row.flops = work.flops;
  row.unfusedBytes = definition::countUnfusedWork(op, testCase.binding, dtype).bytes();
  row.peakType = rateTypeOf(op, dtype, chip);
  row.isBeyondCache = row.bytes > static_cast<double>(chip.lastCacheBytes());
  definition::GridCase grid{testCase.name, testCase.binding};
  grid.seed = options.seed;
  auto tensors = makeTensors(generation, grid, dtype, options.withBaseline ? row.bytes : 0);
  if (!tensors) {
    row.skipped = tensors.error().message;
    return result;
  }
  result.tensors = std::move(*tensors);
  bench::OutputCheck &check = result.bench.check;
  if (auto moved = check.surround(namedTensors(result.tensors, generation.called())); !moved) {
    row.skipped = moved.error().message;
    return result;
  }
  result.tensors.memory.clear(); // what is launched lies elsewhere now
  check.watch(
      result.tensors.inputs, result.tensors.outputs,
      [sized, tensors = result.tensors, dtype] { return wrongResult(sized, tensors, dtype); });
  row.shape = shapeText(result.tensors.outputs[0].shape());
  result.bench.row = row;
  result.bench.renew = [op, tensors = result.tensors] {
    (void)renewOutputs(op, tensors.inputs, tensors.outputs);
  };
  if (options.device != nullptr) {
    result.bench.isHere = false;
    row.device = options.device->name();
    if (options.withBaseline) {
      result.bench.peer = eagerForm(generation, testCase, result.tensors, row, chip, options);
    }
    return result;
  }
  result.bench.copy = copyOf(row, op, result.tensors);
  if (options.withBaseline) {
    result.bench.peer = libraryForm("baseline", sized, result.tensors.inputs);
  }
  return result;
}

PerformanceRow OperatorBench::rowOf(const bench::Row &timed,
                                    const generator::Schedule &schedule) const {
  PerformanceRow result = row;
  static_cast<bench::Row &>(result) = timed;
  result.schedule = schedule;
  if (timed.hasPeer() && timed.failure.empty()) {
    result.speedup = timed.peer.summary.median / timed.kernel.summary.median;
    result.pValue = measure::mannWhitney(timed.peer.samples, timed.kernel.samples).pValue;
  }
  return result;
}

bench::TimedLaunch timedLaunch(const std::string &name, const PreparedLaunch &launch,
                               const PerformanceOptions &options) {
  if (launch.isEmpty()) {
    return {.name = name, .run = [] { return std::string(); }, .runEmpty = [] {}};
  }
  return bench::launchOf(name, launch.launches(), queueingOf(options));
}

} // namespace nereid::develop
