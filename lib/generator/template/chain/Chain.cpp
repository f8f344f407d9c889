// SPDX-License-Identifier: Apache-2.0
// Kernels of chains, see Chain.h.
#include "lib/generator/template/chain/Chain.h"

#include "lib/generator/launch/Table.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/ShortParts.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::Expr;
using kernel::name;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Below it an exponential is no normal float32.
constexpr double leastOfNormal = -87.3365;

class ChainWriting {
public:
  ChainWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
               const ProductChain &chain, const ChainParts *parts)
      : program(program), stores(stores), chain(chain), parts(parts),
        order(orderOf(program, stores)), writing(program, name, stores, resultDims()),
        products(program, writing, chain.inner), keys(dimOfKeys()),
        tiles(products, dimsWith(0, keys)), scoreTile(writing.tile, dimsWith(0, keys)),
        valueTile(writing.tile, dimsWith(1, keys)),
        ofScore(program, rootsOfScores(), scoreTile, writing.body, writing.arguments),
        ofValue(program, {chain.outer.b}, valueTile, writing.body, writing.arguments),
        onDevice(writing.constant(onDeviceName)) {}

  StageKernel run() {
    products.bind();
    if (isSoftmax()) {
      top = fresh("top", full(1, -infinity));
      total = fresh("total", full(1, 0));
      someKept = chain.passed.kept ? fresh("some_kept", full(1, 0)) : Expr();
    }
    acc = fresh("acc", call("tl.zeros", {kernel::tuple({blockOfQueries(), blockOfResult()}),
                                         name("tl.float32")}));
    for (const BesideChain &each : chain.beside) {
      besideSoFar.push_back(ofScore.beforeTurns(*each.own));
    }
    products.load();
    std::vector<Tile *> also = products.tiles();
    also.push_back(&valueTile);
    if (parts != nullptr) {
      addPart(also);
    } else {
      scoreTile.loop([&] { isSoftmax() ? turn() : plainTurn(); }, also);
      writing.values.give(chain.outer.reduce, {isSoftmax() ? fresh("attended", attended()) : acc});
    }
    for (size_t i = 0; i < chain.beside.size(); ++i) {
      const BesideChain &each = chain.beside[i];
      writing.values.give(each.reduce, ofScore.behindTurns(*each.own, besideSoFar[i]));
    }
    writing.values.store(stores);
    products.takeOffsets();
    writing.takeOffsets(ofScore);
    writing.takeOffsets(ofValue);
    std::vector<TileDim> others = products.depths();
    others.push_back(keys);
    StageKernel made = writing.take(others);
    products.finish(made);
    const std::vector<kernel::Kernel> helpers = ofScore.helpers();
    made.tree.helpers.insert(made.tree.helpers.end(), helpers.begin(), helpers.end());
    made.usesLibdevice |= ofScore.usesLibdevice() || ofValue.usesLibdevice();
    made.condition =
        fmt::format("{}*({} <= {})", products.condition(),
                    launchExtent(writing.tile.dimensions().back(), program), chainDepthAtMost);
    made.options.emplace_back("num_warps",
                              fmt::format("4 + 4*({}*{} >= 16384)", dimOf(writing.tile, 1).block,
                                          dimOf(writing.tile, 0).block));
    return made;
  }

