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
      {"poisson", {{{"input", ""}}, ""}}, // written out by poisson() below
      {"randint", {{{"low", ""}, {"high", ""}, {"size", ""}}, "out = bits % (high - low) + low"}},
  };
  return table;
}

/// Ten rounds on c0 to c3 with the keys k0 and k1 (Salmon et al., Parallel random numbers: as easy
/// as 1, 2, 3; SC 2011). `block` counts the draws of an element that takes several.
std::string rounds(int block = 0) {
  constexpr int64_t count = 10, stepOfFirst = 0x9E3779B9, stepOfSecond = 0xBB67AE85;
  std::string text = "c0 = index & 4294967295\n"
                     "c1 = (index >> 32) & 4294967295\n"
                     "c2 = (index & 0) + offset\n"
                     "c3 = index & 0\n"
                     "key = (index & 0) + seed\n"
                     "k0 = key & 4294967295\n"
                     "k1 = (key >> 32) & 4294967295\n";
  text += block > 0 ? fmt::format("c3 = c3 + {}\n", block) : "";
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

/// Below this rate the distribution function is summed, in as many terms as matter in float32; from
/// it on numbers are drawn until one is accepted, which at the rate itself four of five are.
constexpr int rejectedFrom = 16, terms = 48, trials = 8;

/// How many terms of the distribution function the uniform number reaches: S(k - 1) <= u < S(k).
/// Where a term no longer changes the sum there is none left.
std::string summedPoisson() {
  std::string text = "small = torch.where(rate < limit, rate, zero)\n"
                     "term = torch.exp(-small)\n"
                     "below = term\n"
                     "counted = torch.where(first >= below, one, zero)\n";
  for (int k = 1; k < terms; ++k) {
    text += fmt::format("term = term * small * {:.17g}\n"
                        "above = below + term\n"
                        "more = torch.where(above > below, one, zero)\n"
                        "counted = counted + torch.where(first >= above, more, zero)\n"
                        "below = above\n",
                        1.0 / k);
  }
  return text;
}

/// PTRS of W. Hoermann, The transformed rejection method for generating Poisson random variables
/// (1993). The logarithm of the probability is that of Stirling's series around the rate, whose
/// terms are small where the usual ones cancel.
std::string drawnPoisson() {
  std::string text = "large = torch.where(rate < limit, limit * one, rate)\n"
                     "width = 0.931 + 2.53 * torch.sqrt(large)\n"
                     "tilt = 0.02483 * width - 0.059\n"
                     "scale = 1.1239 + 1.1328 / (width - 3.4)\n"
                     "squeeze = 0.9277 - 3.6224 / (width - 2.0)\n";
  for (int trial = 0; trial < trials; ++trial) {
    const bool isSecond = trial % 2 == 1;
    text += isSecond ? "" : rounds(trial / 2);
    text += fmt::format(uniforms, "across", isSecond ? "c2" : "c0");
    text += fmt::format(uniforms, "up", isSecond ? "c3" : "c1");
    text += fmt::format(
        "across = across - 0.5\n"
        "away = 0.5 - torch.abs(across)\n"
        "k_{0} = torch.floor((2.0 * tilt / away + width) * across + large + 0.43)\n"
        "is_quick = (away >= 0.07) & (up <= squeeze)\n"
        "is_outside = (k_{0} < 0) | ((away < 0.013) & (up > away))\n"
        "k = torch.where(k_{0} < 1, one, k_{0})\n"
        "d = (large - k) / k\n"
        "v = 1.0 / k\n"
        "w = v * v\n"
        "series = v * (0.08333333333333333 - w * (0.002777777777777778 - w * "
        "0.0007936507936507937))\n"
        "log_p = k * (torch.log1p(d) - d) - 0.5 * torch.log(6.283185307179586 * k) - series\n"
        "log_p = torch.where(k_{0} < 1, -large, log_p)\n"
        "ratio = up * scale / (tilt / (away * away) + width)\n"
        "is_taken_{0} = ~is_outside & (is_quick | (torch.log(ratio) <= log_p))\n",
        trial);
  }
  text += fmt::format("drawn = k_{0}\n", trials - 1);
  for (int trial = trials - 1; trial-- > 0;) {
    text += fmt::format("drawn = torch.where(is_taken_{0}, k_{0}, drawn)\n", trial);
  }
  return text;
}

} // namespace

/// Of the tensor's type, computed in the default one.
std::optional<int> BodyCreation::poisson(std::map<std::string, int> operands) {
  const int input = operands.at("input");
  const SourceRange range = whole->whole->range;
  const auto dtype = dtypeOf(input, range);
  if (dtype && !body.isAlways(input, isFloat)) {
    fail("E0608", range, "'poisson' expects rates of floats").withHelp("convert them: x.float()");
    return std::nullopt;
  }
  const auto index = dtype ? arangeNode(at(input).shape, "int64") : std::nullopt;
  const auto one = index ? typed(1, "default") : std::nullopt;
  const auto zero = one ? typed(0, "default") : std::nullopt;
  if (!zero) {
    return std::nullopt;
  }
  operands.insert({{"index", *index},
                   {"one", *one},
                   {"zero", *zero},
                   {"limit", body.integerConstant(rejectedFrom, std::to_string(rejectedFrom))}});
  const std::string text = "rate = input * one\n" + rounds() +
                           fmt::format(uniforms, "first", "c0") + summedPoisson() + drawnPoisson() +
                           "out = torch.where(rate < limit, counted, drawn)";
  const std::optional<int> drawn = body.writtenOut(*whole, text, std::move(operands));
  return drawn ? body.apply("to_" + (*dtype == "operator" ? "own" : *dtype), {*drawn}, range)
               : std::nullopt;
}

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
  if (name == "poisson") {
    return poisson(std::move(operands));
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
