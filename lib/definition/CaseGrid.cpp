// SPDX-License-Identifier: Apache-2.0
// Sizes are chosen to leave remainders of every vector width and block; data and layout kinds vary
// on one middle size, so that the grid stays quick.
#include "lib/definition/CaseGrid.h"

#include "lib/definition/Shape.h"
#include "lib/definition/Tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::definition {
namespace {

using runtime::Tensor;

constexpr int64_t oddSizes[] = {1, 3, 17, 127, 129, 1000};

std::string sizesName(const Operator &op, const Binding &binding) {
  const Node &output = op.nodes[static_cast<size_t>(op.outputs[0])];
  Result<std::vector<int64_t>> sizes = bind(output.shape, binding);
  return sizes && !sizes->empty() ? fmt::format("{}", fmt::join(*sizes, "x")) : "scalar";
}

/// All symbols small, the last one `last`.
Binding small(const Operator &op, std::vector<int64_t> rest, int64_t last) {
  Binding binding;
  binding.rest = std::move(rest);
  int64_t next = 2;
  std::string lastSymbol;
  for (const std::string &symbol : symbolsOf(op)) {
    if (symbol != "...") {
      binding.symbols[symbol] = next++;
      lastSymbol = symbol;
    }
  }
  if (!lastSymbol.empty()) {
    binding.symbols[lastSymbol] = last;
  }
  return binding;
}

bool hasRest(const Operator &op) {
  std::vector<std::string> symbols = symbolsOf(op);
  return std::find(symbols.begin(), symbols.end(), "...") != symbols.end();
}

/// Empty in a leading dimension, so that no reduction runs over nothing.
Binding emptyBinding(const Operator &op) {
  Binding binding = small(op, {0}, 5);
  if (!hasRest(op)) {
    for (const std::string &symbol : symbolsOf(op)) {
      binding.symbols[symbol] = 0;
      break;
    }
  }
  return binding;
}

bool isKeptNonNegative(const Operator &op, const std::string &parameter) {
  return std::any_of(op.constraints.begin(), op.constraints.end(), [&](const std::string &text) {
    return text == parameter + " >= 0" || text == parameter + " > 0";
  });
}

void fill(const Tensor &tensor, DataKind data, uint64_t seed, bool nonNegative) {
  DType dtype = tensor.dtype();
  if (dtype == DType::Bool) {
    return runtime::fillIntegers(tensor, seed, 0, 2);
  }
  if (!isFloat(dtype)) {
    return runtime::fillIntegers(tensor, seed, isUnsignedInteger(dtype) ? 0 : -100, 100);
  }
  runtime::fillNormal(tensor, seed);
  if (data == DataKind::Normal && !nonNegative) {
    return;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 0};
  double huge = largestFinite(dtype) / 10, tiny = smallestNormal(dtype);
  int64_t count = tensor.elementCount();
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor.at(i);
    switch (data) {
    case DataKind::Normal:
      break;
    case DataKind::Huge:
      value = std::clamp(value / 4, -1.0, 1.0) * huge;
      break;
    case DataKind::Tiny:
      value *= tiny;
      break;
    case DataKind::Special:
      value = i % 7 == 3 ? special[i / 7 % 4] : value;
      break;
    case DataKind::Negative:
      value = i % 3 == 0 ? 0 : -std::fabs(value);
      break;
    }
    tensor.set(i, nonNegative ? std::fabs(value) : value);
  }
}

} // namespace

std::string_view name(DataKind kind) {
  switch (kind) {
  case DataKind::Normal:
    return "normal values";
  case DataKind::Huge:
    return "huge values";
  case DataKind::Tiny:
    return "tiny values";
  case DataKind::Special:
    return "infinities and NaN";
  case DataKind::Negative:
    return "zeros and negative values";
  }
  return "";
}

std::string_view name(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::Contiguous:
    return "contiguous";
  case LayoutKind::OuterStride:
    return "outer stride";
  case LayoutKind::Unaligned:
    return "unaligned";
  }
  return "";
}