private:
  /// The keys of the program's part, and what is left of them.
  void addPart(const std::vector<Tile *> &also) {
    const Polynomial count = program.space.iterators[parts->part].extent;
    const Expr blocks = fresh("blocks", scoreTile.blocksOf(keys));
    const Expr own = fresh("blocks_of_part", call("tl.cdiv", {blocks, *count.constant()}));
    const Expr first = fresh("first", writing.tile.along(0) * own);
    const Expr last = fresh("last", call("tl.minimum", {first + own, blocks}));
    scoreTile.loop(first, last, [&] { turn(); }, also);
    writing.values.give(chain.outer.reduce, {acc});
    writing.values.give(chain.top, {top});
    writing.values.give(chain.total, {total});
  }

  std::vector<const Node *> rootsOfScores() const {
    std::vector<const Node *> roots = {weights()};
    for (const Node *each : {chain.passed.value, chain.passed.kept}) {
      if (each) {
        roots.push_back(each);
      }
    }
    for (const BesideChain &each : chain.beside) {
      roots.push_back(each.own);
    }
    return roots;
  }

  void turn() {
    products.give(ofScore);
    const Expr inside = scoreTile.inside({*scoreTile.reducedDim()});
    const Expr scores =
        fresh("scores",
              call("tl.where", {inside, ofScore.valueOf(chain.scores), kernel::real(-infinity)}));
    const Expr next = fresh("next_top", call("tl.maximum", {top, alongKeys("tl.max", scores)}));
    // A query that sees nothing so far.
    const Expr base =
        fresh("base", call("tl.where", {kernel::binary("==", next, kernel::real(-infinity)),
                                        kernel::real(0), next}));
    const Expr distance = fresh("distance", scores - base);
    const Expr weight = fresh("weight", call("tl.exp", {distance}));
    bringIntoRange(weight, distance);
    const Expr less = call("tl.exp", {top - base});
    // What is dropped is 0 beside an infinite score as well.
    const Expr shrink = fresh(
        "shrink", chain.passed.kept
                      ? call("tl.where", {kernel::binary("==", top, next), kernel::real(1), less})
                      : less);
    assign(total, total * shrink + alongKeys("tl.sum", weight));
    attend(passed(weight, inside), acc * shrink);
    assign(top, next);
    for (size_t i = 0; i < chain.beside.size(); ++i) {
      ofScore.addTurn(*chain.beside[i].own, besideSoFar[i]);
    }
  }

  /// What meets the values.
  Expr passed(const Expr &weight, const Expr &inside) {
    if (!chain.passed.value) {
      return weight;
    }
    if (chain.passed.kept) {
      const Expr kept = kernel::binary("&", inside, ofScore.valueOf(chain.passed.kept));
      assign(someKept, call("tl.maximum",
                            {someKept, alongKeys("tl.max", call("tl.where", {kept, kernel::real(1),
                                                                             kernel::real(0)}))}));
    }
    ofScore.give(chain.passed.share, {weight});
    return fresh("passed",
                 call("tl.where", {inside, ofScore.valueOf(chain.passed.value), kernel::real(0)}));
  }

  /// The shares of a row are NaN all or none, which is nothing to a row that keeps none.
  Expr attended() const {
    const Expr quotient = acc / total;
    return chain.passed.kept
               ? call("tl.where", {kernel::binary(">", someKept, kernel::real(0)), quotient, acc})
               : quotient;
  }

  void plainTurn() {
    products.give(ofScore);
    const DType type = chain.outer.operand;
    if (chain.areWeightsRounded()) {
      const Expr weight = ofScore.factor(chain.outer.a, type, *scoreTile.reducedDim());
      assign(acc,
             product(weight, ofValue.factor(chain.outer.b, type, *valueTile.reducedDim()), acc));
      return;
    }
    const Expr inside = scoreTile.inside({*scoreTile.reducedDim()});
    attend(fresh("weight", call("tl.where", {inside, ofScore.valueOf(weights()), kernel::real(0)})),
           acc);
  }

  bool isSoftmax() const { return chain.scores != nullptr; }
  /// What is computed of the inner products.
  const Node *weights() const { return isSoftmax() ? chain.scores : chain.outer.a; }

  /// On devices, weights of halves are larger by a factor, as is then their sum, so that parts of
  /// the least ones are numbers that a bfloat16 has; halves leave room above for it. A processor
  /// takes a hundred times as long for a factor below the normal numbers, and for its comparison;
  /// what it would add is lost beside the largest weight, which is 1.
  void bringIntoRange(const Expr &weight, const Expr &distance) {
    const Expr isBelow = kernel::binary("<", distance, kernel::real(leastOfNormal));
    auto drop = [&] { assign(weight, call("tl.where", {isBelow, kernel::real(0), weight})); };
    if (chain.outer.operand == DType::F16) {
      writing.body.when(onDevice, [&] { assign(weight, weight * kernel::real(0x1p32)); }, drop);
    } else {
      writing.body.when(kernel::binary("==", onDevice, 0), drop);
    }
  }

  /// Adds the weighted values; those of 16 bits on devices by their matrix units, where weights are
  /// shares.
  void attend(const Expr &weight, const Expr &before) {
    const DType type = chain.outer.operand;
    const Expr value = ofValue.factor(chain.outer.b, type, *valueTile.reducedDim());
    const Expr whole =
        type == DType::F32 ? value : kernel::method(value, "to", {name("tl.float32")});
    if (type == DType::F32 || !isSoftmax()) {
      assign(acc, product(weight, whole, before));
      return;
    }
    writing.body.when(
        onDevice, [&] { attendInParts(weight, value, before); },
        [&] { assign(acc, product(weight, whole, before)); });
  }

  void attendInParts(const Expr &weight, const Expr &value, const Expr &before) {
    Expr sum = before;
    multiplyInParts(writing, weight, value, chain.outer.operand,
                    [&](const Expr &one, const Expr &other) {
                      assign(acc, product(one, other, sum));
                      sum = acc;
                    });
  }

  Expr fresh(const std::string &hint, const Expr &value) { return assigned(writing, hint, value); }
  void assign(const Expr &to, const Expr &value) { writing.body.assign(to->text, value); }

  /// As sums of float32.
  static Expr product(const Expr &a, const Expr &b, const Expr &sum) {
    return call("tl.dot", {a, b, sum, kernel::Argument("input_precision", kernel::string("ieee"))});
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

  std::vector<TileDim> resultDims() const {
    std::vector<TileDim> dims;
    if (parts != nullptr) {
      dims.push_back({"part", "", {parts->part}, DimForm::Point});
    }
    if (!chain.outer.batch.empty()) {
      dims.push_back({"batch", "", inOrder(order, chain.outer.batch), DimForm::Point});
    }
    TileDim m{"m", "BLOCK_M", inOrder(order, chain.outer.m)};
    TileDim e{"e", "BLOCK_E", inOrder(order, chain.outer.n), DimForm::Whole};
    m.blockAtLeast = leastProductBlock;
    e.blockAtLeast = chain.outer.operand == DType::F32 ? leastProductBlock : leastChainBlock;
    e.largest = std::to_string(chainDepthAtMost);
    if (!isSoftmax()) { // several products of a turn stand in registers
      m.largest = "64";
      dims.insert(dims.end(), {std::move(m), std::move(e)});
      return dims;
    }
    const TileDim d{"", "", chain.inner[0].k};
    std::string programs = fmt::format("cdiv({}, 128)", launchExtent(m, program));
    programs += dims.empty() ? "" : "*" + launchExtent(dims[0], program);
    m.largest = fmt::format("64 + 64*({} <= 128)*({} <= 128)*({} >= {})", launchExtent(d, program),
                            launchExtent(e, program), programs, processorsName);
    if (chain.passed.kept) { // whether a share is kept takes registers, as Philox's counters do
      m.largest = fmt::format("min({}, 128 - 112*{})", m.largest, onDeviceName);
    }
    dims.insert(dims.end(), {std::move(m), std::move(e)});
    return dims;
  }
  TileDim dimOfKeys() {
    TileDim n{"n", writing.arguments.names.fresh("BLOCK_N"), chain.outer.k, DimForm::Looped};
    n.blockAtLeast = leastProductBlock;
    std::vector<std::string> deep;
    for (const TileDim &depth : products.depths()) {
      deep.push_back(launchExtent(depth, program));
    }
    deep.push_back(launchExtent({"", "", inOrder(order, chain.outer.n)}, program));
    n.largest = largestOfKeys(chain.inner[0].operand, deep);
    return n;
  }
  /// Those of the result, with this one in place of the last (0: m stays) or of the one before it
  /// (1: e stays).
  std::vector<TileDim> dimsWith(size_t stays, const TileDim &own) const {
    std::vector<TileDim> dims = writing.tile.dimensions();
    dims[dims.size() - 1 - stays] = own;
    return dims;
  }

  const Program &program;
  const std::vector<Store> &stores;
  const ProductChain &chain;
  const ChainParts *parts; ///< null: of all keys
  const std::vector<IteratorId> order;
  KernelWriting writing;
  InnerProducts products;
  const TileDim keys;
  /// Makes the products' tiles, whose names come before those of the tiles behind.
  struct Tiles {
    Tiles(InnerProducts &products, const std::vector<TileDim> &ofScores) {
      products.makeTiles(ofScores);
    }
  } tiles;
  Tile scoreTile, valueTile;
  Values ofScore, ofValue;
  const Expr onDevice;
  Expr top, total, acc;
  Expr someKept;                  ///< 1 for a query of which a share is not dropped
  std::vector<Lanes> besideSoFar; ///< of chain.beside
};

} // namespace

/// Of deep ones upstream's compiler keeps three turns.
std::string largestOfKeys(DType operand, const std::vector<std::string> &depths) {
  std::string deepest = depths[0];
  for (size_t i = 1; i < depths.size(); ++i) {
    deepest = fmt::format("max({}, {})", deepest, depths[i]);
  }
  return operand == DType::F32 ? "32" : fmt::format("64 - 32*({} > 128)", deepest);
}

Result<StageKernel> emitChain(const Program &program, const std::string &name,
                              const std::vector<Store> &stores, const ProductChain &chain) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a chain's kernel has no {}", *found));
  }
  return ChainWriting(program, name, stores, chain, nullptr).run();
}

Result<StageKernel> emitChainPart(const Program &program, const std::string &name,
                                  const ProductChain &chain, const ChainParts &parts) {
  const std::vector<Store> &stores = parts.split.stages[0];
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a chain's kernel has no {}", *found));
  }
  return ChainWriting(program, name, stores, chain, &parts).run();
}

} // namespace nereid::generator
