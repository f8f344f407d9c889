// SPDX-License-Identifier: Apache-2.0
// Kernels of contractions, see Contract.h.
#include "lib/generator/template/Contract.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class ContractWriting {
public:
  ContractWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
                  const std::vector<Contraction> &contractions, TileShare share,
                  const std::vector<BufferId> &parts)
      : program(program), stores(stores), contractions(contractions), share(share), parts(parts),
        writing(program, name, stores, resultDims(), share), a(writing.tile, dimsOfA()),
        b(writing.tile, dimsOfB(a.dimensions().back())),
        ofA(program, factors(&Contraction::a), a, writing.body, writing.arguments),
        ofB(program, factors(&Contraction::b), b, writing.body, writing.arguments) {
    if (isOfLastWave()) {
      last = {freshName("first_tile"), freshName("depth"), freshName("turns"), freshName("first"),
              freshName("end")};
    }
  }

  StageKernel run() {
    if (isOfLastWave()) {
      before = fresh("before", (name(writing.place) - name(last.first)) * name(last.depth));
      cells = fresh("cells", kernel::axis(call("tl.arange", {0, rows()}), 0, 2) * columns() +
                                 kernel::axis(call("tl.arange", {0, columns()}), 1, 2));
    }
    std::vector<std::string> sums;
    for (size_t i = 0; i < contractions.size(); ++i) {
      sums.push_back(writing.arguments.names.fresh("acc"));
      writing.body.assign(
          sums.back(),
          call("tl.zeros", {shape(), name(isOfIntegers() ? "tl.int32" : "tl.float32")}));
    }
    if (share == TileShare::Joined) {
      addParts(sums);
    } else {
      addProducts(sums);
    }
    if (share == TileShare::Dealt) {
      leave(sums);
    } else {
      for (size_t i = 0; i < contractions.size(); ++i) {
        writing.values.give(contractions[i].reduce, {name(sums[i])});
      }
      writing.values.store(stores);
    }
    if (share != TileShare::Each) {
      writing.body.enclose(writing.place, [&] { return tilesOfProgram(); });
    }
    writing.takeOffsets(ofA);
    writing.takeOffsets(ofB);
    StageKernel made = writing.take({a.dimensions().back()});
    made.options.emplace_back("num_warps", blocks().warps);
    made.usesLibdevice |= ofA.usesLibdevice() || ofB.usesLibdevice();
    keepAccesses(made);
    return made;
  }

