// SPDX-License-Identifier: Apache-2.0
#include "lib/capi/operators/Callable.h"

#include "lib/capi/Failure.h"
#include "lib/definition/operations/Shape.h"
#include "lib/generator/call/Overlap.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/pipeline/Compiler.h"
#include "lib/targets/Targets.h"
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/Overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid::capi {
namespace {

using generator::Operand;
using runtime::Tensor;

/// Plans that an operator keeps; all are forgotten when there are more.
constexpr size_t mostPrepared = 1024;
/// That of every allocation.
constexpr uintptr_t alignment = 16;

/// What schedules are chosen for, looked at once.
const Machine &chipOf(const runtime::Device &device) {
  static std::mutex lock;
  static std::map<const runtime::Device *, Machine> known;
  std::lock_guard guard(lock);
  auto found = known.find(&device);
  if (found == known.end()) {
    Machine chip = device.isHost() ? detectMachine() : measure::describeDevice(device);
    chip.isDevice = !device.isHost();
    found = known.emplace(&device, std::move(chip)).first;
  }
  return found->second;
}

/// The type in which the operator runs: that of its first tensor without a type of its own.
DType typeOf(const definition::Operator &op, const OperatorCall &call) {
  size_t next = 0;
  for (const definition::Parameter &parameter : op.parameters) {
    if (parameter.isScalar) {
      continue;
    }
    const Tensor &tensor = *call.inputs[next++];
    if (!parameter.fixedDtype) {
      return tensor.dtype();
    }
  }
  return op.dtypes.front();
}

void addLayout(const Tensor &tensor, std::vector<int64_t> &key) {
  key.push_back(static_cast<int64_t>(tensor.dtype()));
  key.push_back(static_cast<int64_t>(tensor.shape().size()));
  key.insert(key.end(), tensor.shape().begin(), tensor.shape().end());
  key.insert(key.end(), tensor.strides().begin(), tensor.strides().end());
  key.push_back(reinterpret_cast<uintptr_t>(tensor.data()) % alignment == 0);
}

/// How the memory of two tensors lies: apart, 0 bytes from each other, or otherwise.
int64_t wayBetween(const Tensor &a, const Tensor &b) {
  const bool areApart = !runtime::overlap(a, b);
  return areApart ? 0 : a.data() == b.data() ? 1 : 2;
}

/// An address that no tensor has, for output `number` while it is not made yet.
void *nowhere(size_t number) { return reinterpret_cast<void *>((number + 1) << 52); }

std::string stridesText(const Tensor &tensor) {
  return fmt::format("{} with strides {}", definition::sizesText(tensor.shape()),
                     definition::sizesText(tensor.strides()));
}

/// Elements of a contiguous tensor to one of any strides.
runtime::LaunchError spread(const Tensor &from, const Tensor &to) {
  const auto here = from.onHost(), there = to.onHost();
  for (const auto *each : {&here, &there}) {
    if (const auto *error = std::get_if<runtime::LaunchError>(each)) {
      return *error;
    }
  }
  const Tensor &source = std::get<Tensor>(here), &target = std::get<Tensor>(there);
  runtime::forEachBlock(target, pool(), [&](int64_t begin, int count) {
    runtime::copyBlock(source, target, begin, count);
  });
  return to.isOnHost() ? runtime::LaunchError() : to.copyFrom(target);
}

nereid_status failCall(const Diagnostic &error) {
  return fail(error.code == "E0506" ? NEREID_ERROR_MEMORY : NEREID_ERROR_ARGUMENT, error);
}

Diagnostic noMemoryFor(const std::string &output, const OutputLayout &layout,
                       const runtime::Device &device) {
  return makeError("E0506", fmt::format("output '{}' of {} {} does not fit in the memory of '{}'",
                                        output, torchName(layout.dtype),
                                        definition::sizesText(layout.shape), device.name()));
}

} // namespace

Callable::Callable(definition::Operator given) : op(std::move(given)) {
  for (const bool isScalar : {false, true}) {
    for (const definition::Parameter &parameter : op.parameters) {
      if (parameter.isScalar == isScalar) {
        ordered.push_back(&parameter);
      }
    }
    tensors = isScalar ? tensors : ordered.size();
  }
}

nereid_status Callable::generate() const {
  std::call_once(isGenerated, [&] {
    auto made = generator::generateKernels(op);
    if (made) {
      source = generator::writeTriton(*made);
    }
    generated.emplace(std::move(made));
  });
  return *generated ? NEREID_OK : fail(NEREID_ERROR_ARGUMENT, generated->error());
}

bool Callable::isPassedWhole(const definition::Parameter &number, DType type) const {
  const auto &tables = (*generated)->program.tables;
  const auto table = tables.find(type);
  if (table == tables.end()) { // refused by checkDtype(), once it is known that the tensors fit
    return false;
  }
  for (const generator::LaunchEntry &kernel : table->second.kernels) {
    for (const generator::LaunchArgument &argument : kernel.arguments) {
      const bool isIt =
          argument.kind == generator::StageArgument::Kind::Number && argument.value == number.name;
      if (isIt && !isFloat(argument.dtype)) {
        return true;
      }
    }
  }
  return false;
}

Result<runtime::Device *> Callable::deviceOf(const OperatorCall &call) const {
  runtime::Device *device = nullptr;
  std::string first;
  const auto addTensor = [&](const Tensor *tensor, const std::string &name) -> Status {
    if (!tensor) {
      return Done{};
    }
    if (!device) {
      device = &tensor->device();
      first = name;
    } else if (device != &tensor->device()) {
      return makeError("E0416",
                       fmt::format("'{}' of operator '{}' expects a tensor on '{}', as "
                                   "'{}' is, but got one on '{}'",
                                   name, op.name, device->name(), first, tensor->device().name()));
    }
    return Done{};
  };
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (Status added = addTensor(call.inputs[i], ordered[i]->name); !added) {
      return added.error();
    }
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (Status added = addTensor(call.outputs[i], op.outputNames[i]); !added) {
      return added.error();
    }
  }
  if (!device) {
    device = call.stream ? &call.stream->device() : &runtime::cpuDevice();
  }
  if (call.stream && &call.stream->device() != device) {
    return makeError("E0416",
                     fmt::format("operator '{}' expects a stream of '{}', where '{}' is, "
                                 "but got one of '{}'",
                                 op.name, device->name(), first, call.stream->device().name()));
  }
  return device;
}

