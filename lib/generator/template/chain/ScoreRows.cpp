// SPDX-License-Identifier: Apache-2.0
// Kernels of rows of scores, see ScoreRows.h.
#include "lib/generator/template/chain/ScoreRows.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/access/Contiguity.h"
#include "lib/generator/template/chain/Chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::Expr;
using kernel::name;

constexpr double infinity = std::numeric_limits<double>::infinity();

class RowsWriting {
public:
  RowsWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
              const ScoreRows &rows)
      : program(program), stores(stores), rows(rows), order(orderOf(program, stores)),
        writing(program, name, stores, dims()), products(program, writing, rows.inner) {
    products.makeTiles(writing.tile.dimensions());
  }

  StageKernel run() {
    products.bind();
    first = assigned(writing, rows.sum ? "acc" : "top", column(rows.sum ? 0 : -infinity));
    total = rows.sum ? Expr() : assigned(writing, "total", column(0));
    products.load();
    std::vector<Tile *> also = products.tiles();
    writing.tile.loop([&] { rows.sum ? addUp() : turn(); }, also);
    if (rows.sum) {
      writing.values.give(rows.sum, {first});
    } else {
      writing.values.give(rows.top, {first});
      writing.values.give(rows.total, {total});
    }
    writing.values.store(stores);
    products.takeOffsets();
    StageKernel made = writing.take(products.depths());
    products.finish(made);
    made.condition = products.condition();
    made.options.emplace_back("num_warps", "4");
    return made;
  }

private:
  void turn() {
    products.give(writing.values);
    const Expr scores = assigned(writing, "scores", inside(rows.scores, -infinity));
    const Expr next =
        assigned(writing, "next_top", call("tl.maximum", {first, alongKeys("tl.max", scores)}));
    // A row without a score so far.
    const Expr base =
        assigned(writing, "base",
                 call("tl.where", {kernel::binary("==", next, kernel::real(-infinity)),
                                   kernel::real(0), next}));
    assign(total, total * call("tl.exp", {first - base}) +
                      alongKeys("tl.sum", call("tl.exp", {scores - base})));
    assign(first, next);
  }

  void addUp() {
    products.give(writing.values);
    assign(first, first + alongKeys("tl.sum", inside(rows.sum->inputs[0], 0)));
  }

  /// The value at each key, and something else beyond the last one.
  Expr inside(const Node *value, double otherwise) {
    const Expr mask = writing.tile.inside({*writing.tile.reducedDim()});
    return call("tl.where", {mask, writing.values.valueOf(value), kernel::real(otherwise)});
  }
  void assign(const Expr &to, const Expr &value) { writing.body.assign(to->text, value); }
  Expr column(double value) const {
    const std::vector<TileDim> &all = writing.tile.dimensions();
    return call("tl.full", {kernel::tuple({name(all[all.size() - 2].block), kernel::Expr(1)}),
                            kernel::real(value), name("tl.float32")});
  }

  std::vector<TileDim> dims() const {
    std::vector<TileDim> result;
    if (!rows.batch.empty()) {
      result.push_back({"batch", "", inOrder(order, rows.batch), DimForm::Point});
    }
    TileDim m{"m", "BLOCK_M", inOrder(order, rows.rows)};
    m.largest = "64";
    TileDim n{"n", "BLOCK_N", rows.keys, DimForm::Looped};
    m.blockAtLeast = n.blockAtLeast = leastProductBlock;
    std::vector<std::string> deep;
    for (const Contraction &each : rows.inner) {
      deep.push_back(launchExtent({"", "", each.k}, program));
    }
    n.largest = largestOfKeys(rows.inner[0].operand, deep);
    result.insert(result.end(), {std::move(m), std::move(n)});
    return result;
  }

  const Program &program;
  const std::vector<Store> &stores;
  const ScoreRows &rows;
  const std::vector<IteratorId> order;
  KernelWriting writing;
  InnerProducts products;
  Expr first, total; ///< the maximum or the sum, and the sum of exponentials
};

} // namespace

Result<StageKernel> emitScoreRows(const Program &program, const std::string &name,
                                  const std::vector<Store> &stores, const ScoreRows &rows) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a kernel of rows of scores has no {}", *found));
  }
  return RowsWriting(program, name, stores, rows).run();
}

} // namespace nereid::generator
