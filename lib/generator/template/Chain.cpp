// SPDX-License-Identifier: Apache-2.0
// Kernels of chains, see Chain.h.
#include "lib/generator/template/Chain.h"

#include "lib/generator/launch/Table.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::Expr;
using kernel::name;

/// What a matrix unit takes.
constexpr int64_t leastBlock = 16;
/// Of the sums of products of 8-bit factors.
constexpr int64_t leastDepthOfBytes = 32;
/// Bits of a float32 that a tensor float has: all but 13.
constexpr int64_t tensorFloatBits = -8192;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Below it an exponential is no normal float32.
constexpr double leastOfNormal = -87.3365;

class ChainWriting {
public:
  ChainWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
               const ProductChain &chain)
      : program(program), stores(stores), chain(chain), order(orderOf(program, stores)),
        writing(program, name, stores, resultDims()), depth(dimOfDepth()), keys(dimOfKeys()),
        queryTile(writing.tile, dimsWith(0, depth)), keyTile(writing.tile, dimsOfKeyTile()),
        scoreTile(writing.tile, dimsWith(0, keys)), valueTile(writing.tile, dimsWith(1, keys)),
        ofQuery(program, {chain.inner.a}, queryTile, writing.body, writing.arguments),
        ofKey(program, {chain.inner.b}, keyTile, writing.body, writing.arguments),
        ofScore(program, rootsOfScores(), scoreTile, writing.body, writing.arguments),
        ofValue(program, {chain.outer.b}, valueTile, writing.body, writing.arguments),
        onDevice(writing.constant(onDeviceName)) {}

  StageKernel run() {
    queryTile.bindOwn();
    keyTile.bindOwn();
    top = fresh("top", full(1, -infinity));
    total = fresh("total", full(1, 0));
    acc = fresh("acc", call("tl.zeros", {kernel::tuple({blockOfQueries(), blockOfResult()}),
                                         name("tl.float32")}));
    for (const BesideChain &each : chain.beside) {
      besideSoFar.push_back(ofScore.beforeTurns(*each.own));
    }
    query = ofQuery.factor(chain.inner.a, chain.inner.operand, *queryTile.reducedDim());
    scoreTile.loop([&] { turn(); }, {&keyTile, &valueTile});
    writing.values.give(chain.outer.reduce, {fresh("attended", acc / total)});
    for (size_t i = 0; i < chain.beside.size(); ++i) {
      const BesideChain &each = chain.beside[i];
      writing.values.give(each.reduce, ofScore.behindTurns(*each.own, besideSoFar[i]));
    }
    writing.values.store(stores);
    const std::initializer_list<const Values *> all = {&ofQuery, &ofKey, &ofScore, &ofValue};
    std::for_each(all.begin(), all.end(), [&](const Values *each) { writing.takeOffsets(*each); });
    StageKernel made = writing.take({depth, keys});
    const std::vector<kernel::Kernel> helpers = ofScore.helpers();
    made.tree.helpers.insert(made.tree.helpers.end(), helpers.begin(), helpers.end());
    made.usesLibdevice |= std::any_of(all.begin(), all.end(),
                                      [](const Values *each) { return each->usesLibdevice(); });
    made.condition =
        fmt::format("({0} <= {2})*({1} <= {2})", launchExtent(depth, program),
                    launchExtent(writing.tile.dimensions().back(), program), chainDepthAtMost);
    made.options.emplace_back("num_warps",
                              fmt::format("4 + 4*({}*{} >= 16384)", dimOf(writing.tile, 1).block,
                                          dimOf(writing.tile, 0).block));
    return made;
  }

