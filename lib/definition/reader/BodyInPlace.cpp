// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/BodyInPlace.h"

#include "lib/definition/Cost.h"
#include "lib/definition/reader/BodyCasts.h"
#include "lib/definition/reader/indices/BodyIndexing.h"
#include "lib/definition/reader/moves/BodyMoves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// PyTorch writes results into tensors of a kind that is no lower: bool, integers, floats.
int kindOf(DType type) { return isFloat(type) ? 2 : type == DType::Bool ? 0 : 1; }

/// Functions of which only the form exists that writes; "out" is the result. Random numbers take a
/// seed, see creation/BodyRandom.cpp.
const std::map<std::string, BodyInPlace::OwnForm> &ownForms() {
  static const std::map<std::string, BodyInPlace::OwnForm> table = {
      {"zero", {{}, false, "out = full(self.shape, 0, dtype=self.dtype)", ""}},
      {"fill", {{{"value", ""}}, false, "out = full(self.shape, value, dtype=self.dtype)", ""}},
      {"exponential",
       {{{"lambd", "1"}}, true, "out = exponential(self, lambd, seed=seed, offset=offset)", ""}},
      {"normal",
       {{{"mean", "0"}, {"std", "1"}},
        true,
        "out = normal(mean, std, self.shape, seed=seed, offset=offset)",
        ""}},
      // A number that the type rounds up to the end is one too large, as in PyTorch.
      {"uniform",
       {{{"low", "0"}, {"high", "1"}},
        true,
        "drawn = uniform(self, low, high, seed=seed, offset=offset).to(self.dtype)\n"
        "out = where(drawn < high, drawn, low)",
        ""}},
      {"bernoulli",
       {{{"p", "0.5"}},
        true,
        "out = bernoulli(self, p, seed=seed, offset=offset)",
        "chances = where(full(self.shape, True, dtype=torch.bool), p, p)\n"
        "out = bernoulli(chances, seed=seed, offset=offset).to(self.dtype)"}}};
  return table;
}

/// x.add_(y)
bool isWritingCall(const Expr &expr) {
  return expr.kind == ExprKind::Call && expr.operands[0]->kind == ExprKind::Attribute &&
         BodyInPlace::isFunction(expr.operands[0]->text);
}

bool isRandom(const std::string &name) {
  const auto form = ownForms().find(name);
  return form != ownForms().end() && form->second.isRandom;
}

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
  if (found == parameters.end() || body.callRange || body.defined.isRunning() ||
      body.rebound.contains(found->name)) {
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
  Call own = call;
  if (own.receiver && isWritingCall(*own.receiver) && !isRandom(base)) { // x.mul_(2).add_(y)
    if (!body.read(*own.receiver)) {
      return std::nullopt;
    }
    while (isWritingCall(*own.receiver)) {
      own.receiver = own.receiver->operands[0]->operands[0].get();
    }
  }
  const Expr *first = own.receiver             ? own.receiver
                      : own.positional.empty() ? nullptr
                                               : own.positional.front();
  const bool isComputed = first && first->kind == ExprKind::Name && !body.isInput(first->text) &&
                          !body.callRange && !body.defined.isRunning() &&
                          body.lookup(first->text) && !ownForms().contains(base) && base != "copy";
  if (isComputed && own.receiver == call.receiver) {
    return writtenHere(own, base, *first);
  }
  const std::optional<int> input = target(first, call.function, whole.range);
  return input ? written(*input, call.function, valueOf(own, base, *input), whole.range)
               : std::nullopt;
}

std::optional<int> BodyInPlace::writtenHere(const Call &call, const std::string &name,
                                            const Expr &owner) {
  const int before = *body.lookup(owner.text);
  const SourceRange range = call.whole->range;
  if (isElsewhere(owner.text, fmt::format("{}.{}", owner.text, call.function),
                  fmt::format("write '{0} = {0}.{1}(…)'", owner.text, name), owner.range)) {
    return std::nullopt;
  }
  Call other = call;
  other.function = name;
  const std::optional<int> value = isNumber(at(before)) ? std::nullopt : body.called(other);
  if (!value || at(*value).shape != at(before).shape) {
    if (value || isNumber(at(before))) {
      body.fail("E0604", range,
                fmt::format("'{}' computes {}, but is written into {}", call.function,
                            value ? text(at(*value).shape) : "a tensor",
                            value ? text(at(before).shape) : "a number"));
    }
    return std::nullopt;
  }
  const std::optional<int> result = converted(before, *value, call.function, range);
  if (result) {
    replace(before, *result);
  }
  return result;
}

