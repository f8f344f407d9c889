// SPDX-License-Identifier: Apache-2.0
// Nodes that change an element's type, as expressions.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>

namespace nereid::importer {

std::string typeText(ElementType type) {
  const auto dtype = type.dtype();
  if (!dtype) {
    Expressions::fail(fmt::format("has elements of {}, which definitions lack", type.name()));
  }
  return fmt::format("torch.{}", torchName(*dtype));
}

namespace {

std::string cast(Expressions &e) {
  const std::string x = e.tensor(0);
  return e.resultType() == e.type(0) ? x : fmt::format("{}.to({})", x, typeText(e.resultType()));
}

/// A factor or zero for all elements, or one for each of dimension `axis`, as float32.
std::string spread(Expressions &e, size_t input) {
  if (const auto number = e.known(input)) {
    return numberText(*number);
  }
  const size_t rank = e.shape(0).size(), own = e.shape(input).size();
  std::string text = e.tensor(input);
  if (e.type(input) != ElementType::of(DType::F32)) {
    text = fmt::format("{}.to(torch.float32)", text);
  }
  if (e.isNumber(input)) {
    return text;
  }
  if (own > 1 || e.of().integer("block_size", 0) != 0) {
    Expressions::fail("has factors for blocks of elements");
  }
  for (auto i = static_cast<size_t>(e.axis(e.of().integer("axis", 1), rank)) + 1; i < rank; ++i) {
    text = fmt::format("{}.unsqueeze(-1)", text);
  }
  return text;
}

std::string dequantize(Expressions &e) {
  std::string x = fmt::format("{}.to(torch.float32)", e.tensor(0));
  const std::string scale = spread(e, 1);
  if (e.of().hasInput(2)) {
    x = fmt::format("({} - {})", x, spread(e, 2));
  }
  const std::string text = fmt::format("{} * {}", x, scale);
  const bool isSingle = e.resultType() == ElementType::of(DType::F32);
  return isSingle ? text : fmt::format("({}).to({})", text, typeText(e.resultType()));
}

/// The nearest number that the result's type of integers has; NaN, of which ONNX says nothing, is
/// 0.
std::string asIntegers(Expressions &e, const std::string &steps) {
  const auto to = e.resultType().dtype();
  const char *ends = to == DType::I8    ? "-128.0, 127.0"
                     : to == DType::U8  ? "0.0, 255.0"
                     : to == DType::U16 ? "0.0, 65535.0"
                                        : "-32768.0, 32767.0";
  const std::string clamped = e.step("steps", fmt::format("torch.clamp({}, {})", steps, ends));
  return fmt::format("torch.where(torch.isnan({0}), 0.0, {0}).to({1})", clamped,
                     typeText(e.resultType()));
}

std::string quantize(Expressions &e) {
  const auto to = e.resultType().dtype();
  if (to != DType::I8 && to != DType::U8 && to != DType::I16 && to != DType::U16) {
    Expressions::fail(fmt::format("makes elements of {}", e.resultType().name()));
  }
  const std::string x = e.tensor(0), scale = spread(e, 1);
  std::string text = fmt::format("torch.round({} / {})", x, scale);
  if (e.of().hasInput(2)) {
    text = fmt::format("{} + {}", text, spread(e, 2));
  }
  return asIntegers(e, text);
}

std::string matMulInteger(Expressions &e) {
  auto side = [&](size_t input, size_t zero) {
    const std::string x = fmt::format("{}.to(torch.int32)", e.tensor(input));
    if (!e.of().hasInput(zero)) {
      return x;
    }
    if (!e.isNumber(zero)) {
      Expressions::fail("has a zero for each row or column");
    }
    return fmt::format("({} - {}.to(torch.int32))", x, e.tensor(zero));
  };
  const std::string a = side(0, 2), b = side(1, 3);
  return fmt::format("torch.matmul({}, {})", a, b);
}

/// The product of integers, then what its elements stand for, as the nearest integers of the
/// result.
std::string qLinearMatMul(Expressions &e) {
  const auto to = e.resultType().dtype();
  if (to != DType::I8 && to != DType::U8) {
    Expressions::fail(fmt::format("makes elements of {}", e.resultType().name()));
  }
  for (size_t input : {1, 2, 4, 5, 6, 7}) {
    if (!e.isNumber(input)) {
      Expressions::fail("has a factor or a zero for each row or column");
    }
  }
  e.useAll();
  auto whole = [&](size_t input) { return fmt::format("{}.to(torch.int32)", e.tensor(input)); };
  auto real = [&](size_t input) {
    const bool isSingle = e.type(input) == ElementType::of(DType::F32);
    return isSingle ? e.tensor(input) : fmt::format("{}.to(torch.float32)", e.tensor(input));
  };
  const std::string product =
      e.step("product",
             fmt::format("torch.matmul({} - {}, {} - {})", whole(0), whole(2), whole(3), whole(5)));
  return asIntegers(e, fmt::format("torch.round({}.to(torch.float32) * ({} * {} / {})) + {}",
                                   product, real(1), real(4), real(6), real(7)));
}

/// By the smallest and the largest element, 0 among them.
std::string dynamicQuantize(Expressions &e) {
  const std::string x = e.tensor(0);
  const std::string low = e.step("low", fmt::format("torch.clamp(torch.amin({}), max=0.0)", x)),
                    high = e.step("high", fmt::format("torch.clamp(torch.amax({}), min=0.0)", x));
  // Where all elements are 0 any factor is right.
  const std::string span = e.step("span", fmt::format("({} - {}) / 255.0", high, low)),
                    scale =
                        e.step("factor", fmt::format("torch.where({0} == 0.0, 1.0, {0})", span)),
                    zero =
                        e.step("zero", fmt::format("torch.clamp(torch.round(0.0 - {} / {}), 0.0, "
                                                   "255.0)",
                                                   low, scale));
  e.setResults(3);
  const std::string y = asIntegers(e, fmt::format("torch.round({} / {}) + {}", x, scale, zero));
  return fmt::format("{}, {}, torch.where(torch.isnan({}), 0.0, {}).to(torch.uint8)", y, scale,
                     zero, zero);
}

} // namespace

const RuleTable &conversionRules() {
  static const RuleTable rules = {
      {"cast", cast},
      {"dequantize", dequantize},
      {"dynamicQuantize", dynamicQuantize},
      {"qLinearMatMul", qLinearMatMul},
      {"matMulInteger", matMulInteger},
      {"quantize", quantize},
  };
  return rules;
}

} // namespace nereid::importer