const Tensor *Callable::given(const OperatorCall &call, size_t output) const {
  if (output < call.outputs.size() && call.outputs[output]) {
    return call.outputs[output];
  }
  const auto input = generator::inputOf(op, output);
  return input ? call.inputs[*input] : nullptr;
}

Status Callable::planApart(const definition::Binding &binding, DType type,
                           std::vector<Tensor> &inputs, std::vector<Tensor> &outputs,
                           std::vector<size_t> &apart) const {
  const generator::Generation &generation = **generated;
  const generator::CalledOperator &whole = generation.called();
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Operand &operand = whole.operands[inputs.size() + o];
    const auto shape = definition::bind(operand.shape, binding);
    if (!shape || outputs[o].shape() != *shape ||
        generator::canWriteTo(generation, operand, binding, type, outputs[o])) {
      continue; // what does not fit is refused where all tensors are
    }
    if (apart.empty()) {
      if (auto written = generator::inputsWritten(whole, inputs, outputs); !written) {
        return written.error();
      }
    }
    apart.push_back(o);
    outputs[o] = Tensor::borrow(nowhere(o), *shape, outputs[o].dtype());
    if (const auto input = generator::inputOf(op, o)) {
      inputs[*input] = outputs[o];
    }
  }
  return Done{};
}

