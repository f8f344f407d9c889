// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/BodyInPlace.h"

#include "lib/definition/Cost.h"
#include "lib/definition/reader/BodyCasts.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// PyTorch writes results into tensors of a kind that is no lower: bool, integers, floats.
int kindOf(DType type) { return isFloat(type) ? 2 : type == DType::Bool ? 0 : 1; }

std::string withoutLast(const std::string &name) { return name.substr(0, name.size() - 1); }

} // namespace

bool BodyInPlace::isFunction(const std::string &name) {
  return name.size() > 1 && name.ends_with("_") && !name.ends_with("__");
}

std::optional<int> BodyInPlace::target(const Expr *expr, const std::string &name,
                                       SourceRange range) {
  const bool isName = expr && expr->kind == ExprKind::Name;
  const auto &parameters = body.op.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter &each) {
    return isName && each.name == expr->text && !each.isScalar;
  });
  if (found == parameters.end() || body.callRange || body.defined.isRunning()) {
    body.fail(
            "E0608", expr ? expr->range : range,
            fmt::format("'{}' writes into its first operand, which is no tensor of [inputs]", name))
        .withHelp(
            fmt::format("in the body itself, and of an input by its name: x.{}(…); other values "
                        "are computed anew: y = y.{}(…)",
                        name, withoutLast(name)));
    return std::nullopt;
  }
  return static_cast<int>(found - parameters.begin());
}

