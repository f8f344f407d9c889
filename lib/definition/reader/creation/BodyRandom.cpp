// SPDX-License-Identifier: Apache-2.0
// Random numbers by counter: Philox4x32-10 with the seed as key, and as counter each element's
// number and the argument `offset`. Written out in operations on int64, which all who compute
// bodies agree on to the last bit. Uniform and normal numbers are made of the bits as tl.rand and
// tl.randn make them.
#include "lib/definition/reader/creation/BodyCreation.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// A function's arguments in their order, "name" or "name=default".
struct RandomForm {
  std::vector<std::pair<std::string, std::string>> arguments;
  std::string text; ///< of `input`, the arguments, `first` and `second`; "out" is the result
};

const std::map<std::string, RandomForm> &forms() {
  static const std::map<std::string, RandomForm> table = {
      {"rand", {{}, "out = first"}},
      {"rand_like", {{{"input", ""}}, "out = first"}},
      {"randn", {{}, "out = normal"}},
      {"randn_like", {{{"input", ""}}, "out = normal"}},
      {"normal", {{{"mean", "0"}, {"std", "1"}, {"size", ""}}, "out = mean + std * normal"}},
      {"uniform",
       {{{"input", ""}, {"low", "0"}, {"high", "1"}}, "out = low * (1 - first) + high * first"}},
      {"exponential", {{{"input", ""}, {"lambd", "1"}}, "out = -torch.log1p(-first) / lambd"}},
      {"bernoulli",
       {{{"input", ""}, {"p", "None"}}, "out = torch.where(first < chance, one, none)"}},
      {"dropout",
       {{{"input", ""}, {"p", "0.5"}, {"training", "True"}},
        "out = torch.where(first >= p, input / (one - p), 0)"}},
      {"rrelu",
       {{{"input", ""}, {"lower", "0.125"}, {"upper", "0.3333333333333333"}, {"training", "True"}},
        "out = torch.where(input <= 0, input * (lower * (1 - first) + upper * first), input)"}},
      {"randint", {{{"low", ""}, {"high", ""}, {"size", ""}}, "out = bits % (high - low) + low"}},
  };
  return table;
}

/// Ten rounds on c0 to c3 with the keys k0 and k1 (Salmon et al., Parallel random numbers: as easy
/// as 1, 2, 3; SC 2011).
std::string rounds() {
  constexpr int64_t count = 10, stepOfFirst = 0x9E3779B9, stepOfSecond = 0xBB67AE85;
  std::string text = "c0 = index & 4294967295\n"
                     "c1 = (index >> 32) & 4294967295\n"
                     "c2 = (index & 0) + offset\n"
                     "c3 = index & 0\n"
                     "key = (index & 0) + seed\n"
                     "k0 = key & 4294967295\n"
                     "k1 = (key >> 32) & 4294967295\n";
  for (int64_t i = 0; i < count; ++i) {
    text += fmt::format("a = c0 * 3528531795\n"
                        "b = c2 * 3449720151\n"
                        "c0 = ((b >> 32) & 4294967295) ^ c1 ^ ((k0 + {}) & 4294967295)\n"
                        "c1 = b & 4294967295\n"
                        "c2 = ((a >> 32) & 4294967295) ^ c3 ^ ((k1 + {}) & 4294967295)\n"
                        "c3 = a & 4294967295\n",
                        i * stepOfFirst, i * stepOfSecond);
  }
  return text;
}

/// 31 bits to [0, 1): the factor is the largest with which float32 stays below 1.
constexpr const char *uniforms =
    "{0} = torch.where({1} > 2147483647, 4294967295 - {1}, {1}) * 4.6566127342e-10\n";
/// Box and Muller's.
constexpr const char *normals =
    "radius = torch.sqrt(-2.0 * torch.log(torch.maximum(first, 1e-07)))\n"
    "normal = radius * torch.cos(6.283185307179586 * second)\n";

} // namespace