Result<Callable::Prepared> Callable::plan(const OperatorCall &call,
                                          const runtime::Device &device) const {
  const generator::Generation &generation = **generated;
  const generator::CalledOperator &whole = generation.called();
  std::vector<Tensor> inputs, outputs;
  for (const Tensor *input : call.inputs) {
    inputs.push_back(*input);
  }
  const DType type = typeOf(op, call);
  std::map<std::string, double> numbers;
  for (size_t i = 0; i < call.numbers.size(); ++i) {
    const definition::Parameter &number = *ordered[tensors + i];
    const double value = call.numbers[i];
    const double limit = -static_cast<double>(std::numeric_limits<int64_t>::min());
    if (isPassedWhole(number, type) &&
        !(std::trunc(value) == value && value >= -limit && value < limit)) {
      return makeError("E0612", fmt::format("'{}' of operator '{}' expects an integer, but got {}",
                                            number.name, op.name, value));
    }
    numbers[number.name] = value;
  }
  auto binding = generator::bindingOf(whole, inputs, numbers);
  if (!binding) {
    return binding.error();
  }
  if (Status allowed = definition::checkDtype(op, type); !allowed) {
    return allowed.error();
  }
  auto shapes = generator::outputShapes(whole, *binding);
  if (!shapes) {
    return shapes.error();
  }
  Prepared result;
  for (const Operand &operand : whole.operands) {
    if (!operand.isOutput) {
      continue;
    }
    const size_t number = outputs.size();
    OutputLayout layout = {(*shapes)[number], generator::operandType(operand, type)};
    if (!definition::elementCountOf(layout.shape)) {
      return noMemoryFor(operand.name, layout, device);
    }
    const Tensor *there = given(call, number);
    outputs.push_back(there ? *there : Tensor::borrow(nowhere(number), layout.shape, layout.dtype));
    result.outputs.push_back(std::move(layout));
  }
  if (Status apart = planApart(*binding, type, inputs, outputs, result.apart); !apart) {
    return apart.error();
  }
  auto planned = generator::planCall(generation, {}, inputs, outputs, numbers,
                                     generator::siteOf(chipOf(device)));
  if (!planned) {
    return planned.error();
  }
  result.plan = std::move(*planned);
  return result;
}

nereid_status Callable::compile(const generator::LaunchPlan &plan, const runtime::Device &device,
                                runtime::Kernel &kernel) const {
  std::lock_guard guard(compiling);
  runtime::Kernel &known = kernels[{device.name(), plan.function + "(" + plan.signature}];
  if (!known.entry) {
    registerTargets();
    pipeline::CompileInput input;
    input.path = op.name + "_triton.py";
    input.function = plan.function;
    input.signature = plan.signature;
    input.source = source;
    pipeline::CompileOptions options;
    options.target = device.kind();
    options.device = device.isHost() ? "" : device.name();
    Diagnostics diagnostics;
    auto compiled = pipeline::compileKernel(input, options, diagnostics);
    if (!compiled) {
      return fail(NEREID_ERROR_COMPILE, diagnostics);
    }
    known = std::move(*compiled);
  }
  kernel = known;
  return NEREID_OK;
}

nereid_status Callable::prepare(const OperatorCall &call, const runtime::Device &device,
                                std::shared_ptr<const Prepared> &result) const {
  // Lives on, so that a launch that was planned before allocates nothing to find its plan.
  static thread_local Key key;
  key.clear();
  key.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(&device)));
  for (const auto *list : {&call.inputs, &call.outputs}) {
    for (const Tensor *tensor : *list) {
      key.push_back(tensor != nullptr);
      if (tensor) {
        addLayout(*tensor, key);
      }
    }
  }
  for (double number : call.numbers) {
    key.push_back(std::bit_cast<int64_t>(number));
  }
  for (size_t o = 0; o < op.outputs.size(); ++o) { // which tensors share memory with a written one
    const Tensor *output = given(call, o);
    for (const auto *list : {&call.inputs, &call.outputs}) {
      for (const Tensor *other : *list) {
        key.push_back(output && other ? wayBetween(*output, *other) : 0);
      }
    }
  }
  {
    std::shared_lock guard(preparedLock);
    if (auto found = prepared.find(key); found != prepared.end()) {
      result = found->second;
      return NEREID_OK;
    }
  }
  auto planned = plan(call, device);
  if (!planned) {
    return failCall(planned.error());
  }
  auto made = std::make_shared<Prepared>(std::move(*planned));
  for (const generator::LaunchPlan &one : made->plan.launches) {
    if (nereid_status status = compile(one, device, made->kernels.emplace_back())) {
      return status;
    }
  }
  result = std::move(made);
  std::unique_lock guard(preparedLock);
  if (prepared.size() >= mostPrepared) {
    prepared.clear();
  }
  prepared.emplace(key, result);
  return NEREID_OK;
}

