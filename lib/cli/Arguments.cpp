// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/Arguments.h"

#include "lib/develop/Launch.h"
#include "lib/language/IntegerExpression.h"
#include "lib/language/Parser.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace nereid::cli {

using language::Expr;
using language::ExprKind;
using language::ParamType;
using runtime::Tensor;

namespace {

constexpr const char *makers =
    "zeros, ones, full, empty, arange, randn, rand, uniform, randint, randperm, view of another "
    "argument, or the path of a .npy file";

/// Up to 2^53 a double holds every integer.
constexpr double largestWhole = 9007199254740992.0;

std::optional<double> literalNumber(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
  case ExprKind::Bool:
    return static_cast<double>(expr.integer);
  case ExprKind::Float:
    return expr.real;
  case ExprKind::Unary:
    if (expr.text == "-" && expr.operands.size() == 1) {
      if (auto value = literalNumber(*expr.operands[0])) {
        return -*value;
      }
    }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// `maker(sizes…, name=value…)` taken apart; numbers only.
struct MakerCall {
  std::string name;
  std::vector<double> positional;
  std::map<std::string, double> keywords;

  double keyword(const std::string &key, double otherwise) const {
    auto found = keywords.find(key);
    return found == keywords.end() ? otherwise : found->second;
  }
};

Diagnostic malformed(const std::string &assignment, const std::string &why) {
  return makeError("E0010", fmt::format("argument '{}' {}", assignment, why))
      .withHelp(fmt::format("write name=value, where value is a number, or one of {}", makers));
}

Result<MakerCall> readMaker(const std::string &assignment, const Expr &expr) {
  if (expr.kind != ExprKind::Call || expr.operands[0]->kind != ExprKind::Name) {
    return malformed(assignment, "is not a call such as randn(1024)");
  }
  MakerCall call;
  call.name = expr.operands[0]->text;
  auto addPositional = [&](const Expr &argument) -> bool {
    auto value = literalNumber(argument);
    if (value) {
      call.positional.push_back(*value);
    }
    return value.has_value();
  };
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    const Expr &argument = *expr.operands[i];
    bool isList = argument.kind == ExprKind::Tuple || argument.kind == ExprKind::List;
    bool ok = true;
    if (isList) {
      for (const auto &item : argument.operands) {
        ok = ok && addPositional(*item);
      }
    } else {
      ok = addPositional(argument);
    }
    if (!ok) {
      return malformed(assignment, "expects numbers as arguments");
    }
  }
  for (const auto &keyword : expr.keywords) {
    auto value = literalNumber(*keyword.value);
    if (!value) {
      return malformed(assignment, fmt::format("expects a number for '{}'", keyword.name));
    }
    call.keywords[keyword.name] = *value;
  }
  return call;
}

/// The numbers from 0 in any order, in each line of the last dimension.
void fillPermutations(const Tensor &tensor, uint64_t seed) {
  int64_t count = tensor.elementCount();
  int64_t length = tensor.shape().empty() ? 1 : tensor.shape().back();
  std::mt19937_64 random(seed); // the same numbers everywhere, unlike the distributions
  std::vector<int64_t> line(static_cast<size_t>(length));
  for (int64_t start = 0; start < count; start += length) {
    std::iota(line.begin(), line.end(), int64_t{0});
    for (size_t i = line.size(); i > 1; --i) {
      std::swap(line[i - 1], line[random() % i]);
    }
    for (int64_t i = 0; i < length; ++i) {
      tensor.set(start + i, static_cast<double>(line[static_cast<size_t>(i)]));
    }
  }
}

Result<Tensor> makeTensor(const std::string &assignment, const MakerCall &call, DType dtype) {
  static const std::map<std::string, std::vector<std::string>> makerOptions = {
      {"zeros", {}},
      {"ones", {}},
      {"full", {"value"}},
      {"empty", {}},
      {"arange", {"start", "step"}},
      {"randn", {"seed"}},
      {"rand", {"seed", "low", "high"}},
      {"uniform", {"seed", "low", "high"}},
      {"randint", {"seed", "low", "high"}},
      {"randperm", {"seed"}},
  };
  auto options = makerOptions.find(call.name);
  if (options == makerOptions.end()) {
    std::vector<std::string> known;
    for (const auto &[name, ignored] : makerOptions) {
      known.push_back(name);
    }
    auto error = malformed(assignment, fmt::format("names the unknown maker '{}'", call.name));
    auto near = nearestNames(call.name, known);
    if (!near.empty()) {
      error.note(fmt::format("nearest name: '{}'", near[0]));
    }
    return error;
  }
  for (const auto &[key, value] : call.keywords) {
    const auto &allowed = options->second;
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      std::string takes = allowed.empty() ? "none" : fmt::format("{}", fmt::join(allowed, ", "));
      return malformed(
          assignment, fmt::format("has the option '{}', but '{}' takes {}", key, call.name, takes));
    }
    bool isWhole = call.name == "randint" || key == "seed";
    if (isWhole && !(std::fabs(value) <= largestWhole && value == std::floor(value))) {
      return malformed(assignment, fmt::format("expects a whole number for '{}'", key));
    }
  }
  if (call.name == "randint" && call.keyword("low", 0) >= call.keyword("high", 100)) {
    return malformed(assignment, "expects low < high");
  }
  std::vector<int64_t> shape;
  for (double size : call.positional) {
    if (!(size >= 0 && size <= largestWhole) || size != std::floor(size)) {
      return malformed(assignment, fmt::format("expects whole sizes from 0, but got {}", size));
    }
    shape.push_back(static_cast<int64_t>(size));
  }
  auto bytes = static_cast<double>(sizeInBytes(dtype));
  for (int64_t size : shape) {
    bytes *= static_cast<double>(size);
  }
  double available = develop::availableMemory();
  Tensor tensor = bytes <= available ? Tensor::empty(shape, dtype) : Tensor();
  if (!tensor.isValid()) {
    return makeError("E0506",
                     fmt::format("argument '{}' needs {}, but {} are available", assignment,
                                 report::formatBytes(bytes), report::formatBytes(available)))
        .withHelp("use a smaller shape");
  }
  auto seed = static_cast<uint64_t>(static_cast<int64_t>(call.keyword("seed", 0)));
  int64_t count = tensor.elementCount();
  if (call.name == "randn") {
    runtime::fillNormal(tensor, seed);
  } else if (call.name == "rand" || call.name == "uniform") {
    runtime::fillUniform(tensor, seed, call.keyword("low", 0), call.keyword("high", 1));
  } else if (call.name == "randint") {
    runtime::fillIntegers(tensor, seed, static_cast<int64_t>(call.keyword("low", 0)),
                          static_cast<int64_t>(call.keyword("high", 100)));
  } else if (call.name == "randperm") {
    fillPermutations(tensor, seed);
  } else if (call.name == "empty") {
    tensor.poison();
  } else if (call.name == "arange") {
    for (int64_t i = 0; i < count; ++i) {
      tensor.set(i, call.keyword("start", 0) + call.keyword("step", 1) * static_cast<double>(i));
    }
  } else {
    double value = call.name == "ones" ? 1 : call.name == "full" ? call.keyword("value", 0) : 0;
    if (value == 0) {
      std::memset(tensor.data(), 0, tensor.byteCount());
    } else {
      for (int64_t i = 0; i < count; ++i) {
        tensor.set(i, value);
      }
    }
  }
  return tensor;
}

