// SPDX-License-Identifier: Apache-2.0
// An operator and its gradients as one function: a call remembers what they read. A part of
// nereid.hpp.
//
//   nereid::Differentiable linear("linear");
//   auto y = linear(x, w, b);                         // the outputs
//   auto [dx, dw, db] = y.backward(dy).as<3>();       // from their gradients
#pragma once

#include "nereid/definition.hpp"

#include <map>

namespace nereid {
inline namespace v0 {

class Differentiable {
public:
  /// The outputs of a call, which hold the tensors that its gradients read.
  class Call : public Outputs {
  public:
    /// Gradients of the inputs, in the order of Differentiable's names, from those of the outputs
    /// through which they go, in the outputs' order.
    template <class... Gradients> Outputs backward(const Gradients &...gradients) const {
      const std::vector<Tensor> given = {Tensor(gradients)...};
      std::vector<OperatorArgument> arguments;
      size_t next = 0;
      for (const Parameter &parameter : gradient.inputs()) {
        auto tensor = tensors.find(parameter.name);
        auto number = numbers.find(parameter.name);
        if (tensor != tensors.end()) {
          arguments.push_back(OperatorArgument(tensor->second));
        } else if (number != numbers.end()) {
          arguments.push_back(OperatorArgument(named(parameter.name, number->second)));
        } else if (!parameter.isNumber && next < given.size()) {
          arguments.push_back(OperatorArgument(given[next++]));
        } else if (!parameter.isNumber) {
          throw Error(NEREID_ERROR_ARGUMENT, "'backward' of '" + name + "' expects '" +
                                                 parameter.name + "' as well, but got " +
                                                 std::to_string(given.size()) + " gradients");
        }
      }
      if (next < given.size()) {
        throw Error(NEREID_ERROR_ARGUMENT, "'backward' of '" + name + "' expects " +
                                               std::to_string(next) + " gradients, but got " +
                                               std::to_string(given.size()));
      }
      return gradient.with(arguments);
    }

  private:
    friend class Differentiable;
    Call(Outputs outputs, Operator gradient, std::string name)
        : Outputs(std::move(outputs)), gradient(std::move(gradient)), name(std::move(name)) {}

    Operator gradient;
    std::string name;
    std::map<std::string, Tensor> tensors;
    std::map<std::string, double> numbers;
  };

  /// The gradients of all float tensors, or of the inputs that are named.
  template <class... Names>
  explicit Differentiable(Operator op, const Names &...names)
      : forward(std::move(op)), gradient(forward.backward(names...)) {}
  template <class... Names>
  explicit Differentiable(const char *nameOrPath, const Names &...names)
      : Differentiable(Operator(nameOrPath), names...) {}

  /// Calls of both directions are queued on the stream.
  Differentiable on(const Stream &stream) const {
    Differentiable queued = *this;
    queued.forward = forward.on(stream);
    queued.gradient = gradient.on(stream);
    return queued;
  }

  template <class... Arguments> Call operator()(const Arguments &...arguments) const {
    Call made(forward(arguments...), gradient, forward.name());
    const std::vector<Parameter> outputs = forward.outputs(), inputs = forward.inputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      made.tensors.emplace(outputs[i].name, made[i]);
    }
    size_t place = 0;
    (keep(made, inputs, place, arguments), ...);
    return made;
  }

private:
  static void keep(Call &made, const std::vector<Parameter> &inputs, size_t &place,
                   const Tensor &tensor) {
    made.tensors.emplace(inputs.at(place++).name, tensor);
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  static void keep(Call &made, const std::vector<Parameter> &inputs, size_t &place, T number) {
    made.numbers.emplace(inputs.at(place++).name, static_cast<double>(number));
  }
  template <class T>
  static void keep(Call &made, const std::vector<Parameter> &, size_t &, const Named<T> &argument) {
    if constexpr (std::is_arithmetic_v<T>) {
      made.numbers.emplace(argument.name, static_cast<double>(argument.value));
    } else {
      made.tensors.emplace(argument.name, Tensor(argument.value));
    }
  }

  Operator forward, gradient;
};

} // namespace v0
} // namespace nereid