const std::vector<std::string> &BodyCreation::randomNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto &[name, form] : forms()) {
      list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::optional<int> BodyCreation::randomText(const SymbolicShape &shape, const std::string &text,
                                            std::map<std::string, int> operands) {
  const std::optional<int> index = arangeNode(shape, "int64");
  if (!index) {
    return std::nullopt;
  }
  operands["index"] = *index;
  auto uses = [&](const char *name) { return text.find(name) != std::string::npos; };
  std::string all = rounds();
  all += uses("bits") ? "bits = c0\n" : fmt::format(uniforms, "first", "c0");
  all += uses("normal") ? fmt::format(uniforms, "second", "c1") + normals : "";
  return body.writtenOut(*whole, all + text, std::move(operands));
}

std::optional<int> BodyCreation::random() {
  const std::string &name = whole->function;
  const SourceRange range = whole->whole->range;
  const RandomForm &form = forms().at(name);
  const bool takesSizes = name == "rand" || name == "randn";
  std::vector<std::string> known = {"seed", "offset", "device", "dtype"};
  for (const auto &[argument, text] : form.arguments) {
    known.push_back(argument);
  }
  known.emplace_back(takesSizes ? "size" : "inplace");
  if (!takeApart(*whole, known)) {
    return std::nullopt;
  }
  if (whole->receiver) {
    given.insert(given.begin(), whole->receiver);
  }
  if (!takesSizes && given.size() > form.arguments.size()) {
    fail("E0608", range,
         fmt::format("'{}' expects at most {} arguments, but got {}", name, form.arguments.size(),
                     given.size()));
    return std::nullopt;
  }
  if (!keyword("seed")) {
    fail("E0608", range, fmt::format("'{}' expects the argument 'seed'", name))
        .withHelp("random numbers follow from a seed, an integer or a number input: "
                  "[inputs.seed] value = 1234, and seed=seed in the call");
    return std::nullopt;
  }
  std::map<std::string, int> operands;
  const std::optional<int> seed = readNumber(*keyword("seed"));
  const std::optional<int> offset = keyword("offset") ? readNumber(*keyword("offset"))
                                                      : std::optional(body.integerConstant(0, "0"));
  if (!seed || !offset) {
    return std::nullopt;
  }
  for (const auto &[number, argument] : {std::pair(*seed, "seed"), std::pair(*offset, "offset")}) {
    if (operandKind(at(number)) != OperandKind::Whole) {
      fail("E0608", keyword(argument)->range,
           fmt::format("'{}' of '{}' expects an integer", argument, name));
      return std::nullopt;
    }
    operands[argument] = number;
  }
  if (takesSizes) {
    if (const Expr *size = keyword("size")) {
      given = {size};
    }
    if (given.empty()) {
      fail("E0608", range, fmt::format("'{}' expects sizes", name));
      return std::nullopt;
    }
    const auto shape = readShape(given);
    return shape ? randomText(*shape, form.text, std::move(operands)) : std::nullopt;
  }
  std::optional<SymbolicShape> shape;
  for (size_t i = 0; i < form.arguments.size(); ++i) {
    const auto &[argument, text] = form.arguments[i];
    const Expr *value = positional(i) ? body.resolved(positional(i)) : keyword(argument);
    if (argument == "training") {
      if (value && value->kind == ExprKind::Bool && value->integer == 0) {
        return name == "dropout"
                   ? std::optional(operands.at("input"))
                   : body.writtenOut(*whole,
                                     "out = torch.where(input <= 0, input * ((lower + upper) / 2), "
                                     "input)",
                                     std::move(operands));
      }
      continue;
    }
    if (argument == "size") {
      shape = value ? readShape({value}) : shape;
      if (value && !shape) {
        return std::nullopt;
      }
      continue;
    }
    if (!value && text.empty()) {
      fail("E0608", range, fmt::format("'{}' expects the argument '{}'", name, argument));
      return std::nullopt;
    }
    if (!value && text == "None") {
      continue;
    }
    const std::optional<int> node =
        value ? body.read(*value)
              : std::optional(body.constant(std::strtod(text.c_str(), nullptr), text));
    if (!node) {
      return std::nullopt;
    }
    operands[argument] = *node;
    if (argument != "input" && argument != "mean" && argument != "std" && !isNumber(at(*node))) {
      fail("E0608", range,
           fmt::format("'{}' of '{}' expects a number, but got a tensor", argument, name));
      return std::nullopt;
    }
    if (!isNumber(at(*node)) && !(shape && argument == "std")) {
      shape = at(*node).shape;
    }
  }
  if (!shape) {
    fail("E0608", range, fmt::format("'{}' expects a tensor, or a size", name));
    return std::nullopt;
  }
  if (name == "bernoulli" || name == "dropout") {
    const auto dtype = dtypeOf(operands.at("input"), range);
    const auto one = dtype ? typed(1, *dtype) : std::nullopt;
    const auto none = one ? typed(0, *dtype) : std::nullopt;
    if (!none) {
      return std::nullopt;
    }
    operands.emplace("one", *one);
    operands.emplace("none", *none);
    operands.emplace("chance", operands.at(operands.contains("p") ? "p" : "input"));
  }
  return randomText(*shape, form.text, std::move(operands));
}

} // namespace nereid::definition
