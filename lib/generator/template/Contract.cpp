// SPDX-License-Identifier: Apache-2.0
// Kernels of contractions, see Contract.h.
#include "lib/generator/template/Contract.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Blocks that a matrix unit takes.
constexpr int64_t leastBlock = 16;
/// Of k, where factors have 8 bits.
constexpr int64_t leastDepthOfBytes = 32;

/// In the order in which the stores name them, so that neighbours in memory are neighbours here.
std::vector<IteratorId> inOrder(const std::vector<IteratorId> &order,
                                const std::vector<IteratorId> &some) {
  std::vector<IteratorId> result;
  std::copy_if(order.begin(), order.end(), std::back_inserter(result), [&](IteratorId each) {
    return std::find(some.begin(), some.end(), each) != some.end();
  });
  return result;
}

class ContractWriting {
public:
  ContractWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
                  const std::vector<Contraction> &contractions)
      : program(program), stores(stores), contractions(contractions),
        writing(program, name, stores, resultDims()), a(writing.tile, dimsOfA()),
        b(writing.tile, dimsOfB(a.dimensions().back())),
        ofA(program, factors(&Contraction::a), a, writing.body, writing.arguments),
        ofB(program, factors(&Contraction::b), b, writing.body, writing.arguments) {}

  StageKernel run() {
    std::vector<std::string> sums;
    for (size_t i = 0; i < contractions.size(); ++i) {
      sums.push_back(writing.arguments.names.fresh("acc"));
      writing.body.assign(
          sums.back(),
          call("tl.zeros", {shape(), name(isOfIntegers() ? "tl.int32" : "tl.float32")}));
    }
    a.loop(
        [&] {
          for (size_t i = 0; i < contractions.size(); ++i) {
            multiply(contractions[i], sums[i]);
          }
        },
        {&b});
    for (size_t i = 0; i < contractions.size(); ++i) {
      writing.values.give(contractions[i].reduce, {name(sums[i])});
    }
    writing.values.store(stores);
    writing.takeOffsets(ofA);
    writing.takeOffsets(ofB);
    StageKernel made = writing.take({a.dimensions().back()});
    made.options.emplace_back("num_warps", blocks().warps);
    made.usesLibdevice |= ofA.usesLibdevice() || ofB.usesLibdevice();
    return made;
  }

private:
  static kernel::Expr name(const std::string &text) { return kernel::name(text); }
  static kernel::Expr call(const std::string &function, std::vector<kernel::Argument> arguments) {
    return kernel::call(function, std::move(arguments));
  }

  static TileDim blocked(const char *index, const char *block, std::vector<IteratorId> iterators) {
    TileDim dim{index, block, std::move(iterators)};
    dim.blockAtLeast = leastBlock;
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
    dims.back().blockAtLeast = isOfIntegers() ? leastDepthOfBytes : leastBlock;
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

  kernel::Expr shape() const {
    const std::vector<TileDim> &dims = writing.tile.dimensions();
    return kernel::tuple({name(dims[dims.size() - 2].block), name(dims.back().block)});
  }

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
  KernelWriting writing;
  Tile a, b;
  Values ofA, ofB;
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
      std::swap(each.a, each.b);
      std::swap(each.m, each.n);
    }
  }
  return contractions;
}

} // namespace

Result<StageKernel> emitContract(const Program &program, const std::string &name,
                                 const std::vector<Store> &stores,
                                 const std::vector<Contraction> &contractions) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a contraction's kernel has no {}", *found));
  }
  const std::vector<Contraction> turned = alongMemory(program, stores, contractions);
  return ContractWriting(program, name, stores, turned).run();
}

} // namespace nereid::generator