bool BodyInPlace::isActivation(const Call &call) {
  static const std::vector<std::string> functions = {
      "relu",     "relu6",      "silu",      "elu",         "selu", "celu",
      "hardtanh", "leaky_relu", "hardswish", "hardsigmoid", "mish", "threshold"};
  return std::find(functions.begin(), functions.end(), call.function) != functions.end() &&
         std::any_of(call.whole->keywords.begin(), call.whole->keywords.end(),
                     [](const language::Keyword &keyword) { return keyword.name == "inplace"; });
}

std::optional<int> BodyInPlace::activated(const Call &call) {
  const Expr *first = call.receiver             ? call.receiver
                      : call.positional.empty() ? nullptr
                                                : call.positional.front();
  bool writes = false;
  for (const language::Keyword &keyword : call.whole->keywords) {
    const Expr *flag = body.known.literalOf(*keyword.value);
    if (keyword.name == "inplace" && (!flag || flag->kind != ExprKind::Bool)) {
      body.fail("E0608", keyword.range, "'inplace' expects a literal True or False");
      return std::nullopt;
    }
    writes = keyword.name == "inplace" ? flag->integer != 0 : writes;
  }
  if (!writes || !first || first->kind != ExprKind::Name || !body.lookup(first->text)) {
    return body.called(call);
  }
  if (body.isInput(first->text)) {
    Call other = call;
    other.function = call.function + "_";
    return this->call(other);
  }
  return writtenHere(call, call.function, *first);
}

std::optional<int> BodyInPlace::augmented(const std::string &sign, const Expr &target,
                                          const Expr &value, SourceRange range) {
  const std::string name = sign + "=";
  const std::optional<int> input = this->target(&target, name, range);
  return input ? written(*input, name, body.binary(sign, target, value, range), range)
               : std::nullopt;
}

std::optional<int> BodyInPlace::assigned(const std::string &sign, const Expr &target,
                                         const Expr &value, SourceRange range) {
  const Expr &owner = *target.operands[0];
  if (owner.kind != ExprKind::Name) {
    body.fail("E0608", owner.range, "what is written to expects a name before its brackets")
        .withHelp("write y[i, j] = … for y[i][j] = …, and give a value that is computed a name");
    return std::nullopt;
  }
  const std::string name = fmt::format("[…] {}=", sign);
  if (body.isInput(owner.text)) {
    const std::optional<int> input = this->target(&owner, name, range);
    return input ? written(*input, name, replaced(now(*input), sign, target, value, range), range)
                 : std::nullopt;
  }
  const std::optional<int> whole = body.read(owner);
  if (!whole) {
    return std::nullopt;
  }
  if (isNumber(at(*whole))) {
    body.fail("E0608", owner.range, fmt::format("'{}' is a number and has no parts", owner.text));
    return std::nullopt;
  }
  if (isElsewhere(owner.text, fmt::format("{}{}", owner.text, name),
                  fmt::format("write '{0} = {0}.clone()' before it", owner.text), owner.range)) {
    return std::nullopt;
  }
  const std::optional<int> result = replaced(*whole, sign, target, value, range);
  if (result) {
    replace(*whole, *result);
  }
  return result;
}

std::optional<int> BodyInPlace::replaced(int whole, const std::string &sign, const Expr &target,
                                         const Expr &value, SourceRange range) {
  const std::string name = fmt::format("[…] {}=", sign);
  const int before = body.errorCount();
  const std::optional<int> mask = maskIn(*target.operands[1]);
  if (body.errorCount() > before) {
    return std::nullopt;
  }
  if (mask) {
    return masked(whole, *mask, sign, target, value, range);
  }
  const bool isIndexed = BodyIndexing(body).isIndexed(target);
  const std::optional<int> given =
      sign.empty() ? body.read(value) : body.binary(sign, target, value, range);
  if (!given) {
    return std::nullopt;
  }
  Call call;
  call.function = name;
  call.whole = &target;
  std::optional<int> element;
  if (isNumber(at(*given))) {
    const std::string text = "out = torch.full((1,), value, dtype=self.dtype)";
    element = body.writtenOut(call, text + (isIndexed ? "" : ".squeeze(0)"),
                              {{"self", whole}, {"value", *given}});
  } else if (sign.empty() && !isIndexed) { // a part takes any type, as x.copy_(y) does
    element = BodyCasts(body).like(*given, whole, false, range);
  } else {
    element = converted(whole, *given, name, range);
  }
  if (!element) {
    return std::nullopt;
  }
  if (isIndexed) {
    return BodyIndexing(body).replaced(target, *element);
  }
  const std::optional<int> result = BodyMoves(body).withPart(whole, target, *element);
  // y[:] = v is no other name of v.
  return result == given ? BodyCasts(body).like(*given, whole, true, range) : result;
}

