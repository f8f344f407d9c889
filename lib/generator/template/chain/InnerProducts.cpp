// SPDX-License-Identifier: Apache-2.0
// Products within a loop, see InnerProducts.h.
#include "lib/generator/template/chain/InnerProducts.h"

#include "lib/generator/template/Blocks.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

using kernel::Expr;

/// Of factors of one type; of float32 all of its digits.
Expr product(const Expr &a, const Expr &b, DType type) {
  std::vector<kernel::Argument> list = {a, b};
  if (type == DType::F32) {
    list.emplace_back("input_precision", kernel::string("ieee"));
  } else if (type == DType::I8) {
    list.emplace_back("out_dtype", kernel::name("tl.int32"));
  }
  return kernel::call("tl.dot", std::move(list));
}

} // namespace

Expr alongKeys(const char *function, const Expr &scores) {
  return kernel::call(function, {scores, kernel::Argument("axis", 1),
                                 kernel::Argument("keep_dims", kernel::name("True"))});
}

InnerProducts::InnerProducts(const Program &program, KernelWriting &writing,
                             const std::vector<Contraction> &products)
    : program(program), writing(writing), products(products) {
  for (const Contraction &each : products) {
    TileDim depth{"d", writing.arguments.names.fresh("BLOCK_D"), each.k, DimForm::Whole};
    depth.blockAtLeast = each.operand == DType::I8 ? leastDepthOfBytes : leastProductBlock;
    depth.largest = std::to_string(chainDepthAtMost);
    ownDepths.push_back(std::move(depth));
  }
}

void InnerProducts::makeTiles(const std::vector<TileDim> &ofScores) {
  for (size_t i = 0; i < products.size(); ++i) {
    std::vector<TileDim> ofQueries = ofScores, ofKeys = ofScores;
    ofQueries.back() = ownDepths[i];
    ofKeys[ofKeys.size() - 2] = ownDepths[i];
    all.emplace_back(program, writing, products[i], std::move(ofQueries), std::move(ofKeys));
  }
}

void InnerProducts::bind() {
  for (One &one : all) {
    one.queries.bindOwn();
    one.keys.bindOwn();
  }
}

void InnerProducts::load() {
  for (One &one : all) {
    one.query = one.ofQuery.factor(one.product.a, one.product.operand, *one.queries.reducedDim());
  }
}

std::vector<Tile *> InnerProducts::tiles() {
  std::vector<Tile *> result;
  for (One &one : all) {
    result.push_back(&one.keys);
  }
  return result;
}

void InnerProducts::give(Values &ofScores) {
  for (One &one : all) {
    const size_t depth = one.keys.dimensions().size() - 2;
    const Expr key = one.ofKey.factor(one.product.b, one.product.operand, depth);
    ofScores.give(one.product.reduce,
                  {assigned(writing, "dot", product(one.query, key, one.product.operand))});
  }
}

void InnerProducts::takeOffsets() {
  for (const One &one : all) {
    writing.takeOffsets(one.ofQuery);
    writing.takeOffsets(one.ofKey);
  }
}

void InnerProducts::finish(StageKernel &made) const {
  for (const One &one : all) {
    made.usesLibdevice |= one.ofQuery.usesLibdevice() || one.ofKey.usesLibdevice();
  }
}

std::string InnerProducts::condition() const {
  std::string all;
  for (const TileDim &depth : ownDepths) {
    all += fmt::format("{}({} <= {})", all.empty() ? "" : "*", launchExtent(depth, program),
                       chainDepthAtMost);
  }
  return all;
}

} // namespace nereid::generator
