// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/windows/BodyWindows.h"

#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;

/// F.unfold; torch has the name for another function.
const Function &columns() {
  const auto integers = [](const char *name, const char *text) {
    return Argument{name, ArgumentType::Order, *text != '\0', text};
  };
  static const Function function = {"unfold",
                                    "F",
                                    {{"input", ArgumentType::Operand, false, ""},
                                     integers("kernel_size", ""),
                                     integers("dilation", "1"),
                                     integers("padding", "0"),
                                     integers("stride", "1")},
                                    {},
                                    ""};
  return function;
}

/// Those without windows.
const std::map<std::string, Value (*)(WrittenCall &)> &otherFunctions() {
  static const std::map<std::string, Value (*)(WrittenCall &)> functions = {
      {"contiguous", copy},
      {"clone", copy},
      {"resolve_conj", copy},
      {"resolve_neg", copy},
      {"_to_copy", copy},
      {"expand_as", shapedLike},
      {"view_as", shapedLike},
      {"reshape_as", shapedLike},
      {"as_strided", strided},
      {"searchsorted", searched},
      {"bucketize", searched},
      {"bincount", binCounts},
      {"histc", histogram},
      {"nonzero_static", nonzeroPlaces},
      {"scaled_dot_product_attention", attention},
  };
  return functions;
}

Value written(WrittenCall &call) {
  const std::string &name = call.name;
  if (auto other = otherFunctions().find(name); other != otherFunctions().end()) {
    return other->second(call);
  }
  const auto begins = [&](const char *with) { return name.starts_with(with); };
  if (name.find("_pool") != std::string::npos) {
    return name.ends_with("_backward") ? poolingGradient(call)
                                       : pooled(call, name.substr(0, name.find('_')));
  }
  if (begins("max_unpool")) {
    return unpooled(call);
  }
  if (name == "unfold" || name == "im2col") {
    return asColumns(call);
  }
  if (name == "fold" || name == "col2im") {
    return fromColumns(call);
  }
  if (name == "unfold_backward") {
    return windowsGradient(call);
  }
  if (begins("conv_transpose")) {
    return convolvedBack(call);
  }
  if (begins("conv")) {
    return convolved(call);
  }
  if (begins("upsample") || name == "interpolate") {
    return name.ends_with("_backward") ? resizedGradient(call) : resized(call);
  }
  if (name.ends_with("shuffle")) {
    return shuffled(call);
  }
  if (name == "affine_grid") {
    return affineGrid(call);
  }
  if (name == "grid_sample") {
    return gridSample(call);
  }
  if (begins("reflection_pad") || begins("replication_pad")) {
    return paddedEdges(call);
  }
  return name.ends_with("_norm") ? channelNorm(call) : pieceGradient(call);
}

} // namespace

bool BodyWindows::isColumns(const Call &call) {
  const Expr &callee = *call.whole->operands[0];
  if (call.function != "unfold" || call.receiver || callee.kind != ExprKind::Attribute) {
    return false;
  }
  const std::string &module = callee.operands[0]->text;
  return module == "F" || module == "functional";
}

bool BodyWindows::isFunction(const std::string &name) {
  const Function *function = findFunction(name);
  return function && function->forms.empty();
}

bool BodyWindows::returnsTwo() const {
  if (!isFunction(call.function)) {
    return false;
  }
  if (call.function.ends_with("_with_indices")) {
    return true;
  }
  const auto &arguments = findFunction(call.function)->arguments;
  if (arguments.back().name != "return_indices") {
    return false;
  }
  const Expr *flag = nullptr;
  if (call.positional.size() + (call.receiver ? 1 : 0) == arguments.size()) {
    flag = call.positional.back();
  }
  for (const language::Keyword &keyword : call.whole->keywords) {
    flag = keyword.name == "return_indices" ? keyword.value.get() : flag;
  }
  const Expr *literal = flag ? body.knownValues().literalOf(*flag) : nullptr;
  return literal && literal->kind == ExprKind::Bool && literal->integer != 0;
}

bool BodyWindows::returnsPieces() const {
  return isFunction(call.function) && definition::returnsPieces(call.function);
}

BodyWindows::Results BodyWindows::run() {
  const Function &function = isColumns(call) ? columns() : *findFunction(call.function);
  WrittenCall written(body, call, function);
  if (!written.match()) {
    return std::nullopt;
  }
  std::vector<Value> values;
  if (returnsTwo()) {
    values = pooledWithPlaces(written);
  } else if (returnsPieces()) {
    values = pieces(written);
  } else {
    values = {nereid::definition::written(written)};
  }
  std::vector<int> results;
  for (const Value &value : values) {
    if (!value) {
      return std::nullopt;
    }
    results.push_back(*value);
  }
  return results.empty() ? Results() : Results(results);
}

} // namespace nereid::definition
