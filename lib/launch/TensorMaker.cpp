// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/TensorMaker.h"

#include "lib/language/syntax/Parser.h"
#include "lib/report/Table.h"
#include "lib/support/AvailableMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace nereid::launch {

using language::Expr;
using language::ExprKind;
using runtime::Tensor;

namespace {

constexpr const char *makers =
    "zeros, ones, full, empty, arange, randn, rand, uniform, randint, randperm, view of another "
    "argument, or the path of a .npy file";

/// Up to 2^53 a double holds every integer.
constexpr double largestWhole = 9007199254740992.0;

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
    auto error =
        malformedArgument(assignment, fmt::format("names the unknown maker '{}'", call.name));
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
      return malformedArgument(
          assignment, fmt::format("has the option '{}', but '{}' takes {}", key, call.name, takes));
    }
    bool isWhole = call.name == "randint" || key == "seed";
    if (isWhole && !(std::fabs(value) <= largestWhole && value == std::floor(value))) {
      return malformedArgument(assignment, fmt::format("expects a whole number for '{}'", key));
    }
  }
  if (call.name == "randint" && call.keyword("low", 0) >= call.keyword("high", 100)) {
    return malformedArgument(assignment, "expects low < high");
  }
  std::vector<int64_t> shape;
  for (double size : call.positional) {
    if (!(size >= 0 && size <= largestWhole) || size != std::floor(size)) {
      return malformedArgument(assignment,
                               fmt::format("expects whole sizes from 0, but got {}", size));
    }
    shape.push_back(static_cast<int64_t>(size));
  }
  auto bytes = static_cast<double>(sizeInBytes(dtype));
  for (int64_t size : shape) {
    bytes *= static_cast<double>(size);
  }
  double available = availableMemory();
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

} // namespace

std::optional<double> literalNumber(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
  case ExprKind::Bool:
    return static_cast<double>(expr.integer);
  case ExprKind::Float:
    return expr.real;
  case ExprKind::Name:
    return expr.text == "inf"   ? std::optional(std::numeric_limits<double>::infinity())
           : expr.text == "nan" ? std::optional(std::numeric_limits<double>::quiet_NaN())
                                : std::nullopt;
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

Diagnostic malformedArgument(const std::string &assignment, const std::string &why) {
  return makeError("E0010", fmt::format("argument '{}' {}", assignment, why))
      .withHelp(fmt::format("write name=value, where value is a number, or one of {}", makers));
}

/// A number, or what an integer expression comes to; `what` says where it stands. E0010.
static Result<double> numberIn(const std::string &assignment, const std::string &what,
                               const Expr &expr, const language::NamedIntegers &integers) {
  if (auto value = literalNumber(expr)) {
    return *value;
  }
  auto integer = language::evaluateInteger(expr, integers);
  if (!integer) {
    return malformedArgument(assignment, fmt::format("expects a number {}", what))
        .note(integer.error().message);
  }
  return static_cast<double>(*integer);
}

Result<MakerCall> readMaker(const std::string &assignment, const Expr &expr,
                            const language::NamedIntegers &integers) {
  if (expr.kind != ExprKind::Call || expr.operands[0]->kind != ExprKind::Name) {
    return malformedArgument(assignment, "is not a call such as randn(1024)");
  }
  MakerCall call;
  call.name = expr.operands[0]->text;
  auto addPositional = [&](const Expr &argument) -> Status {
    auto value = numberIn(assignment, "for each size", argument, integers);
    if (!value) {
      return value.error();
    }
    call.positional.push_back(*value);
    return Done{};
  };
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    const Expr &argument = *expr.operands[i];
    if (argument.kind != ExprKind::Tuple && argument.kind != ExprKind::List) {
      if (Status added = addPositional(argument); !added) {
        return added.error();
      }
      continue;
    }
    for (const auto &item : argument.operands) {
      if (Status added = addPositional(*item); !added) {
        return added.error();
      }
    }
  }
  for (const auto &keyword : expr.keywords) {
    auto value =
        numberIn(assignment, fmt::format("for '{}'", keyword.name), *keyword.value, integers);
    if (!value) {
      return value.error();
    }
    call.keywords[keyword.name] = *value;
  }
  return call;
}

Result<Tensor> makeTensor(const std::string &assignment, DType dtype,
                          const language::NamedIntegers &integers) {
  Diagnostics diags;
  std::string maker = assignment.substr(assignment.find('=') + 1);
  language::ExprPtr expr = language::parseExpression("argument", maker, diags);
  if (!expr) {
    return malformedArgument(assignment, fmt::format("does not parse: {}", diags.all()[0].message));
  }
  auto call = readMaker(assignment, *expr, integers);
  if (!call) {
    return call.error();
  }
  return makeTensor(assignment, *call, dtype);
}

Result<Tensor> loadTensor(const std::string &assignment, const std::string &path, DType dtype) {
  auto loaded = runtime::loadNpy(path);
  if (auto *why = std::get_if<std::string>(&loaded)) {
    return makeError("E0012", fmt::format("argument '{}': {}", assignment, *why))
        .withHelp("give the path of a NumPy .npy file");
  }
  Tensor tensor = std::get<Tensor>(std::move(loaded));
  // NumPy has no such floats: a file has their bits.
  const bool isOther = isFloat8(dtype) || dtype == DType::BF16;
  const DType bits = isFloat8(dtype) ? DType::U8 : DType::U16;
  if (tensor.dtype() != dtype && !(isOther && tensor.dtype() == bits)) {
    return makeError("E0012", fmt::format("argument '{}' expects {}, but got {} from the file",
                                          assignment, torchName(dtype), torchName(tensor.dtype())))
        .withHelp(isOther ? fmt::format("a file holds the bits of {} as {}", torchName(dtype),
                                        torchName(bits))
                          : "convert the file, or change the type in --signature");
  }
  if (dtype == DType::BF16 && tensor.dtype() == bits) {
    const Tensor dense = tensor.isContiguous() ? tensor : tensor.to(bits);
    Tensor same = Tensor::empty(tensor.shape(), dtype);
    if (!dense.isValid() || !same.isValid()) {
      return makeError("E0506", fmt::format("no memory is left for '{}'", assignment))
          .withHelp("give a smaller file");
    }
    std::memcpy(same.data(), dense.data(), dense.byteCount());
    return same;
  }
  return tensor;
}

} // namespace nereid::launch