nereid_status Callable::infer(const OperatorCall &call, std::vector<OutputLayout> &layouts) const {
  if (nereid_status status = generate()) {
    return status;
  }
  auto device = deviceOf(call);
  auto planned = device ? plan(call, **device) : Result<Prepared>(device.error());
  if (!planned) {
    return failCall(planned.error());
  }
  layouts = std::move(planned->outputs);
  return NEREID_OK;
}

nereid_status Callable::allocate(const OperatorCall &call, runtime::Device &device,
                                 const Prepared &prepared, std::vector<Tensor> &made) const {
  made.assign(prepared.outputs.size(), Tensor());
  for (size_t i = 0; i < made.size(); ++i) {
    if (call.outputs[i]) {
      continue;
    }
    if (const Tensor *input = given(call, i)) {
      made[i] = *input;
      continue;
    }
    auto output = newOutput(prepared, i, device);
    if (!output) {
      return failCall(output.error());
    }
    made[i] = std::move(*output);
  }
  return NEREID_OK;
}

Result<Tensor> Callable::newOutput(const Prepared &prepared, size_t number,
                                   runtime::Device &device) const {
  const OutputLayout &layout = prepared.outputs[number];
  Tensor output = device.isHost() ? Tensor::empty(layout.shape, layout.dtype)
                                  : Tensor::empty(layout.shape, layout.dtype, device);
  return output.isValid() ? Result<Tensor>(std::move(output))
                          : noMemoryFor(op.outputNames[number], layout, device);
}

static bool isQueued(const OperatorCall &call) { // the CPU's streams are its pool, unless recording
  return call.stream && (!call.stream->device().isHost() || call.stream->isCapturing());
}

nereid_status Callable::copyInputs(const OperatorCall &call, const Prepared &prepared,
                                   std::vector<Tensor> &copies,
                                   std::vector<const Tensor *> &memory) const {
  copies.reserve(prepared.plan.contiguousCopies.size()); // `memory` points into it
  for (const int copied : prepared.plan.contiguousCopies) {
    const auto number = static_cast<size_t>(copied);
    const Tensor &tensor = *call.inputs[number];
    if (isQueued(call)) {
      const bool isWritten =
          std::any_of(call.outputs.begin(), call.outputs.end(), [&](const Tensor *output) {
            return output && output->data() == tensor.data();
          });
      return fail(
          NEREID_ERROR_ARGUMENT,
          makeError("E0612",
                    fmt::format("'{}' of operator '{}' expects {} on a stream, but got {}",
                                ordered[number]->name, op.name,
                                isWritten ? "a tensor that is not written" : "evenly spaced rows",
                                isWritten ? "what an output is" : stridesText(tensor)))
              .withHelp("copy the tensor first; without a stream the call does"));
    }
    copies.push_back(tensor.to(tensor.dtype()));
    if (!copies.back().isValid()) {
      return failCall(
          makeError("E0506", fmt::format("a contiguous copy of '{}' does not fit in "
                                         "the memory of '{}'",
                                         ordered[number]->name, tensor.device().name())));
    }
    memory[number] = &copies.back();
  }
  return NEREID_OK;
}

nereid_status Callable::allocateWorkspaces(const Prepared &prepared, runtime::Device &device,
                                           runtime::ScratchMemory &scratch,
                                           std::vector<Tensor> &workspaces) const {
  for (const generator::CallPlan::Scratch &one : prepared.plan.workspaces) {
    const auto bytes = static_cast<uint64_t>(one.elements) * sizeInBytes(one.dtype);
    workspaces.push_back(Tensor::within(bytes > 0 ? scratch.take(bytes) : nullptr, {one.elements},
                                        one.dtype, device));
    if (!workspaces.back().isValid()) {
      return failCall(makeError(
          "E0506", fmt::format("a workspace of operator '{}', {} elements of {}, does not fit in "
                               "the memory of '{}'",
                               op.name, one.elements, torchName(one.dtype), device.name())));
    }
  }
  return NEREID_OK;
}

