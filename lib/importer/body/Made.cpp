// SPDX-License-Identifier: Apache-2.0
// Nodes that make tensors of sizes and numbers, as expressions.
#include "lib/importer/body/Expressions.h"
#include "lib/importer/shapes/Slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace nereid::importer {
namespace {

std::string integerText(int64_t value) {
  return value < 0 ? fmt::format("({})", value) : std::to_string(value);
}

/// One number everywhere.
std::string constantOfShape(Expressions &e) {
  const auto found = e.of().attributes.find("value");
  const Tensor *value =
      found == e.of().attributes.end() ? nullptr : std::get_if<Tensor>(&found->second);
  std::string number = "0.0";
  if (value) {
    if (!scalarOf(*value)) {
      Expressions::fail("has a value that is not one number");
    }
    number = value->floats.empty() ? integerText(value->integers[0]) : numberText(value->floats[0]);
  }
  return fmt::format("torch.full({}, {}, dtype={})", e.shapeText(e.resultShape()), number,
                     typeText(e.resultType()));
}

/// Numbers at even steps from known ends, as many as inference has found.
std::string range(Expressions &e) {
  const auto start = e.known(0), step = e.known(2);
  if (!start || !step || e.resultShape().size() != 1 || !e.resultShape()[0].isKnown()) {
    Expressions::fail("has ends that are not known before it runs");
  }
  const std::string places = fmt::format("torch.arange({})", e.sizeText(e.resultShape()[0]));
  const auto dtype = e.resultType().dtype();
  const bool isReal = dtype && isFloat(*dtype);
  auto number = [&](double value) {
    return isReal ? numberText(value) : integerText(static_cast<int64_t>(value));
  };
  std::string text = *step == 1 ? places : fmt::format("{} * {}", places, number(*step));
  text = *start == 0 ? text : fmt::format("{} + {}", text, number(*start));
  return dtype == DType::I64 ? text : fmt::format("({}).to({})", text, typeText(e.resultType()));
}

/// Ones on a diagonal of a matrix.
std::string eyeLike(Expressions &e) {
  const Shape &shape = e.resultShape();
  if (shape.size() != 2) {
    Expressions::fail("makes no matrix");
  }
  const std::string rows = e.sizeText(shape[0]), columns = e.sizeText(shape[1]);
  const int64_t above = e.of().integer("k", 0);
  const std::string from =
      above == 0 ? "" : fmt::format(" {} {}", above < 0 ? "-" : "+", std::abs(above));
  return fmt::format("(torch.arange({})[:, None]{} == torch.arange({})[None, :]).to({})", rows,
                     from, columns, typeText(e.resultType()));
}

/// Sizes as elements: where shapes have them already nothing reads this line, and it is left out.
std::string shapeAsValue(Expressions &e) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const SlicedDim taken =
      slicedDim(rank, e.of().integer("start", 0), e.of().integer("end", rank), 1);
  std::vector<std::string> sizes;
  for (int64_t i = taken.from; i < taken.from + taken.count; ++i) {
    sizes.push_back(fmt::format("torch.full((1,), {}, dtype=torch.int64)",
                                e.sizeText(e.shape(0)[static_cast<size_t>(i)])));
  }
  return sizes.empty()       ? "torch.full((0,), 0, dtype=torch.int64)"
         : sizes.size() == 1 ? sizes[0]
                             : fmt::format("torch.cat(({}), dim=0)", fmt::join(sizes, ", "));
}

std::string sizeAsValue(Expressions &e) {
  return fmt::format("torch.full((), {}, dtype=torch.int64)",
                     e.productText(e.shape(0), 0, e.shape(0).size()));
}

} // namespace

const RuleTable &madeRules() {
  static const RuleTable rules = {
      {"constantOfShape", constantOfShape}, {"eyeLike", eyeLike},  {"range", range},
      {"shapeAsValue", shapeAsValue},       {"size", sizeAsValue},
  };
  return rules;
}

} // namespace nereid::importer