private:
  /// Names of what all programs of the last wave know: its first tile, turns of a tile's loop and
  /// of a program, and the first turn of this one and the first one behind its last.
  struct LastWave {
    std::string first, depth, turns, from, to;
  };

  static kernel::Expr name(const std::string &text) { return kernel::name(text); }
  static kernel::Expr call(const std::string &function, std::vector<kernel::Argument> arguments) {
    return kernel::call(function, std::move(arguments));
  }

  std::string freshName(const std::string &hint) { return writing.arguments.names.fresh(hint); }
  std::string fresh(const std::string &hint, const kernel::Expr &value) {
    const std::string made = freshName(hint);
    writing.body.assign(made, value);
    return made;
  }
  static kernel::Expr ofGrid(const std::string &what) {
    return call(what, {kernel::Argument("axis", 0)});
  }
  static kernel::Expr quotient(const kernel::Expr &a, const kernel::Expr &b) {
    return kernel::binary("//", a, b);
  }

  bool isOfLastWave() const { return share == TileShare::Dealt || share == TileShare::Joined; }

  void addProducts(const std::vector<std::string> &sums) {
    auto turn = [&] {
      for (size_t i = 0; i < contractions.size(); ++i) {
        multiply(contractions[i], sums[i]);
      }
    };
    if (share == TileShare::Dealt) {
      a.loop(call("tl.maximum", {name(last.from) - name(before), 0}),
             call("tl.minimum", {name(last.to) - name(before), name(last.depth)}), turn, {&b});
    } else {
      a.loop(turn, {&b});
    }
  }

  /// The tiles of this program, behind the definitions of what they follow from.
  kernel::Expr tilesOfProgram() {
    kernel::Expr all;
    for (const TileDim &dim : writing.tile.dimensions()) {
      const kernel::Expr blocks = writing.tile.blocksOf(dim);
      all = all ? all * blocks : blocks;
    }
    const kernel::Expr own = ofGrid("tl.program_id"), programs = ofGrid("tl.num_programs");
    const kernel::Expr tiles = name(fresh("tiles", all));
    if (share == TileShare::Walked) {
      return call("range", {own, tiles, programs});
    }
    const kernel::Expr first = name(last.first), depth = name(last.depth), turns = name(last.turns);
    writing.body.assign(last.first, tiles - kernel::binary("%", tiles, programs));
    writing.body.assign(
        last.depth, call("tl.maximum", {a.blocksOf(a.dimensions().back()), 1})); // k may be empty
    writing.body.when(name("WIDE"), [&] {
      writing.body.assign(last.depth, kernel::method(depth, "to", {name("tl.int64")}));
    });
    writing.body.assign(last.turns, call("tl.cdiv", {(tiles - first) * depth, programs}));
    if (share == TileShare::Joined) {
      return call("range", {first + own, tiles, programs});
    }
    const kernel::Expr from = name(last.from), to = name(last.to);
    writing.body.assign(last.from, own * turns);
    writing.body.assign(last.to, call("tl.minimum", {from + turns, (tiles - first) * depth}));
    return call("range", {first + quotient(from, depth), first + call("tl.cdiv", {to, depth})});
  }

  /// Where sums of a tile are that a program has left there, whose first turn is `from`: behind
  /// those of its first tile, if they are of its second one.
  kernel::Expr addressOfPart(size_t i, const kernel::Expr &program, const kernel::Expr &from) {
    const kernel::Expr number = kernel::Expr(2) * program + name(writing.place) - name(last.first) -
                                quotient(from, name(last.depth));
    const std::string slot = fresh("slot", number);
    return writing.arguments.memory(parts[i]) + name(slot) * (rows() * columns()) + name(cells);
  }

  void leave(const std::vector<std::string> &sums) {
    for (size_t i = 0; i < sums.size(); ++i) {
      const kernel::Expr to = addressOfPart(i, ofGrid("tl.program_id"), name(last.from));
      writing.body.evaluate(call("tl.store", {to, name(sums[i])}));
    }
  }

  void addParts(const std::vector<std::string> &sums) {
    const kernel::Expr turns = name(last.turns), first = quotient(name(before), turns);
    const kernel::Expr end =
        quotient(name(before) + name(last.depth) - 1, turns) + 1; // those of the last turn, too
    const std::string program = freshName("program");
    writing.body.loop(program, call("range", {first, end}), [&] {
      for (size_t i = 0; i < sums.size(); ++i) {
        const kernel::Expr from = addressOfPart(i, name(program), name(program) * turns);
        writing.body.update(sums[i], "+", call("tl.load", {from}));
      }
    });
  }

  /// What the kernel touches of those of all, its sums apart.
  void keepAccesses(StageKernel &made) const {
    const size_t k = made.dims.size() - 1;
    if (share == TileShare::Dealt) {
      std::erase_if(made.accesses, [&](const TileAccess &one) { return !one.dims.contains(k); });
    } else if (share == TileShare::Joined) {
      std::erase_if(made.accesses, [&](const TileAccess &one) { return one.dims.contains(k); });
    }
  }

  static TileDim blocked(const char *index, const char *block, std::vector<IteratorId> iterators) {
    TileDim dim{index, block, std::move(iterators)};
    dim.blockAtLeast = leastProductBlock;
    return dim;
  }

  std::vector<TileDim> resultDims() const {
    const std::vector<IteratorId> order = orderOf(program, stores);
    std::vector<TileDim> dims;
    if (!contractions[0].batch.empty()) {
      dims.push_back({"batch", "", inOrder(order, contractions[0].batch), DimForm::Point});
    }
    TileDim m = blocked("m", "BLOCK_M", inOrder(order, contractions[0].m));
    TileDim n = blocked("n", "BLOCK_N", inOrder(order, contractions[0].n));
    const ProductBlocks blocks = productBlocks(dims, m, n, contractions[0].operand, program);
    m.largest = blocks.m;
    m.group = "GROUP_M";
    n.largest = blocks.n;
    dims.push_back(std::move(m));
    dims.push_back(std::move(n));
    return dims;
  }
  /// Those of the result but the last one, and k behind them.
  std::vector<TileDim> dimsOfA() {
    std::vector<TileDim> dims = writing.tile.dimensions();
    dims.back() = blocked("k", "BLOCK_K", contractions[0].k);
    dims.back().form = DimForm::Looped;
    dims.back().block = writing.arguments.names.fresh(dims.back().block);
    dims.back().largest = blocks().k;
    dims.back().blockAtLeast = isOfIntegers() ? leastDepthOfBytes : leastProductBlock;
    return dims;
  }
  std::vector<TileDim> dimsOfB(const TileDim &k) const {
    std::vector<TileDim> dims = writing.tile.dimensions();
    TileDim own = k; // the same blocks, along the other axis
    own.index = "k";
    dims[dims.size() - 2] = own;
    return dims;
  }
  ProductBlocks blocks() const {
    std::vector<TileDim> outer = writing.tile.dimensions();
    const TileDim n = outer.back();
    outer.pop_back();
    const TileDim m = outer.back();
    outer.pop_back();
    return productBlocks(outer, m, n, contractions[0].operand, program);
  }
  std::vector<const Node *> factors(const Node *Contraction::*which) const {
    std::vector<const Node *> result;
    for (const Contraction &each : contractions) {
      result.push_back(each.*which);
    }
    return result;
  }

  bool isOfIntegers() const { return contractions[0].operand == DType::I8; }

  kernel::Expr rows() const {
    const std::vector<TileDim> &dims = writing.tile.dimensions();
    return name(dims[dims.size() - 2].block);
  }
  kernel::Expr columns() const { return name(writing.tile.dimensions().back().block); }
  kernel::Expr shape() const { return kernel::tuple({rows(), columns()}); }

  void multiply(const Contraction &each, const std::string &sum) {
    const kernel::Expr left = ofA.factor(each.a, each.operand, *a.reducedDim());
    const kernel::Expr right = ofB.factor(each.b, each.operand, *b.reducedDim());
    std::vector<kernel::Argument> list = {left, right, name(sum)};
    if (each.operand == DType::F32) { // not as tensor floats
      list.emplace_back("input_precision", kernel::string("ieee"));
    } else if (each.operand == DType::I8) {
      list.emplace_back("out_dtype", name("tl.int32"));
    }
    writing.body.assign(sum, call("tl.dot", std::move(list)));
  }

  const Program &program;
  const std::vector<Store> &stores;
  const std::vector<Contraction> &contractions;
  const TileShare share;
  const std::vector<BufferId> &parts;
  KernelWriting writing;
  Tile a, b;
  Values ofA, ofB;
  LastWave last;
  std::string before; ///< turns of the tiles before this one
  std::string cells;  ///< places in memory of a tile's sums
};