nereid_status Callable::launch(const OperatorCall &call, runtime::Device &device,
                               const Prepared &prepared) const {
  std::vector<const Tensor *> memory = call.inputs;
  memory.insert(memory.end(), call.outputs.begin(), call.outputs.end());
  std::vector<Tensor> copies, workspaces;
  if (nereid_status status = copyInputs(call, prepared, copies, memory)) {
    return status;
  }
  runtime::ScratchMemory &scratch = isQueued(call) ? call.stream->scratch() : device.scratch();
  if (nereid_status status = allocateWorkspaces(prepared, device, scratch, workspaces)) {
    return status;
  }
  for (const Tensor &one : workspaces) {
    memory.push_back(&one);
  }
  std::vector<runtime::ArgumentValue> values;
  for (size_t i = 0; i < prepared.kernels.size(); ++i) {
    const generator::LaunchPlan &plan = prepared.plan.launches[i];
    values.clear();
    for (const generator::LaunchPlan::Argument &argument : plan.arguments) {
      if (const auto *whole = std::get_if<int64_t>(&argument.value)) {
        values.emplace_back(*whole);
      } else if (const auto *number = std::get_if<double>(&argument.value)) {
        values.emplace_back(*number);
      } else {
        values.emplace_back(memory[static_cast<size_t>(std::get<int>(argument.value))]);
      }
    }
    const nereid_status status = failOf(
        isQueued(call) ? runtime::launch(prepared.kernels[i], plan.grid, values, *call.stream)
                       : runtime::launch(prepared.kernels[i], plan.grid, values, pool()));
    if (status != NEREID_OK) {
      return status;
    }
  }
  // The next call's work comes behind what is queued, but not behind what a graph will replay.
  if (call.stream && call.stream->isCapturing()) {
    std::lock_guard guard(capturing);
    std::move(workspaces.begin(), workspaces.end(), std::back_inserter(captured));
  }
  return NEREID_OK;
}

nereid_status Callable::takeApart(const Prepared &prepared, runtime::Device &device,
                                  OperatorCall &call, std::vector<Tensor> &apart) const {
  apart.reserve(prepared.apart.size()); // the call points into it
  for (const size_t number : prepared.apart) {
    const Tensor &tensor = *call.outputs[number];
    if (isQueued(call)) {
      return fail(
          NEREID_ERROR_ARGUMENT,
          makeError("E0612",
                    fmt::format("'{}' of operator '{}' expects a contiguous tensor on a stream, "
                                "but got {}",
                                op.outputNames[number], op.name, stridesText(tensor)))
              .withHelp("copy the result behind the call; without a stream the call does"));
    }
    const auto input = generator::inputOf(op, number);
    auto made = input ? tensor.to(tensor.dtype()) : newOutput(prepared, number, device);
    if (!made || !made->isValid()) {
      return failCall(noMemoryFor(op.outputNames[number], prepared.outputs[number], device));
    }
    apart.push_back(std::move(*made));
    call.outputs[number] = &apart.back();
    if (input) {
      call.inputs[*input] = &apart.back();
    }
  }
  return NEREID_OK;
}

nereid_status Callable::run(const OperatorCall &call, std::vector<Tensor> &made) const {
  if (nereid_status status = generate()) {
    return status;
  }
  auto device = deviceOf(call);
  if (!device) {
    return failCall(device.error());
  }
  std::shared_ptr<const Prepared> ready;
  if (nereid_status status = prepare(call, **device, ready)) {
    return status;
  }
  if (nereid_status status = allocate(call, **device, *ready, made)) {
    return status;
  }
  if (ready->plan.isEmpty()) {
    return NEREID_OK;
  }
  OperatorCall complete = call;
  for (size_t i = 0; i < made.size(); ++i) {
    complete.outputs[i] = call.outputs[i] ? call.outputs[i] : &made[i];
  }
  const std::vector<const Tensor *> results = complete.outputs;
  std::vector<Tensor> apart;
  if (nereid_status status = takeApart(*ready, **device, complete, apart)) {
    return status;
  }
  if (nereid_status status = launch(complete, **device, *ready)) {
    return status;
  }
  for (size_t i = 0; i < apart.size(); ++i) {
    if (nereid_status status = failOf(spread(apart[i], *results[ready->apart[i]]))) {
      return status;
    }
  }
  return NEREID_OK;
}

} // namespace nereid::capi