private:
  std::vector<const Node *> rootsOfScores() const {
    std::vector<const Node *> roots = {chain.scores};
    for (const BesideChain &each : chain.beside) {
      roots.push_back(each.own);
    }
    return roots;
  }

  void turn() {
    const Expr key =
        ofKey.factor(chain.inner.b, chain.inner.operand, keyTile.dimensions().size() - 2);
    const Expr dot = fresh("dot", scoresOf(query, key, chain.inner.operand));
    ofScore.give(chain.inner.reduce, {dot});
    const Expr inside = scoreTile.inside({*scoreTile.reducedDim()});
    const Expr scores =
        fresh("scores",
              call("tl.where", {inside, ofScore.valueOf(chain.scores), kernel::real(-infinity)}));
    const Expr next = fresh("next_top", call("tl.maximum", {top, across("tl.max", scores)}));
    // A query that sees nothing so far.
    const Expr base =
        fresh("base", call("tl.where", {kernel::binary("==", next, kernel::real(-infinity)),
                                        kernel::real(0), next}));
    const Expr distance = fresh("distance", scores - base);
    const Expr weight = fresh("weight", call("tl.exp", {distance}));
    dropSubnormal(weight, distance);
    const Expr shrink = fresh("shrink", call("tl.exp", {top - base}));
    assign(total, total * shrink + across("tl.sum", weight));
    attend(weight, shrink);
    assign(top, next);
    for (size_t i = 0; i < chain.beside.size(); ++i) {
      ofScore.addTurn(*chain.beside[i].own, besideSoFar[i]);
    }
  }

  /// A processor takes a hundred times as long for a factor below the normal numbers, and for its
  /// comparison. What it would add is lost beside the largest weight, which is 1.
  void dropSubnormal(const Expr &weight, const Expr &distance) {
    const Expr isBelow = kernel::binary("<", distance, kernel::real(leastOfNormal));
    writing.body.when(kernel::binary("==", onDevice, 0), [&] {
      assign(weight, call("tl.where", {isBelow, kernel::real(0), weight}));
    });
  }

  /// Adds the weighted values, on devices those of 16 bits by their matrix units.
  void attend(const Expr &weight, const Expr &shrink) {
    const bool isShort = chain.outer.operand != DType::F32;
    const Expr value = ofValue.factor(chain.outer.b, DType::F32, *valueTile.reducedDim());
    auto add = [&] { assign(acc, product(weight, value, acc * shrink, "ieee")); };
    if (isShort) {
      writing.body.when(onDevice, [&] { attendAsTensorFloats(weight, value, shrink); }, add);
    } else {
      add();
    }
  }

  /// Values of 16 bits are tensor floats as they are, and a weight is the sum of two such, so that
  /// the matrix unit loses nothing that float32 has; what the second one adds to an infinite value
  /// is left out, as it may be 0 times that.
  void attendAsTensorFloats(const Expr &weight, const Expr &value, const Expr &shrink) {
    const Expr bits = kernel::method(weight, "to", {name("tl.int32"), bitcast()});
    const Expr high = fresh("high", kernel::method(kernel::binary("&", bits, tensorFloatBits), "to",
                                                   {name("tl.float32"), bitcast()}));
    assign(acc, product(high, value, acc * shrink, "tf32"));
    const Expr isFinite = kernel::binary("<", call("tl.abs", {value}), kernel::real(infinity));
    const Expr finite = fresh("finite", call("tl.where", {isFinite, value, kernel::real(0)}));
    assign(acc, product(weight - high, finite, acc, "tf32"));
  }
  static kernel::Argument bitcast() { return kernel::Argument("bitcast", name("True")); }

  Expr fresh(const std::string &hint, const Expr &value) {
    const std::string own = writing.arguments.names.fresh(hint);
    writing.body.assign(own, value);
    return name(own);
  }
  void assign(const Expr &to, const Expr &value) { writing.body.assign(to->text, value); }

  static Expr across(const char *function, const Expr &value) {
    return call(function,
                {value, kernel::Argument("axis", 1), kernel::Argument("keep_dims", name("True"))});
  }
  /// Of float32.
  static Expr product(const Expr &a, const Expr &b, const Expr &sum, const char *precision) {
    return call("tl.dot",
                {a, b, sum, kernel::Argument("input_precision", kernel::string(precision))});
  }
  /// Of factors of one type; of float32 all of its digits.
  static Expr scoresOf(const Expr &a, const Expr &b, DType type) {
    std::vector<kernel::Argument> list = {a, b};
    if (type == DType::F32) {
      list.emplace_back("input_precision", kernel::string("ieee"));
    } else if (type == DType::I8) {
      list.emplace_back("out_dtype", name("tl.int32"));
    }
    return call("tl.dot", std::move(list));
  }
  Expr full(int64_t width, double value) {
    return call("tl.full", {kernel::tuple({blockOfQueries(), kernel::Expr(width)}),
                            kernel::real(value), name("tl.float32")});
  }
  Expr blockOfQueries() const { return name(dimOf(writing.tile, 1).block); }
  Expr blockOfResult() const { return name(dimOf(writing.tile, 0).block); }

  // ---- dimensions ----

  /// Counted from the last one.
  static const TileDim &dimOf(const Tile &tile, size_t fromEnd) {
    return tile.dimensions()[tile.dimensions().size() - 1 - fromEnd];
  }
  std::vector<IteratorId> inOrder(const std::vector<IteratorId> &some) const {
    std::vector<IteratorId> result;
    std::copy_if(order.begin(), order.end(), std::back_inserter(result), [&](IteratorId each) {
      return std::find(some.begin(), some.end(), each) != some.end();
    });
    return result;
  }

  std::vector<TileDim> resultDims() const {
    std::vector<TileDim> dims;
    if (!chain.outer.batch.empty()) {
      dims.push_back({"batch", "", inOrder(chain.outer.batch), DimForm::Point});
    }
    TileDim m{"m", "BLOCK_M", inOrder(chain.outer.m)};
    TileDim e{"e", "BLOCK_E", inOrder(chain.outer.n), DimForm::Whole};
    const TileDim d{"", "", chain.inner.k};
    m.blockAtLeast = e.blockAtLeast = leastBlock;
    std::string programs = fmt::format("cdiv({}, 128)", launchExtent(m, program));
    programs += dims.empty() ? "" : "*" + launchExtent(dims[0], program);
    m.largest = fmt::format("64 + 64*({} <= 128)*({} <= 128)*({} >= {})", launchExtent(d, program),
                            launchExtent(e, program), programs, processorsName);
    e.largest = std::to_string(chainDepthAtMost);
    dims.push_back(std::move(m));
    dims.push_back(std::move(e));
    return dims;
  }
  TileDim dimOfDepth() {
    TileDim d{"d", writing.arguments.names.fresh("BLOCK_D"), chain.inner.k, DimForm::Whole};
    d.blockAtLeast = chain.inner.operand == DType::I8 ? leastDepthOfBytes : leastBlock;
    d.largest = std::to_string(chainDepthAtMost);
    return d;
  }
  TileDim dimOfKeys() {
    TileDim n{"n", writing.arguments.names.fresh("BLOCK_N"), chain.outer.k, DimForm::Looped};
    n.blockAtLeast = leastBlock;
    // Deep keys and values, which upstream's compiler keeps three turns of, leave room for fewer.
    const TileDim d{"", "", chain.inner.k}, e{"", "", inOrder(chain.outer.n)};
    n.largest = chain.inner.operand == DType::F32
                    ? "32"
                    : fmt::format("64 - 32*(max({}, {}) > 128)", launchExtent(d, program),
                                  launchExtent(e, program));
    return n;
  }
  /// Those of the result, with this one in place of the last (0: m stays) or of the one before it
  /// (1: e stays).
  std::vector<TileDim> dimsWith(size_t stays, const TileDim &own) const {
    std::vector<TileDim> dims = writing.tile.dimensions();
    dims[dims.size() - 1 - stays] = own;
    return dims;
  }

  std::vector<TileDim> dimsOfKeyTile() const {
    std::vector<TileDim> dims = dimsWith(1, depth);
    dims.back() = keys;
    return dims;
  }

  const Program &program;
  const std::vector<Store> &stores;
  const ProductChain &chain;
  const std::vector<IteratorId> order;
  KernelWriting writing;
  const TileDim depth, keys;
  Tile queryTile, keyTile, scoreTile, valueTile;
  Values ofQuery, ofKey, ofScore, ofValue;
  const Expr onDevice;
  Expr top, total, acc, query;
  std::vector<Lanes> besideSoFar; ///< of chain.beside
};

} // namespace

Result<StageKernel> emitChain(const Program &program, const std::string &name,
                              const std::vector<Store> &stores, const ProductChain &chain) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a chain's kernel has no {}", *found));
  }
  return ChainWriting(program, name, stores, chain).run();
}

} // namespace nereid::generator
