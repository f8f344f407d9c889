// SPDX-License-Identifier: Apache-2.0
// The law of MaskBounds: a term holds for the first elements, or for all others, as the bound says;
// for every comparison, with the limit on either side, by the comparison's own definition.
#include "lib/tile/analysis/MaskBounds.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace nereid::test {
namespace {

constexpr int64_t size = 8;

struct Case {
  std::string predicate;
  bool isLimitLeft = false;
  int64_t start = 0, stride = 1, limit = 0;

  std::string text() const {
    return fmt::format(R"(
func.func @term(%linear: tensor<8xi32>, %limit: tensor<8xi32>) -> tensor<8xi1> {{
  %term = arith.cmpi {}, {} : tensor<8xi32>
  return %term : tensor<8xi1>
}})",
                       predicate, isLimitLeft ? "%limit, %linear" : "%linear, %limit");
  }

  bool holds(int64_t element) const {
    const int64_t number = start + stride * element;
    const int64_t left = isLimitLeft ? limit : number, right = isLimitLeft ? number : limit;
    return predicate == "slt"   ? left < right
           : predicate == "sle" ? left <= right
           : predicate == "sgt" ? left > right
                                : left >= right;
  }
};

/// The bound of the case's term, for tiles that grow by its stride.
std::optional<tile::MaskBound> boundOf(const Case &one, mlir::ModuleOp module) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  mlir::Value term = function.getBody().front().getTerminator()->getOperand(0);
  mlir::Value linear = function.getArgument(0), limit = function.getArgument(1);
  auto bound = tile::boundOf(term, [&](mlir::Value tile) -> std::optional<int64_t> {
    return tile == linear ? one.stride : 0;
  });
  if (bound) {
    EXPECT_EQ(bound->linear, linear);
    EXPECT_EQ(bound->limit, limit);
    EXPECT_EQ(bound->stride, one.stride);
  }
  return bound;
}

class MaskBounds : public testing::Test {
protected:
  MaskBounds() { tile::loadDialects(context); }

  std::optional<tile::MaskBound> parse(const Case &one) {
    module = mlir::parseSourceString<mlir::ModuleOp>(one.text(), &context);
    return boundOf(one, *module);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(MaskBounds, SayWhereTheTermHolds) {
  for (const char *predicate : {"slt", "sle", "sgt", "sge"}) {
    for (bool isLimitLeft : {false, true}) {
      for (int64_t stride : {1, 2, 5}) {
        const auto bound = parse({predicate, isLimitLeft, 0, stride, 0});
        ASSERT_TRUE(bound) << predicate << isLimitLeft << stride;
        for (int64_t start : {-9, -3, 0, 4}) {
          for (int64_t limit : {-10, -3, -1, 0, 3, 4, 9, 100}) {
            const Case one{predicate, isLimitLeft, start, stride, limit};
            for (int64_t i = 0; i < size; ++i) {
              const int64_t number = start + stride * i;
              const bool isFirst = bound->inclusive ? number <= limit : number < limit;
              ASSERT_EQ(one.holds(i), isFirst != bound->isLower)
                  << predicate << " " << isLimitLeft << " " << number << " " << limit;
            }
          }
        }
      }
    }
  }
}

TEST_F(MaskBounds, AreNoneOfOtherComparisonsAndSteps) {
  for (const char *predicate : {"eq", "ne", "ult"}) {
    EXPECT_FALSE(parse({predicate, false, 0, 1, 0})) << predicate;
  }
  for (int64_t stride : {0, -1, -3}) {
    EXPECT_FALSE(parse({"slt", false, 0, stride, 0})) << stride;
    EXPECT_FALSE(parse({"slt", true, 0, stride, 0})) << stride;
  }
}

} // namespace
} // namespace nereid::test