std::optional<int> BodyInPlace::call(const Call &call) {
  const Expr &whole = *call.whole;
  const std::string base = withoutLast(call.function);
  if (!hasInPlaceForm(base)) {
    const bool isKnown = findOperation(base) || findFunction(base);
    Diagnostic &error =
        body.fail("E0603", whole.operands[0]->range,
                  isKnown ? fmt::format("'{}' has no form that writes into its operand", base)
                          : fmt::format("unknown function '{}'", call.function));
    const auto near = nearestNames(call.function, inPlaceNames());
    error.withHelp(isKnown        ? fmt::format("copy the result: x.copy_(torch.{}(x, …))", base)
                   : near.empty() ? "'nereid ops' lists the functions a body may use"
                                  : fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
    return std::nullopt;
  }
  const Expr *first = call.receiver             ? call.receiver
                      : call.positional.empty() ? nullptr
                                                : call.positional.front();
  const std::optional<int> input = target(first, call.function, whole.range);
  return input ? written(*input, call.function, valueOf(call, base, *input), whole.range)
               : std::nullopt;
}

std::optional<int> BodyInPlace::augmented(const std::string &sign, const Expr &target,
                                          const Expr &value, SourceRange range) {
  const std::string name = sign + "=";
  const std::optional<int> input = this->target(&target, name, range);
  return input ? written(*input, name, body.binary(sign, target, value, range), range)
               : std::nullopt;
}

std::optional<int> BodyInPlace::valueOf(const Call &call, const std::string &name, int input) {
  if (name == "zero" || name == "fill") {
    return filled(call, input, name == "zero");
  }
  if (name == "copy") {
    return copied(call, input);
  }
  Call other = call;
  other.function = name;
  if (name == "_index_put_impl") {
    other.function = "index_put";
    const size_t most = call.receiver ? 3 : 4; // `unsafe` says that indices are not looked at
    other.positional.resize(std::min(other.positional.size(), most));
  }
  return body.called(other);
}

std::optional<int> BodyInPlace::filled(const Call &call, int input, bool isZero) {
  const SourceRange range = call.whole->range;
  const size_t first = call.receiver ? 0 : 1;
  if (call.positional.size() != first + (isZero ? 0 : 1) || !call.whole->keywords.empty()) {
    body.fail("E0608", range,
              fmt::format("'{}' expects {}", call.function, isZero ? "no argument" : "a value"));
    return std::nullopt;
  }
  if (isZero) {
    return body.writtenOut(call, "out = full(self.shape, 0, dtype=self.dtype)", {{"self", input}});
  }
  const std::optional<int> value = body.read(*call.positional[first]);
  if (!value) {
    return std::nullopt;
  }
  if (!isNumber(at(*value))) {
    body.fail("E0608", call.positional[first]->range,
              fmt::format("'{}' expects a number, but got a tensor", call.function))
        .withHelp("write x.copy_(value), which broadcasts");
    return std::nullopt;
  }
  return body.writtenOut(call, "out = full(self.shape, value, dtype=self.dtype)",
                         {{"self", input}, {"value", *value}});
}

std::optional<int> BodyInPlace::copied(const Call &call, int input) {
  const size_t first = call.receiver ? 0 : 1;
  if (call.positional.size() != first + 1 || !call.whole->keywords.empty()) {
    body.fail("E0608", call.whole->range, fmt::format("'{}' expects one tensor", call.function));
    return std::nullopt;
  }
  std::optional<int> source = body.read(*call.positional[first]);
  if (source && isNumber(at(*source))) {
    return body.writtenOut(call, "out = full(self.shape, value, dtype=self.dtype)",
                           {{"self", input}, {"value", *source}});
  }
  if (source && at(*source).shape != at(input).shape) {
    source = body.writtenOut(
        call, "out = where(full(self.shape, True, dtype=torch.bool), source, source)",
        {{"self", input}, {"source", *source}});
  }
  // PyTorch copies to any type, floats to integers as well.
  // The conversion to a type that it has makes of an input a value of its own.
  return source ? BodyCasts(body).like(*source, input, isLeaf(at(*source)), call.whole->range)
                : std::nullopt;
}

std::optional<int> BodyInPlace::converted(int input, int value, const std::string &name,
                                          SourceRange range) {
  for (size_t i = 0; i < body.types.size(); ++i) {
    const DType from = body.types[i][static_cast<size_t>(value)];
    const DType to = body.types[i][static_cast<size_t>(input)];
    if (kindOf(from) > kindOf(to)) {
      const Parameter &parameter = body.op.parameters[static_cast<size_t>(input)];
      body.fail("E0605", range,
                fmt::format("'{}' computes {}, which '{}' of {} cannot hold", name, torchName(from),
                            parameter.name, torchName(to)))
          .withHelp(fmt::format("leave {} out of 'dtypes', or convert: {}.copy_(…)",
                                torchName(body.dtypes[i]), parameter.name));
      return std::nullopt;
    }
  }
  return BodyCasts(body).like(value, input, false, range);
}

bool BodyInPlace::hasView(int input, const std::string &name, SourceRange range) {
  const std::string &written = body.op.parameters[static_cast<size_t>(input)].name;
  const int now = body.names.at(written);
  for (const auto &[view, node] : body.names) {
    int from = node;
    while (view != written && isView(at(from))) {
      from = at(from).inputs.front();
    }
    if (from != node && from == now) {
      body.fail("E0608", range,
                fmt::format("'{}' changes '{}', of which '{}' is a view", name, written, view))
          .withHelp(
              fmt::format("take the view behind the change, or '{0} = {0} * 1' before it", view));
      return true;
    }
  }
  return false;
}

std::optional<int> BodyInPlace::written(int input, const std::string &name,
                                        std::optional<int> value, SourceRange range) {
  if (!value || hasView(input, name, range)) {
    return std::nullopt;
  }
  const Parameter &parameter = body.op.parameters[static_cast<size_t>(input)];
  if (at(*value).shape != parameter.shape) {
    body.fail("E0604", range,
              fmt::format("'{}' computes {}, but is written into '{}' of {}", name,
                          text(at(*value).shape), parameter.name, text(parameter.shape)));
    return std::nullopt;
  }
  const std::optional<int> result = converted(input, *value, name, range);
  if (result) {
    body.names[parameter.name] = *result;
  }
  return result;
}

bool BodyInPlace::placeOutputs(SourceRange whole) {
  Operator &op = body.op;
  bool isComplete = true;
  std::vector<int> memory(op.outputs.size(), -1);
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    const auto now = body.names.find(parameter.name);
    if (parameter.isScalar || now == body.names.end() || now->second == static_cast<int>(i)) {
      continue;
    }
    const auto output = std::find(op.outputs.begin(), op.outputs.end(), now->second);
    if (std::count(op.outputs.begin(), op.outputs.end(), now->second) != 1) {
      body.fail("E0608", whole,
                fmt::format("the body writes into '{}', whose last value is {}", parameter.name,
                            output == op.outputs.end() ? "no output" : "several outputs"))
          .withHelp(fmt::format("one output has the memory of '{0}': out = {0}", parameter.name));
      isComplete = false;
      continue;
    }
    memory[static_cast<size_t>(output - op.outputs.begin())] = static_cast<int>(i);
  }
  const bool isAny = std::any_of(memory.begin(), memory.end(), [](int each) { return each >= 0; });
  op.outputMemory = isAny ? memory : std::vector<int>();
  return isComplete;
}

} // namespace nereid::definition