/// The mask is of the first dimensions.
std::optional<int> BodyInPlace::masked(int whole, int mask, const std::string &sign,
                                       const Expr &target, const Expr &value, SourceRange range) {
  const SymbolicShape own = at(whole).shape, asked = at(mask).shape; // reading adds nodes
  if (asked.size() > own.size() || !std::equal(asked.begin(), asked.end(), own.begin())) {
    body.fail("E0604", target.operands[1]->range,
              fmt::format("a mask expects the first dimensions of {}, but got {}", text(own),
                          text(asked)))
        .withHelp("torch.where(mask, y, x) broadcasts");
    return std::nullopt;
  }
  const std::optional<int> given = body.read(value);
  if (!given) {
    return std::nullopt;
  }
  if (!isNumber(at(*given))) {
    body.fail("E0608", value.range, "what a mask selects expects a number, but got a tensor")
        .withHelp("write x.copy_(torch.where(mask, y, x))");
    return std::nullopt;
  }
  std::string text = "there = mask";
  for (size_t dim = asked.size(); dim < own.size(); ++dim) {
    text += ".unsqueeze(-1)";
  }
  Call call;
  call.function = fmt::format("[…] {}=", sign);
  call.whole = &target;
  if (sign.empty()) {
    return body.writtenOut(call, text + "\nout = torch.masked_fill(self, there, value)",
                           {{"self", whole}, {"mask", mask}, {"value", *given}});
  }
  const std::optional<int> changed = body.binary(sign, *target.operands[0], value, range);
  const std::optional<int> element =
      changed ? converted(whole, *changed, call.function, range) : std::nullopt;
  return element ? body.writtenOut(call, text + "\nout = torch.where(there, value, self)",
                                   {{"self", whole}, {"mask", mask}, {"value", *element}})
                 : std::nullopt;
}

std::optional<int> BodyInPlace::maskIn(const Expr &index) {
  constexpr ExprKind kinds[] = {ExprKind::Name,   ExprKind::Compare, ExprKind::Unary,
                                ExprKind::Binary, ExprKind::Call,    ExprKind::Subscript};
  if (std::find(std::begin(kinds), std::end(kinds), index.kind) == std::end(kinds)) {
    return std::nullopt;
  }
  const bool isNumberThere = index.kind == ExprKind::Name && !body.lookup(index.text);
  const std::optional<int> node = isNumberThere ? std::nullopt : body.read(index);
  const auto isBool = [](DType type) { return type == DType::Bool; };
  return node && !isNumber(at(*node)) && body.isAlways(*node, isBool) ? node : std::nullopt;
}

bool BodyInPlace::isWritten(const std::string &input) const {
  const auto &parameters = body.op.parameters;
  const auto own = std::find_if(parameters.begin(), parameters.end(),
                                [&](const Parameter &each) { return each.name == input; });
  const auto now = body.names.find(input);
  return now != body.names.end() && now->second != static_cast<int>(own - parameters.begin());
}

int BodyInPlace::now(int input) const {
  return body.names.at(body.op.parameters[static_cast<size_t>(input)].name);
}