/// The results' neighbours in memory are the tile's along n: factors change places where they are
/// along m, as in convolutions of images with channels first.
std::vector<Contraction> alongMemory(const Program &program, const std::vector<Store> &stores,
                                     std::vector<Contraction> contractions) {
  const std::vector<Access> accesses = accessesOf(program, stores);
  std::vector<IteratorId> both = contractions[0].m;
  both.insert(both.end(), contractions[0].n.begin(), contractions[0].n.end());
  const std::optional<IteratorId> inner = mostContiguous(program, {accesses[0]}, both, {});
  const std::vector<IteratorId> &m = contractions[0].m;
  if (inner && std::find(m.begin(), m.end(), *inner) != m.end()) {
    for (Contraction &each : contractions) {
      each.exchangeFactors();
    }
  }
  return contractions;
}

} // namespace

Result<StageKernel> emitContract(const Program &program, const std::string &name,
                                 const std::vector<Store> &stores,
                                 const std::vector<Contraction> &contractions, TileShare share,
                                 const std::vector<BufferId> &parts) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a contraction's kernel has no {}", *found));
  }
  const std::vector<Contraction> turned = alongMemory(program, stores, contractions);
  return ContractWriting(program, name, stores, turned, share, parts).run();
}

DType sumOf(const Contraction &contraction) {
  return contraction.operand == DType::I8 ? DType::I32 : DType::F32;
}

} // namespace nereid::generator