Result<Tensor> loadTensor(const std::string &assignment, const std::string &path, DType dtype) {
  auto loaded = runtime::loadNpy(path);
  if (auto *why = std::get_if<std::string>(&loaded)) {
    return makeError("E0012", fmt::format("argument '{}': {}", assignment, *why))
        .withHelp("give the path of a NumPy .npy file");
  }
  Tensor tensor = std::get<Tensor>(std::move(loaded));
  bool isBytes = isFloat8(dtype) && tensor.dtype() == DType::U8; // NumPy has no 8-bit floats
  if (tensor.dtype() != dtype && !isBytes) {
    return makeError("E0012", fmt::format("argument '{}' expects {}, but got {} from the file",
                                          assignment, torchName(dtype), torchName(tensor.dtype())))
        .withHelp("convert the file, or change the type in --signature");
  }
  return tensor;
}

/// `view(x, sizes…, offset=n)`: memory of another argument; null for any other text.
language::ExprPtr parseView(const std::string &text) {
  Diagnostics diags;
  language::ExprPtr expr = language::parseExpression("argument", text, diags);
  bool isView = expr && expr->kind == ExprKind::Call && expr->operands.size() > 1 &&
                expr->operands[0]->kind == ExprKind::Name && expr->operands[0]->text == "view" &&
                expr->operands[1]->kind == ExprKind::Name;
  return isView ? std::move(expr) : nullptr;
}