std::optional<int> BodyInPlace::valueOf(const Call &call, const std::string &name, int input) {
  if (const auto form = ownForms().find(name); form != ownForms().end()) {
    return filled(call, form->second, input);
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

std::optional<int> BodyInPlace::filled(const Call &call, const OwnForm &form, int input) {
  const SourceRange range = call.whole->range;
  std::vector<Argument> arguments = {{"self", ArgumentType::Operand, false, ""}};
  for (const auto &[name, value] : form.arguments) {
    arguments.push_back({name, ArgumentType::Operand, !value.empty(), value});
  }
  const size_t most = arguments.size() - (call.receiver ? 1 : 0);
  if (call.positional.size() > most) {
    body.fail("E0608", range,
              fmt::format("'{}' expects at most {} arguments, but got {}", call.function, most,
                          call.positional.size()));
    return std::nullopt;
  }
  if (form.isRandom) {
    arguments.push_back({"seed", ArgumentType::Operand, false, ""});
    arguments.push_back({"offset", ArgumentType::Operand, true, "0"});
  }
  auto given = body.matched(call, call.function, arguments);
  if (!given) {
    return std::nullopt;
  }
  std::map<std::string, int> operands = {{"self", input}};
  std::string text = form.text;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    const auto found = given->find(argument.name);
    const Expr *value = found == given->end() ? nullptr : body.resolved(found->second);
    if (!value && !argument.hasDefault) {
      body.fail("E0608", range,
                fmt::format("'{}' expects the argument '{}'", call.function, argument.name))
          .withHelp("its form is " + signatureText(call.function, arguments));
      return std::nullopt;
    }
    const std::optional<int> node = value ? body.read(*value) : numberIn(argument.defaultText);
    if (!node) {
      return std::nullopt;
    }
    const bool isTensor = !isNumber(at(*node));
    if (isTensor && (form.ofTensor.empty() || i > 1)) {
      body.fail("E0608", value->range,
                fmt::format("'{}' of '{}' expects a number, but got a tensor", argument.name,
                            call.function))
          .withHelp("x.copy_(value) takes a tensor, which it broadcasts");
      return std::nullopt;
    }
    text = isTensor ? form.ofTensor : text;
    operands[argument.name] = *node;
  }
  return body.writtenOut(call, text, std::move(operands));
}

int BodyInPlace::numberIn(const std::string &text) {
  const bool isWhole = text.find('.') == std::string::npos;
  return isWhole ? body.integerConstant(std::stoll(text), text)
                 : body.constant(std::strtod(text.c_str(), nullptr), text);
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

std::optional<int> BodyInPlace::converted(int whole, int value, const std::string &name,
                                          SourceRange range) {
  for (size_t i = 0; i < body.types.size(); ++i) {
    const DType from = body.types[i][static_cast<size_t>(value)];
    const DType to = body.types[i][static_cast<size_t>(whole)];
    if (kindOf(from) > kindOf(to)) {
      const std::string &own = at(whole).name;
      body.fail("E0605", range,
                fmt::format("'{}' computes {}, which '{}' of {} cannot hold", name, torchName(from),
                            own, torchName(to)))
          .withHelp(fmt::format("leave {} out of 'dtypes', or convert: {}.copy_(…)",
                                torchName(body.dtypes[i]), own));
      return std::nullopt;
    }
  }
  return BodyCasts(body).like(value, whole, false, range);
}

int BodyInPlace::viewed(int node) const {
  while (isView(at(node))) {
    node = at(node).inputs.front();
  }
  return node;
}

bool BodyInPlace::hasView(int input, const std::string &name, SourceRange range) {
  const std::string &written = body.op.parameters[static_cast<size_t>(input)].name;
  const int whole = now(input);
  for (const auto &[view, node] : body.names) {
    if (node != whole && viewed(node) == whole) {
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
  if (at(*value).shape != at(input).shape) {
    body.fail("E0604", range,
              fmt::format("'{}' computes {}, but is written into '{}' of {}", name,
                          text(at(*value).shape), parameter.name, text(at(input).shape)));
    return std::nullopt;
  }
  const std::optional<int> result = converted(input, *value, name, range);
  if (result) {
    replace(now(input), *result);
  }
  return result;
}

bool BodyInPlace::isElsewhere(const std::string &name, const std::string &written,
                              const std::string &help, SourceRange range) {
  return isInputElsewhere(name, written, help, range) ||
         isViewElsewhere(name, written, help, range);
}

bool BodyInPlace::isInputElsewhere(const std::string &name, const std::string &written,
                                   const std::string &help, SourceRange range) {
  const std::optional<int> node = body.lookup(name);
  if (!node) {
    return false;
  }
  const int whole = viewed(*node);
  const auto &parameters = body.op.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter &each) {
    const auto number = static_cast<int>(&each - parameters.data());
    return !each.isScalar && (whole == number || (!body.rebound.contains(each.name) &&
                                                  body.lookup(each.name) == whole));
  });
  if (found == parameters.end()) {
    return false;
  }
  body.fail("E0608", range,
            fmt::format("'{}' would write into the input '{}', which '{}' is {}", written,
                        found->name, name, whole == *node ? "another name of" : "a view of"))
      .withHelp(fmt::format("{} for a value of its own, or write '{}' itself", help, found->name));
  return true;
}

bool BodyInPlace::isViewElsewhere(const std::string &name, const std::string &written,
                                  const std::string &help, SourceRange range) {
  const std::optional<int> node = body.lookup(name);
  if (!node || isNumber(at(*node))) {
    return false;
  }
  std::string changed;
  for (const auto &[other, value] : body.names) {
    if (other != name && value != *node && viewed(value) == viewed(*node)) {
      changed = fmt::format("'{}', which shares its memory", other);
    }
  }
  for (const int passed : body.defined.arguments()) {
    if (viewed(passed) == viewed(*node)) {
      changed = "what the function is called with";
    }
  }
  if (!changed.empty()) {
    body.fail("E0608", range, fmt::format("'{}' would change {}", written, changed))
        .withHelp(help + " for a value of its own");
  }
  return !changed.empty();
}

void BodyInPlace::replace(int before, int after) {
  for (auto &[name, node] : body.names) {
    node = node == before && !isNumber(at(before)) ? after : node;
  }
}

bool BodyInPlace::placeOutputs(SourceRange whole) {
  Operator &op = body.op;
  bool isComplete = true;
  std::vector<int> memory(op.outputs.size(), -1);
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    const auto now = body.names.find(parameter.name);
    if (parameter.isScalar || now == body.names.end() || now->second == static_cast<int>(i) ||
        body.rebound.contains(parameter.name)) {
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
