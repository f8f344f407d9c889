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
  if (own == 0 || (own == 1 && e.shape(input)[0] == Dim{1, ""})) {
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

std::string quantize(Expressions &e) {
  const auto to = e.resultType().dtype();
  if (to != DType::I8 && to != DType::U8 && to != DType::I16) {
    Expressions::fail(fmt::format("makes elements of {}", e.resultType().name()));
  }
  const std::string x = e.tensor(0), scale = spread(e, 1);
  std::string text = fmt::format("torch.round({} / {})", x, scale);
  if (e.of().hasInput(2)) {
    text = fmt::format("{} + {}", text, spread(e, 2));
  }
  const char *ends = to == DType::I8   ? "-128.0, 127.0"
                     : to == DType::U8 ? "0.0, 255.0"
                                       : "-32768.0, 32767.0";
  return fmt::format("torch.clamp({}, {}).to({})", text, ends, typeText(e.resultType()));
}

std::string matMulInteger(Expressions &e) {
  auto side = [&](size_t input, size_t zero) {
    const std::string x = fmt::format("{}.to(torch.int32)", e.tensor(input));
    if (!e.of().hasInput(zero)) {
      return x;
    }
    if (!e.shape(zero).empty() && e.shape(zero) != Shape{Dim{1, ""}}) {
      Expressions::fail("has a zero for each row or column");
    }
    return fmt::format("({} - {}.to(torch.int32))", x, e.tensor(zero));
  };
  const std::string a = side(0, 2), b = side(1, 3);
  return fmt::format("torch.matmul({}, {})", a, b);
}

} // namespace

const RuleTable &conversionRules() {
  static const RuleTable rules = {
      {"cast", cast},
      {"dequantize", dequantize},
      {"matMulInteger", matMulInteger},
      {"quantize", quantize},
  };
  return rules;
}

} // namespace nereid::importer
