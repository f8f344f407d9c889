// SPDX-License-Identifier: Apache-2.0
#include "lib/language/host/HostFacts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

namespace nereid::language {
namespace {

ConstValue tupleOf(std::vector<ConstValue> values) {
  auto tuple = std::make_shared<ConstTuple>();
  tuple->values = std::move(values);
  return tuple;
}

std::optional<int64_t> integerOf(const ConstValue &value) {
  if (const bool *boolean = std::get_if<bool>(&value)) {
    return *boolean ? 1 : 0;
  }
  const int64_t *integer = std::get_if<int64_t>(&value);
  return integer ? std::optional(*integer) : std::nullopt;
}

std::optional<double> realOf(const ConstValue &value) {
  if (std::optional<int64_t> integer = integerOf(value)) {
    return static_cast<double>(*integer);
  }
  const double *real = std::get_if<double>(&value);
  return real ? std::optional(*real) : std::nullopt;
}

using RealFunction = double (*)(double);

const std::map<std::string_view, RealFunction> &realFunctions() {
  static const std::map<std::string_view, RealFunction> functions = {
      {"sqrt", std::sqrt},   {"exp", std::exp},      {"exp2", std::exp2},     {"expm1", std::expm1},
      {"log2", std::log2},   {"log10", std::log10},  {"log1p", std::log1p},   {"sin", std::sin},
      {"cos", std::cos},     {"tan", std::tan},      {"asin", std::asin},     {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},    {"cosh", std::cosh},     {"tanh", std::tanh},
      {"asinh", std::asinh}, {"acosh", std::acosh},  {"atanh", std::atanh},   {"erf", std::erf},
      {"erfc", std::erfc},   {"gamma", std::tgamma}, {"lgamma", std::lgamma}, {"fabs", std::fabs}};
  return functions;
}

/// The functions of `math` with another number of arguments or with integers.
constexpr std::string_view otherMath[] = {"log",      "pow",   "floor", "ceil",    "trunc",
                                          "gcd",      "lcm",   "isqrt", "prod",    "fmod",
                                          "copysign", "ldexp", "atan2", "degrees", "radians"};

/// Python raises where C gives a NaN or an infinity out of finite numbers.
std::optional<ConstValue> finite(double result) {
  return std::isfinite(result) ? std::optional<ConstValue>(result) : std::nullopt;
}

std::optional<ConstValue> wholeNumber(double value) {
  bool fits = std::fabs(value) < 0x1p63;
  return fits ? std::optional<ConstValue>(static_cast<int64_t>(value)) : std::nullopt;
}

std::optional<ConstValue> mathOfIntegers(std::string_view name,
                                         const std::vector<ConstValue> &arguments) {
  std::vector<int64_t> numbers;
  for (const ConstValue &argument : arguments) {
    std::optional<int64_t> number = integerOf(argument);
    if (!number || *number == std::numeric_limits<int64_t>::min()) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  if (name == "isqrt") {
    if (numbers.size() != 1 || numbers[0] < 0) {
      return std::nullopt;
    }
    auto root = static_cast<int64_t>(std::sqrt(static_cast<long double>(numbers[0])));
    return root;
  }
  int64_t result = name == "gcd" ? 0 : 1;
  for (int64_t number : numbers) {
    if (name == "gcd") {
      result = std::gcd(result, number);
    } else if (result == 0 || number == 0) {
      result = 0;
    } else if (__builtin_mul_overflow(result / std::gcd(result, number), std::abs(number),
                                      &result)) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<ConstValue> mathProduct(const ConstValue &items) {
  const auto *tuple = std::get_if<std::shared_ptr<ConstTuple>>(&items);
  if (!tuple) {
    return std::nullopt;
  }
  int64_t whole = 1;
  double real = 1;
  bool isWhole = true;
  for (const ConstValue &item : (*tuple)->values) {
    std::optional<double> number = realOf(item);
    if (!number) {
      return std::nullopt;
    }
    real *= *number;
    isWhole = isWhole && integerOf(item);
    if (isWhole && __builtin_mul_overflow(whole, *integerOf(item), &whole)) {
      return std::nullopt;
    }
  }
  return isWhole ? std::optional<ConstValue>(whole) : finite(real);
}

std::optional<ConstValue> mathFunction(std::string_view name,
                                       const std::vector<ConstValue> &arguments) {
  if (name == "gcd" || name == "lcm" || name == "isqrt") {
    return mathOfIntegers(name, arguments);
  }
  if (name == "prod" && arguments.size() == 1) {
    return mathProduct(arguments[0]);
  }
  std::vector<double> x;
  for (const ConstValue &argument : arguments) {
    std::optional<double> number = realOf(argument);
    if (!number) {
      return std::nullopt;
    }
    x.push_back(*number);
  }
  if (x.size() == 1) {
    if (auto found = realFunctions().find(name); found != realFunctions().end()) {
      return finite(found->second(x[0]));
    }
    if (name == "floor" || name == "ceil" || name == "trunc") {
      return integerOf(arguments[0]) ? std::optional<ConstValue>(*integerOf(arguments[0]))
                                     : wholeNumber(name == "floor"  ? std::floor(x[0])
                                                   : name == "ceil" ? std::ceil(x[0])
                                                                    : std::trunc(x[0]));
    }
    if (name == "degrees" || name == "radians") {
      double part = std::numbers::pi / 180;
      return finite(name == "radians" ? x[0] * part : x[0] / part);
    }
    return name == "log" ? finite(std::log(x[0])) : std::nullopt;
  }
  if (x.size() != 2) {
    return std::nullopt;
  }
  return name == "log"        ? finite(std::log(x[0]) / std::log(x[1]))
         : name == "pow"      ? finite(std::pow(x[0], x[1]))
         : name == "fmod"     ? finite(std::fmod(x[0], x[1]))
         : name == "copysign" ? finite(std::copysign(x[0], x[1]))
         : name == "atan2"    ? finite(std::atan2(x[0], x[1]))
         : name == "ldexp"    ? finite(std::ldexp(x[0], static_cast<int>(x[1])))
                              : std::nullopt;
}

/// The release numbers of "3.5.1" or "v2.4.0+cu121" as a tuple that orders as versions do: zeros
/// at the end count for nothing.
std::optional<ConstValue> versionOf(const ConstValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  if (!text) {
    return std::nullopt;
  }
  std::string_view rest = *text;
  rest.remove_prefix(rest.starts_with('v') ? 1 : 0);
  std::vector<ConstValue> parts;
  size_t kept = 0;
  for (bool isNext = true; isNext;) {
    int64_t number = 0;
    auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (failure != std::errc()) {
      return std::nullopt;
    }
    parts.emplace_back(number);
    kept = number != 0 ? parts.size() : kept;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    isNext = rest.starts_with('.');
    rest.remove_prefix(isNext ? 1 : 0);
  }
  if (!rest.empty() && !rest.starts_with('+')) {
    return std::nullopt; // "3.6.0rc1", "2.12.0.dev0": their order is another one
  }
  parts.resize(kept);
  return tupleOf(std::move(parts));
}

} // namespace

std::optional<ConstValue> hostConstant(std::string_view path) {
  static const std::map<std::string_view, ConstValue> constants = {
      {"math.pi", std::numbers::pi},
      {"math.tau", 2 * std::numbers::pi},
      {"math.e", std::numbers::e},
      {"math.inf", std::numeric_limits<double>::infinity()},
      {"math.nan", std::numeric_limits<double>::quiet_NaN()},
      {"numpy.pi", std::numbers::pi},
      {"numpy.e", std::numbers::e},
      {"numpy.inf", std::numeric_limits<double>::infinity()},
      {"numpy.nan", std::numeric_limits<double>::quiet_NaN()},
      {"torch.pi", std::numbers::pi},
      {"torch.inf", std::numeric_limits<double>::infinity()},
      {"torch.nan", std::numeric_limits<double>::quiet_NaN()},
      {"triton.target.backend", std::string("cpu")},
      {"torch.version.cuda", std::monostate()},
      {"torch.version.hip", std::monostate()}, // no target is a GPU of these kinds
      {"torch.version.xpu", std::monostate()},
      {"triton.__version__", std::string(languageVersion)},
      {"sys.version_info", tupleOf({int64_t(3), int64_t(11), int64_t(2), "final", int64_t(0)})},
      {"sys.maxsize", std::numeric_limits<int64_t>::max()},
      {"sys.platform", std::string("linux")},
      {"sys.byteorder", std::string("little")},
      {"os.name", std::string("posix")},
      {"typing.TYPE_CHECKING", false}};
  auto found = constants.find(path);
  return found == constants.end() ? std::nullopt : std::optional(found->second);
}

bool isHostMath(std::string_view path) {
  if (!path.starts_with("math.")) {
    return false;
  }
  std::string_view name = path.substr(5);
  return realFunctions().count(name) ||
         std::find(std::begin(otherMath), std::end(otherMath), name) != std::end(otherMath);
}

std::optional<ConstValue> hostFunction(std::string_view path,
                                       const std::vector<ConstValue> &arguments) {
  if (isHostMath(path)) {
    return mathFunction(path.substr(5), arguments);
  }
  if (path == "os.environ.get" || path == "os.getenv") {
    return arguments.size() == 2 ? arguments[1] : ConstValue(std::monostate());
  }
  if (path == "platform.system") {
    return std::string("Linux");
  }
  bool isVersion = path == "packaging.version.parse" || path == "packaging.version.Version";
  if (isVersion && arguments.size() == 1) {
    return versionOf(arguments[0]);
  }
  bool isOfTriton = path == "importlib.metadata.version" && arguments.size() == 1 &&
                    std::get_if<std::string>(&arguments[0]) &&
                    std::get<std::string>(arguments[0]) == "triton";
  return isOfTriton ? hostConstant("triton.__version__") : std::nullopt;
}

bool isInstalledModule(std::string_view name) {
  static constexpr std::string_view installed[] = {
      "__future__", "abc",         "argparse",  "ast",        "collections", "contextlib",
      "copy",       "dataclasses", "enum",      "functools",  "importlib",   "inspect",
      "io",         "itertools",   "json",      "logging",    "math",        "numpy",
      "operator",   "os",          "packaging", "pathlib",    "platform",    "random",
      "re",         "string",      "struct",    "subprocess", "sys",         "threading",
      "time",       "torch",       "types",     "typing",     "warnings",    "weakref"};
  if (name == "triton.runtime" || name.starts_with("triton.runtime.")) {
    return true;
  }
  std::string_view first = name.substr(0, name.find('.'));
  return std::find(std::begin(installed), std::end(installed), first) != std::end(installed);
}

} // namespace nereid::language
