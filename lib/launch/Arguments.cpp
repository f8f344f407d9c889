// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/Arguments.h"

#include "lib/language/IntegerExpression.h"
#include "lib/language/syntax/Parser.h"
#include "lib/launch/TensorMaker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::launch {

using language::Expr;
using language::ExprKind;
using language::ParamType;
using runtime::Tensor;

namespace {

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
  auto call = readMaker(assignment, expr, arguments.integers);
  if (!call) {
    return call.error();
  }
  auto whole = arguments.tensors.find(view.of);
  if (whole == arguments.tensors.end() || whole->second.dtype() != dtype ||
      !whole->second.isContiguous()) {
    return malformedArgument(assignment,
                             fmt::format("expects a contiguous tensor of {} with memory of its "
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
    return malformedArgument(assignment,
                             fmt::format("expects sizes and offset=… within the {} elements of "
                                         "'{}'",
                                         count, view.of));
  }
  view.offset = static_cast<int64_t>(offset);
  shape = shape.empty() ? std::vector<int64_t>{count - view.offset} : shape;
  auto tensor = whole->second.view(view.offset, shape);
  if (auto *why = std::get_if<std::string>(&tensor)) {
    return malformedArgument(assignment, fmt::format("is no part of '{}': {}", view.of, *why));
  }
  return std::get<Tensor>(tensor);
}

/// By name. E0010.
Result<std::map<std::string, std::string>>
readAssignments(const std::vector<std::string> &assignments) {
  std::map<std::string, std::string> texts;
  for (const auto &assignment : assignments) {
    size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return malformedArgument(assignment, "has no name");
    }
    texts[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return texts;
}

bool isLiteral(const language::ExprPtr &expr) { return expr && literalNumber(*expr).has_value(); }

/// A number, or for an integer parameter an expression over the integers that `result` has.
Status addScalar(const ParamType &param, const std::string &text, KernelArguments &result) {
  const std::string assignment = param.name + "=" + text;
  Diagnostics diags;
  language::ExprPtr expr = language::parseExpression("argument", text, diags);
  if (expr && !isLiteral(expr) && !isFloat(param.dtype)) {
    auto integer = language::evaluateInteger(*expr, result.integers);
    if (!integer) {
      return malformedArgument(assignment, "expects a number").note(integer.error().message);
    }
    result.integers[param.name] = *integer;
    return Done{};
  }
  if (!isLiteral(expr)) {
    return malformedArgument(assignment, "expects a number");
  }
  const double value = *literalNumber(*expr);
  constexpr double intLimit = 9223372036854775808.0;
  bool isInteger = expr->kind == ExprKind::Integer ||
                   (value == std::floor(value) && value >= -intLimit && value < intLimit);
  if (!isFloat(param.dtype) && !isInteger) {
    return malformedArgument(assignment, "expects an integer");
  }
  if (isFloat(param.dtype)) {
    result.reals[param.name] = value;
  } else {
    result.integers[param.name] =
        expr->kind == ExprKind::Integer ? expr->integer : static_cast<int64_t>(value);
  }
  return Done{};
}

/// Whether the text is a number already, or waits for the integers that it names.
bool isNumber(const std::string &text) {
  Diagnostics ignored;
  return isLiteral(language::parseExpression("argument", text, ignored));
}

/// Numbers and integer constexprs: the literal ones first, of which the others are made in order.
Status addScalars(const language::Signature &signature,
                  const std::map<std::string, std::string> &texts, KernelArguments &result) {
  std::vector<std::pair<const ParamType *, const std::string *>> waiting;
  const std::vector<ParamType> params = signature.flattened();
  for (const ParamType &param : params) {
    if (param.kind == ParamType::Kind::Constexpr) {
      if (const auto *integer = std::get_if<int64_t>(&param.constant)) {
        result.integers[param.name] = *integer;
      }
      continue;
    }
    const auto found = texts.find(param.name);
    if (param.kind != ParamType::Kind::Scalar || found == texts.end()) {
      continue;
    }
    if (!isNumber(found->second)) {
      waiting.emplace_back(&param, &found->second);
    } else if (Status added = addScalar(param, found->second, result); !added) {
      return added;
    }
  }
  for (const auto &[param, text] : waiting) {
    if (Status added = addScalar(*param, *text, result); !added) {
      return added;
    }
  }
  return Done{};
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
  for (auto &[name, tensor] : copy.before) {
    tensor = tensor.to(tensor.dtype());
  }
  for (const auto &[name, view] : views) {
    Tensor &tensor = copy.tensors.at(name);
    tensor = std::get<Tensor>(copy.tensors.at(view.of).view(view.offset, tensor.shape()));
  }
  return copy;
}

Result<KernelArguments> makeArguments(const language::Signature &signature,
                                      const std::vector<std::string> &assignments) {
  auto read = readAssignments(assignments);
  if (!read) {
    return read.error();
  }
  const std::map<std::string, std::string> &texts = *read;
  KernelArguments result;
  if (Status added = addScalars(signature, texts, result); !added) {
    return added.error();
  }
  std::vector<std::string> known;
  for (const ParamType &param : signature.flattened()) {
    known.push_back(param.name);
    if (param.kind == ParamType::Kind::Constexpr) {
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
    if (param.kind == ParamType::Kind::Scalar ||
        (param.kind == ParamType::Kind::Pointer && parseView(found->second))) {
      continue; // a view is made once the tensor that it is a part of is there
    }
    auto tensor = endsWith(found->second, ".npy")
                      ? loadTensor(assignment, found->second, param.dtype)
                      : makeTensor(assignment, param.dtype, result.integers);
    if (!tensor) {
      return tensor.error();
    }
    result.tensors.emplace(param.name, *tensor);
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
        return tensor ? malformedArgument(param.name + "=" + found->second, "is a view of a view")
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

Result<KernelArguments> makeIntegers(const language::Signature &signature,
                                     const std::vector<std::string> &assignments) {
  auto texts = readAssignments(assignments);
  if (!texts) {
    return texts.error();
  }
  KernelArguments result; // the grid says when it wants for one that is not given
  if (Status added = addScalars(signature, *texts, result); !added) {
    return added.error();
  }
  return result;
}

Result<runtime::Grid> evaluateGrid(const std::string &text, const KernelArguments &arguments) {
  return language::evaluateGrid(text, arguments.integers);
}

} // namespace nereid::launch