Result<Tensor> makeView(const std::string &assignment, Expr &expr, DType dtype,
                        const KernelArguments &arguments, KernelArguments::View &view) {
  view.of = expr.operands[1]->text;
  expr.operands.erase(expr.operands.begin() + 1);
  auto call = readMaker(assignment, expr);
  if (!call) {
    return call.error();
  }
  auto whole = arguments.tensors.find(view.of);
  if (whole == arguments.tensors.end() || whole->second.dtype() != dtype ||
      !whole->second.isContiguous()) {
    return malformed(assignment, fmt::format("expects a contiguous tensor of {} with memory of its "
                                             "own, but got '{}'",
                                             torchName(dtype), view.of));
  }
  const double offset = call->keyword("offset", 0);
  const int64_t count = whole->second.elementCount();
  bool isInside = call->keywords.size() == call->keywords.count("offset") && offset >= 0 &&
                  offset <= static_cast<double>(count) && offset == std::floor(offset);
  std::vector<int64_t> shape;
  for (double size : call->positional) {
    isInside = isInside && size >= 0 && size <= static_cast<double>(count);
    shape.push_back(isInside ? static_cast<int64_t>(size) : 0);
  }
  if (!isInside) {
    return malformed(assignment, fmt::format("expects sizes and offset=… within the {} elements of "
                                             "'{}'",
                                             count, view.of));
  }
  view.offset = static_cast<int64_t>(offset);
  shape = shape.empty() ? std::vector<int64_t>{count - view.offset} : shape;
  auto tensor = whole->second.view(view.offset, shape);
  if (auto *why = std::get_if<std::string>(&tensor)) {
    return malformed(assignment, fmt::format("is no part of '{}': {}", view.of, *why));
  }
  return std::get<Tensor>(tensor);
}

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

std::vector<runtime::ArgumentValue> KernelArguments::values() const {
  std::vector<runtime::ArgumentValue> result;
  for (const auto &name : names) {
    if (auto tensor = tensors.find(name); tensor != tensors.end()) {
      result.emplace_back(&tensor->second);
    } else if (auto integer = integers.find(name); integer != integers.end()) {
      result.emplace_back(integer->second);
    } else {
      result.emplace_back(reals.at(name));
    }
  }
  return result;
}

KernelArguments KernelArguments::clone() const {
  KernelArguments copy = *this;
  for (auto &[name, tensor] : copy.tensors) {
    tensor = views.count(name) != 0 ? tensor : tensor.to(tensor.dtype());
  }
  for (const auto &[name, view] : views) {
    Tensor &tensor = copy.tensors.at(name);
    tensor = std::get<Tensor>(copy.tensors.at(view.of).view(view.offset, tensor.shape()));
  }
  return copy;
}

Result<Tensor> makeTensor(const std::string &assignment, DType dtype) {
  Diagnostics diags;
  std::string maker = assignment.substr(assignment.find('=') + 1);
  language::ExprPtr expr = language::parseExpression("argument", maker, diags);
  if (!expr) {
    return malformed(assignment, fmt::format("does not parse: {}", diags.all()[0].message));
  }
  auto call = readMaker(assignment, *expr);
  if (!call) {
    return call.error();
  }
  return makeTensor(assignment, *call, dtype);
}