std::vector<GridCase> accuracyGrid(const Operator &op) {
  std::vector<GridCase> grid;
  auto add = [&](std::string what, Binding binding, DataKind data = DataKind::Normal,
                 LayoutKind layout = LayoutKind::Contiguous) {
    GridCase one;
    one.name = what + " " + sizesName(op, binding);
    if (data != DataKind::Normal) {
      one.name += fmt::format(", {}", name(data));
    }
    if (layout != LayoutKind::Contiguous) {
      one.name += fmt::format(", {}", name(layout));
    }
    one.binding = std::move(binding);
    one.data = data;
    one.layout = layout;
    one.seed = 1000 + grid.size();
    grid.push_back(std::move(one));
  };
  Binding one = small(op, {}, 1);
  for (auto &[symbol, size] : one.symbols) {
    size = 1;
  }
  add("one element", one);
  add("empty", emptyBinding(op));
  for (int64_t size : oddSizes) {
    add("odd", small(op, {3}, size));
  }
  if (hasRest(op)) {
    add("no leading dimensions", small(op, {}, 257));
    add("many leading dimensions", small(op, {2, 1, 3, 2}, 33));
  }
  add("larger", small(op, {61}, 4099));
  Binding middle = small(op, {5}, 129);
  for (DataKind data : {DataKind::Huge, DataKind::Tiny, DataKind::Special, DataKind::Negative}) {
    add("values", middle, data);
  }
  for (LayoutKind layout : {LayoutKind::OuterStride, LayoutKind::Unaligned}) {
    add("layout", middle, DataKind::Normal, layout);
    add("layout", small(op, {2, 3}, 64), DataKind::Special, layout);
  }
  for (const Case &given : op.accuracyCases) {
    add(given.name, given.binding);
  }
  return grid;
}

LaidOut makeLaidOut(const std::vector<int64_t> &sizes, DType dtype, LayoutKind layout) {
  LaidOut made;
  int64_t count = elementCountOf(sizes).value_or(-1);
  bool plain = layout == LayoutKind::Contiguous || sizes.empty() || count <= 0;
  if (plain) {
    made.storage = made.view = Tensor::empty(sizes, dtype);
    if (made.storage.isValid()) {
      made.storage.poison();
    }
    return made;
  }
  constexpr int64_t gap = 3;
  int64_t rowLength = sizes.back();
  bool isStrided = layout == LayoutKind::OuterStride && sizes.size() > 1;
  int64_t step = isStrided ? rowLength + gap : rowLength;
  int64_t needed = 0;
  bool overflows = __builtin_mul_overflow(count / rowLength, step, &needed) ||
                   __builtin_add_overflow(needed, 1, &needed);
  made.storage = overflows ? Tensor() : Tensor::empty({needed}, dtype);
  if (overflows || !made.storage.isValid()) {
    made.view = Tensor::borrow(nullptr, sizes, dtype);
    return made;
  }
  made.storage.poison();
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t stride = step;
  for (size_t i = sizes.size() - 1; i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  int64_t first = layout == LayoutKind::Unaligned ? 1 : 0;
  char *base =
      static_cast<char *>(made.storage.data()) + first * static_cast<int64_t>(sizeInBytes(dtype));
  made.view = Tensor::borrow(base, sizes, dtype, strides);
  return made;
}

Result<std::vector<LaidOut>> makeInputs(const Operator &op, const GridCase &grid, DType dtype) {
  std::vector<LaidOut> inputs;
  uint64_t seed = grid.seed * 64;
  for (const Parameter &parameter : op.parameters) {
    ++seed;
    if (parameter.isScalar) {
      Tensor number = Tensor::empty({}, DType::F64);
      number.set(0, parameter.value);
      inputs.push_back({number, number});
      continue;
    }
    Result<std::vector<int64_t>> sizes = bind(parameter.shape, grid.binding);
    if (!sizes) {
      return sizes.error();
    }
    LaidOut made = makeLaidOut(*sizes, parameter.fixedDtype.value_or(dtype), grid.layout);
    if (!made.view.isValid()) {
      return makeError("E0506", fmt::format("no memory for input '{}' of shape {}", parameter.name,
                                            sizesText(*sizes)));
    }
    fill(made.view, grid.data, seed, isKeptNonNegative(op, parameter.name));
    inputs.push_back(std::move(made));
  }
  return inputs;
}

} // namespace nereid::definition
