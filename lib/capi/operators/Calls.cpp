// SPDX-License-Identifier: Apache-2.0
// Calling operators through the C interface, and what a call makes.
#include "lib/capi/Failure.h"
#include "lib/capi/Texts.h"
#include "lib/capi/operators/Callable.h"
#include "lib/definition/gradient/Backward.h"
#include "runtime/tensor/Dlpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace nereid::capi {
namespace {

/// A call, and the tensors that DLPack described in it.
struct ReadCall : OperatorCall {
  std::deque<runtime::Tensor> borrowed;
};

nereid_status wrongArgument(const Callable &callable, size_t at, const std::string &expected,
                            const std::string &got) {
  return fail(NEREID_ERROR_ARGUMENT,
              makeError("E0409", fmt::format("'{}' of operator '{}' expects {}, but got {}",
                                             callable.parameters()[at]->name,
                                             callable.definition().name, expected, got)));
}

nereid_status readTensor(const Callable &callable, size_t at, const nereid_argument &argument,
                         ReadCall &call) {
  const auto unusable = [&](const std::string &why) {
    return fail(
        NEREID_ERROR_ARGUMENT,
        makeError("E0408", fmt::format("'{}' of operator '{}' {}", callable.parameters()[at]->name,
                                       callable.definition().name, why)));
  };
  switch (argument.kind) {
  case NEREID_ARGUMENT_TENSOR:
    if (!argument.value.tensor) {
      return unusable("is a null pointer");
    }
    call.inputs.push_back(&argument.value.tensor->tensor);
    return NEREID_OK;
  case NEREID_ARGUMENT_DLPACK: {
    if (!argument.value.dlpack) {
      return unusable("is a null pointer");
    }
    auto tensor = runtime::borrowDlpack(*static_cast<const DLTensor *>(argument.value.dlpack));
    if (const std::string *why = std::get_if<std::string>(&tensor)) {
      return unusable(*why);
    }
    call.borrowed.push_back(std::get<runtime::Tensor>(std::move(tensor)));
    call.inputs.push_back(&call.borrowed.back());
    return NEREID_OK;
  }
  default:
    return wrongArgument(callable, at, "a tensor",
                         argument.kind == NEREID_ARGUMENT_DEFAULT
                             ? "the default, which tensors have not"
                             : "a number or an unknown kind of argument");
  }
}

nereid_status readNumber(const Callable &callable, size_t at, const nereid_argument &argument,
                         ReadCall &call) {
  switch (argument.kind) {
  case NEREID_ARGUMENT_DEFAULT:
    call.numbers.push_back(callable.parameters()[at]->value);
    return NEREID_OK;
  case NEREID_ARGUMENT_INTEGER:
    call.numbers.push_back(static_cast<double>(argument.value.integer));
    return NEREID_OK;
  case NEREID_ARGUMENT_FLOAT:
    call.numbers.push_back(argument.value.number);
    return NEREID_OK;
  default:
    return wrongArgument(callable, at, "a number", "a tensor or an unknown kind of argument");
  }
}

nereid_status readCall(const Callable &callable, const nereid_argument *arguments, size_t count,
                       ReadCall &call) {
  const size_t most = callable.parameters().size(), least = callable.tensorCount();
  if (count < least || count > most) {
    const std::string expected =
        least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
    return fail(NEREID_ERROR_ARGUMENT,
                makeError("E0401", fmt::format("operator '{}' expects {} arguments, but got {}",
                                               callable.definition().name, expected, count)));
  }
  call.inputs.reserve(least);
  call.numbers.reserve(most - least);
  for (size_t i = 0; i < count; ++i) {
    const nereid_status status = i < least ? readTensor(callable, i, arguments[i], call)
                                           : readNumber(callable, i, arguments[i], call);
    if (status) {
      return status;
    }
  }
  for (size_t i = count; i < most; ++i) {
    call.numbers.push_back(callable.parameters()[i]->value);
  }
  return NEREID_OK;
}

/// What infer and call have in common. `hasPlaces`: of the arguments and of the outputs.
nereid_status checkCall(const char *caller, const nereid_operator *made, bool hasPlaces,
                        size_t outputCount) {
  if (!made || !hasPlaces) {
    return refuse(caller, "expects an operator, arguments and a place for the outputs");
  }
  const definition::Operator &op = made->callable.definition();
  return outputCount == op.outputNames.size()
             ? NEREID_OK
             : refuse(caller, fmt::format("expects {} outputs of '{}', but got {}",
                                          op.outputNames.size(), op.name, outputCount));
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_operator_infer(const nereid_operator *made, const nereid_argument *arguments,
                                    size_t count, nereid_layout *outputs, size_t output_count) {
  constexpr const char *caller = "nereid_operator_infer";
  return guarded([&] {
    const bool hasPlaces = (count == 0 || arguments) && outputs;
    if (nereid_status status = checkCall(caller, made, hasPlaces, output_count)) {
      return status;
    }
    const Callable &callable = made->callable;
    ReadCall call;
    static thread_local std::vector<OutputLayout> layouts;
    if (nereid_status status = readCall(callable, arguments, count, call)) {
      return status;
    }
    if (nereid_status status = callable.infer(call, layouts)) {
      return status;
    }
    for (size_t i = 0; i < output_count; ++i) {
      outputs[i] = {static_cast<nereid_dtype>(layouts[i].dtype),
                    static_cast<int>(layouts[i].shape.size()), layouts[i].shape.data()};
    }
    return NEREID_OK;
  });
}

nereid_status nereid_operator_call(const nereid_operator *made, const nereid_argument *arguments,
                                   size_t count, nereid_tensor **outputs, size_t output_count,
                                   nereid_stream *stream) {
  constexpr const char *caller = "nereid_operator_call";
  return guarded([&] {
    const bool hasPlaces = (count == 0 || arguments) && outputs;
    if (nereid_status status = checkCall(caller, made, hasPlaces, output_count)) {
      return status;
    }
    const Callable &callable = made->callable;
    ReadCall call;
    call.stream = stream ? stream->stream.get() : nullptr;
    for (size_t i = 0; i < output_count; ++i) {
      call.outputs.push_back(outputs[i] ? &outputs[i]->tensor : nullptr);
    }
    if (nereid_status status = readCall(callable, arguments, count, call)) {
      return status;
    }
    std::vector<runtime::Tensor> results;
    if (nereid_status status = callable.run(call, results)) {
      return status;
    }
    // All handles or none.
    std::vector<std::unique_ptr<nereid_tensor>> handles(output_count);
    for (size_t i = 0; i < output_count; ++i) {
      handles[i].reset(outputs[i] ? nullptr : new nereid_tensor{std::move(results[i])});
    }
    for (size_t i = 0; i < output_count; ++i) {
      outputs[i] = outputs[i] ? outputs[i] : handles[i].release();
    }
    return NEREID_OK;
  });
}

nereid_status nereid_operator_backward(const nereid_operator *made, const char *const *inputs,
                                       size_t count, nereid_operator **backward) {
  constexpr const char *caller = "nereid_operator_backward";
  return guarded([&] {
    if (!made || (count > 0 && !inputs) || !backward) {
      return refuse(caller, "expects an operator, names of inputs and a place for the result");
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (std::string problem = problemOfText("the name of an input", inputs[i], longestName);
          !problem.empty()) {
        return refuse(caller, problem);
      }
      names.emplace_back(inputs[i]);
    }
    auto found = definition::backwardOf(made->callable.definition(), names);
    if (!found) {
      return fail(NEREID_ERROR_ARGUMENT, found.error());
    }
    *backward = new nereid_operator(std::move(found->op));
    return NEREID_OK;
  });
}
}