Result<KernelArguments> makeArguments(const language::Signature &signature,
                                      const std::vector<std::string> &assignments) {
  std::map<std::string, std::string> texts;
  for (const auto &assignment : assignments) {
    size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return malformed(assignment, "has no name");
    }
    texts[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }

  KernelArguments result;
  std::vector<std::string> known;
  for (const ParamType &param : signature.flattened()) {
    known.push_back(param.name);
    if (param.kind == ParamType::Kind::Constexpr) {
      if (const auto *integer = std::get_if<int64_t>(&param.constant)) {
        result.integers[param.name] = *integer;
      }
      continue;
    }
    result.names.push_back(param.name);
    auto found = texts.find(param.name);
    if (found == texts.end()) {
      return makeError("E0011", fmt::format("kernel parameter '{}' has no argument", param.name))
          .withHelp(fmt::format("add --arg {}={}", param.name,
                                param.kind == ParamType::Kind::Pointer      ? "randn(1024)"
                                : param.kind == ParamType::Kind::Descriptor ? "randn(128,64)"
                                                                            : "1024"));
    }
    std::string assignment = param.name + "=" + found->second;
    if (param.kind == ParamType::Kind::Pointer && parseView(found->second)) {
      continue; // once the tensor that it is a part of is there
    }
    if (param.kind != ParamType::Kind::Scalar) {
      Result<Tensor> tensor = makeError("E0010", "");
      if (endsWith(found->second, ".npy")) {
        tensor = loadTensor(assignment, found->second, param.dtype);
      } else {
        tensor = makeTensor(assignment, param.dtype);
      }
      if (!tensor) {
        return tensor.error();
      }
      result.tensors.emplace(param.name, *tensor);
      continue;
    }
    Diagnostics diags;
    language::ExprPtr expr = language::parseExpression("argument", found->second, diags);
    auto value = expr ? literalNumber(*expr) : std::nullopt;
    if (!value) {
      return malformed(assignment, "expects a number");
    }
    constexpr double intLimit = 9223372036854775808.0;
    bool isInteger =
        expr && (expr->kind == ExprKind::Integer || (value && *value == std::floor(*value) &&
                                                     *value >= -intLimit && *value < intLimit));
    if (!isFloat(param.dtype) && !isInteger) {
      return malformed(assignment, "expects an integer");
    }
    if (isFloat(param.dtype)) {
      result.reals[param.name] = *value;
    } else {
      result.integers[param.name] =
          expr->kind == ExprKind::Integer ? expr->integer : static_cast<int64_t>(*value);
    }
  }
  for (const ParamType &param : signature.params) {
    auto found = texts.find(param.name);
    language::ExprPtr expr = param.kind == ParamType::Kind::Pointer && found != texts.end()
                                 ? parseView(found->second)
                                 : nullptr;
    if (expr) {
      KernelArguments::View view;
      auto tensor = makeView(param.name + "=" + found->second, *expr, param.dtype, result, view);
      if (!tensor || result.views.count(view.of) != 0) {
        return tensor ? malformed(param.name + "=" + found->second, "is a view of a view")
                      : tensor.error();
      }
      result.tensors.emplace(param.name, *tensor);
      result.views.emplace(param.name, view);
    }
  }
  for (const auto &[name, text] : texts) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      auto error = makeError("E0011", fmt::format("the kernel has no parameter '{}'", name));
      auto near = nearestNames(name, known);
      if (!near.empty()) {
        error.note(fmt::format("nearest name: '{}'", near[0]));
      }
      return error;
    }
  }
  return result;
}

Result<runtime::Grid> evaluateGrid(const std::string &text, const KernelArguments &arguments) {
  return language::evaluateGrid(text, arguments.integers);
}

} // namespace nereid::cli
