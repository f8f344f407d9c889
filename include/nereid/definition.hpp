// SPDX-License-Identifier: Apache-2.0
// Operators in C++: by name or by definition, called with tensors of any device, differentiated,
// and held against their reference. A part of nereid.hpp.
//
//   nereid::Operator softmax("softmax");
//   nereid::Tensor y = softmax(x);
//   nereid::Tensor dx = softmax.backward("x")(dy, x, y);
#pragma once

#include "nereid/nereid.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace nereid {
inline namespace v0 {

/// How the implementation that is judged rounds: a fused kernel computes in float32 and rounds its
/// results, an eager framework rounds after each operation.
enum class Rounding { OncePerResult = NEREID_ROUNDS_RESULTS, EachOperation = NEREID_ROUNDS_EACH };

struct Verdict {
  bool agrees;      ///< no mismatch, and at most 5 % that cannot be verified
  int64_t elements; ///< of all outputs
  int64_t mismatches;
  int64_t unverifiable;           ///< a right implementation may leave its type's range there
  int firstOutput;                ///< of the first mismatch; -1 = none
  int64_t firstElement;           ///< row-major
  double actual, expected, bound; ///< at the first mismatch
  double maxAbsolute;             ///< error of a finite element
  double meanAbsolute;            ///< of the errors of all finite elements
  int64_t finite;                 ///< elements, on both sides, without the unverifiable
  double maxOfBound;              ///< largest error over its bound
  /// "element 17 expects 1.5 ± 1e-07, but got nan (3 of 1024 differ; max error 0.25, mean 0.001)";
  /// "" = agrees.
  std::string text;
};

/// A tensor or number of an operator by its name: layerNorm(x, weight, bias, nereid::named("eps",
/// 1e-6)).
template <class T> struct Named {
  std::string name;
  T value;
};
template <class T> Named<T> named(std::string name, T value) { return {std::move(name), value}; }

/// An argument of a call: a tensor or number, in its place or by name.
class OperatorArgument {
public:
  OperatorArgument(const Tensor &tensor) : argument(tensor) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  OperatorArgument(T number) : argument(number) {}
  template <class T>
  OperatorArgument(const Named<T> &number) : argument(number.value), parameter(number.name) {}
  OperatorArgument(const Argument &given) : argument(given) {}

  const nereid_argument &get() const { return argument.get(); }
  const std::string &name() const { return parameter; } ///< "" = by place

private:
  Argument argument;
  std::string parameter;
};

/// What a call made: the first output, and the others behind it. auto [dx, dw] = made.as<2>();
class Outputs : public Tensor {
public:
  explicit Outputs(std::vector<Tensor> tensors) : Tensor(tensors.at(0)), list(std::move(tensors)) {}
  size_t size() const { return list.size(); }
  const Tensor &operator[](size_t index) const { return list.at(index); }
  const std::vector<Tensor> &all() const { return list; }
  template <size_t Count> std::array<Tensor, Count> as() const {
    if (Count != list.size()) {
      throw Error(NEREID_ERROR_ARGUMENT, "expects " + std::to_string(Count) +
                                             " outputs, but the operator has " +
                                             std::to_string(list.size()));
    }
    return first(std::make_index_sequence<Count>());
  }

private:
  template <size_t... At>
  std::array<Tensor, sizeof...(At)> first(std::index_sequence<At...>) const {
    return {list[At]...};
  }
  std::vector<Tensor> list;
};

/// An input or output as the definition declares it.
struct Parameter {
  std::string name, shape, description; ///< shape: "[..., D]"
  std::optional<DType> dtype;           ///< none: that in which the operator is called
  bool isNumber, isInteger;
  double value;       ///< default of a number
  std::string memory; ///< of an output: the input that it is written into; "" = none
};

/// Sizes and type of a tensor.
struct Layout {
  Sizes shape;
  DType dtype;
  bool operator==(const Layout &other) const {
    return shape == other.shape && dtype == other.dtype;
  }
};

/// An operator as its definition (.toml) describes it. Calls check shapes, types and constraints,
/// compile kernels when they are needed, and run on the device of the tensors: the first tensors,
/// then the numbers, of which the last ones may be left out; any may be given by name. A shared
/// handle, that several threads may call.
class Operator {
public:
  /// "softmax": one that is shipped, or in a folder of NEREID_OPERATOR_PATH; or the path of a
  /// definition.
  explicit Operator(const std::string &nameOrPath) : Operator(loaded(nameOrPath)) {}
  explicit Operator(const char *nameOrPath) : Operator(std::string(nameOrPath)) {}
  static Operator load(const std::string &nameOrPath) { return Operator(nameOrPath); }
  /// From the text of a definition.
  static Operator loadSource(const std::string &source, const std::string &name = "") {
    nereid_operator *made = nullptr;
    check(nereid_operator_load_source(detail::cText(source), detail::cTextOrNull(name), &made));
    return Operator(made);
  }
  explicit Operator(nereid_operator *owned) : handle(owned, &nereid_operator_free) {}
  nereid_operator *get() const { return handle.get(); }

  std::string name() const { return nereid_operator_name(get()); }
  /// In the order of a call.
  std::vector<Parameter> inputs() const {
    return parameters(nereid_operator_input_count(get()), &nereid_operator_input);
  }
  std::vector<Parameter> outputs() const {
    return parameters(nereid_operator_output_count(get()), &nereid_operator_output);
  }
  /// Those that it can be called in.
  std::vector<DType> dtypes() const {
    std::vector<DType> list;
    for (int i = 0; i < nereid_operator_dtype_count(get()); ++i) {
      list.push_back(static_cast<DType>(nereid_operator_dtype(get(), i)));
    }
    return list;
  }

  /// Makes the outputs: y = softmax(x). Those that the operator writes into an input share its
  /// memory: add_(x, y).
  template <class... Arguments> Outputs operator()(const Arguments &...arguments) const {
    return with({OperatorArgument(arguments)...});
  }
  /// The same with a list, whose length need not be known before.
  Outputs with(const std::vector<OperatorArgument> &arguments) const {
    std::vector<nereid_tensor *> results(outputCount(), nullptr);
    call(placed(arguments), results);
    std::vector<Tensor> made;
    for (nereid_tensor *result : results) {
      made.push_back(Tensor(result));
    }
    return Outputs(std::move(made));
  }
  /// Writes outputs that are there: softmax.into({y}, x). One may be an input, the very same
  /// tensor, and overlaps nothing else.
  template <class... Arguments>
  void into(const std::vector<Tensor> &results, const Arguments &...arguments) const {
    std::vector<nereid_tensor *> places;
    for (const Tensor &result : results) {
      places.push_back(result.get());
    }
    call(placed({OperatorArgument(arguments)...}), places);
  }
  /// What a call with these arguments would make.
  template <class... Arguments> std::vector<Layout> infer(const Arguments &...arguments) const {
    const std::vector<nereid_argument> raw = placed({OperatorArgument(arguments)...});
    std::vector<nereid_layout> found(outputCount());
    check(nereid_operator_infer(get(), raw.data(), raw.size(), found.data(), found.size()));
    std::vector<Layout> layouts;
    for (const nereid_layout &one : found) {
      layouts.push_back({Sizes(one.shape, one.shape + one.rank), static_cast<DType>(one.dtype)});
    }
    return layouts;
  }
  /// The same operator, whose calls are queued: softmax.on(stream)(x). Tensors and operator must
  /// live until the stream was waited for.
  Operator on(const Stream &wanted) const {
    Operator queued = *this;
    queued.stream = wanted;
    return queued;
  }
  /// The operator of the gradients of these inputs, of all float tensors without any. Its inputs
  /// are the gradients of the outputs, then the inputs and outputs that it reads; inputs() tells.
  template <class... Names> Operator backward(const Names &...names) const {
    const std::vector<std::string> texts = {std::string(names)...};
    std::vector<const char *> list;
    for (const std::string &text : texts) {
      list.push_back(detail::cText(text));
    }
    nereid_operator *made = nullptr;
    check(nereid_operator_backward(get(), list.data(), list.size(), &made));
    return Operator(made);
  }

  /// Holds outputs against the definition's reference in float64, each element within a bound of
  /// its own, as `nereid verify` does. inputs: the tensor parameters in order, with the numbers'
  /// defaults; or all parameters, numbers as tensors of one element.
  Verdict verify(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                 Rounding rounding = Rounding::OncePerResult) const {
    const std::vector<const nereid_tensor *> in = handles(inputs), out = handles(outputs);
    nereid_verdict raw{};
    check(nereid_operator_verify(get(), in.data(), in.size(), out.data(), out.size(),
                                 static_cast<nereid_rounding>(rounding), &raw));
    return {raw.agrees != 0,   raw.elements,
            raw.mismatches,    raw.unverifiable,
            raw.first_output,  raw.first_element,
            raw.actual,        raw.expected,
            raw.bound,         raw.max_absolute,
            raw.mean_absolute, raw.finite,
            raw.max_of_bound,  nereid_verdict_text(&raw)};
  }

private:
  static nereid_operator *loaded(const std::string &nameOrPath) {
    nereid_operator *made = nullptr;
    check(nereid_operator_load(detail::cText(nameOrPath), &made));
    return made;
  }
  size_t outputCount() const { return static_cast<size_t>(nereid_operator_output_count(get())); }
  std::vector<Parameter> parameters(int count, nereid_status (*read)(const nereid_operator *, int,
                                                                     nereid_parameter *)) const {
    std::vector<Parameter> list;
    for (int i = 0; i < count; ++i) {
      nereid_parameter raw{};
      check(read(get(), i, &raw));
      const bool isOwn = raw.dtype == NEREID_OWN_DTYPE;
      list.push_back({raw.name, raw.shape, raw.description,
                      isOwn ? std::nullopt : std::optional<DType>(static_cast<DType>(raw.dtype)),
                      raw.is_number != 0, raw.is_integer != 0, raw.value,
                      raw.memory ? raw.memory : ""});
    }
    return list;
  }
  /// The arguments in the order of the C interface; named ones go to their places.
  std::vector<nereid_argument> placed(const std::vector<OperatorArgument> &given) const {
    std::vector<nereid_argument> raw;
    raw.reserve(given.size() + 4);
    size_t byPlace = 0;
    for (const OperatorArgument &one : given) {
      if (one.name().empty() && byPlace < raw.size()) {
        throw Error(NEREID_ERROR_ARGUMENT,
                    "'" + name() + "' expects arguments by place before those by name");
      }
      if (one.name().empty()) {
        raw.push_back(one.get());
        ++byPlace;
        continue;
      }
      const size_t at = placeOf(one.name());
      nereid_argument standIn{};
      standIn.kind = NEREID_ARGUMENT_DEFAULT;
      while (raw.size() <= at) {
        raw.push_back(standIn);
      }
      if (raw[at].kind != NEREID_ARGUMENT_DEFAULT) {
        throw Error(NEREID_ERROR_ARGUMENT,
                    "'" + name() + "' expects '" + one.name() + "' once, but got it twice");
      }
      raw[at] = one.get();
    }
    return raw;
  }
  size_t placeOf(const std::string &wanted) const {
    std::string known;
    for (int i = 0; i < nereid_operator_input_count(get()); ++i) {
      nereid_parameter parameter{};
      check(nereid_operator_input(get(), i, &parameter));
      if (parameter.name == wanted) {
        return static_cast<size_t>(i);
      }
      known += (known.empty() ? "'" : ", '") + std::string(parameter.name) + "'";
    }
    throw Error(NEREID_ERROR_ARGUMENT, "'" + name() + "' expects an argument named " + known +
                                           ", but got '" + wanted + "'");
  }
  void call(const std::vector<nereid_argument> &raw, std::vector<nereid_tensor *> &results) const {
    check(nereid_operator_call(get(), raw.data(), raw.size(), results.data(), results.size(),
                               stream ? stream->get() : nullptr));
  }
  static std::vector<const nereid_tensor *> handles(const std::vector<Tensor> &tensors) {
    std::vector<const nereid_tensor *> list;
    for (const Tensor &tensor : tensors) {
      list.push_back(tensor.get());
    }
    return list;
  }

  std::shared_ptr<nereid_operator> handle;
  std::optional<Stream> stream; ///< none: calls wait
};

} // namespace v0
} // namespace nereid
