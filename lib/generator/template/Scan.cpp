// SPDX-License-Identifier: Apache-2.0
// Scans, see Scan.h.
#include "lib/generator/template/Scan.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::name;

/// Elements of a line that is whole in a tile, and of a block of a longer one.
constexpr int64_t wholeScan = 4096, blockOfScan = 1024;

class ScanWriting {
public:
  ScanWriting(const Program &program, const std::string &kernelName,
              const std::vector<Store> &stores, const Node &line, std::vector<TileDim> dims)
      : stores(stores), line(line), writing(program, kernelName, stores, std::move(dims)) {}

  StageKernel run() {
    Values &values = writing.values;
    if (writing.tile.dimensions().back().form == DimForm::Whole) {
      give(values.scanned(line, values.lanesOfLine(line), true));
      values.store(stores);
      return writing.take();
    }
    const Lanes carried = values.beforeLines(line);
    values.loopOverValues([&] {
      const Lanes own = values.scanned(line, values.lanesOfLine(line), false);
      Lanes all;
      for (const kernel::Expr &each : values.combined(line, carried, own)) {
        all.push_back(values.freshOf(line, all.size(), each));
      }
      give(all);
      values.store(stores);
      carry(all, carried);
    });
    return writing.take();
  }

private:
  /// In the program's types: bools are joined as numbers.
  void give(Lanes lanes) {
    for (size_t component = 0; component < lanes.size(); ++component) {
      if (line.inputs[component]->dtype == DType::Bool) {
        lanes[component] = kernel::binary("!=", lanes[component], 0);
      }
    }
    writing.values.give(&line, std::move(lanes));
  }

  /// The last lane's, which is the line's up to there.
  void carry(const Lanes &lanes, const Lanes &carried) {
    const TileDim &dim = writing.tile.dimensions().back();
    const unsigned axis = writing.tile.axisOf(writing.tile.dimensions().size() - 1);
    kernel::Expr lane = call("tl.arange", {0, name(dim.block)});
    lane = writing.tile.rank() > 1 ? kernel::axis(lane, axis, writing.tile.rank()) : lane;
    const kernel::Expr isLast =
        writing.values.fresh("is_last", kernel::binary("==", lane, name(dim.block) - 1));
    Lanes next;
    for (size_t component = 0; component < lanes.size(); ++component) {
      const kernel::Expr picked =
          call("tl.sum", {call("tl.where", {isLast, lanes[component], 0}),
                          {"axis", kernel::Expr(static_cast<int64_t>(axis))},
                          {"keep_dims", name("True")}});
      const DType type = LaneMonoids::typeOf(line, component);
      next.push_back(kernel::method(picked, "to", {name(languageName(type))}));
    }
    for (size_t component = 0; component < lanes.size(); ++component) {
      writing.body.assign(carried[component]->text, next[component]);
    }
  }

  const std::vector<Store> &stores;
  const Node &line;
  KernelWriting writing;
};

} // namespace

const Node *lineOf(const std::vector<Store> &stores) {
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind == NodeKind::Scan || node->kind == NodeKind::Order) {
      return node;
    }
  }
  return nullptr;
}

Result<IteratorId> placeOf(const Program &program, const std::vector<Store> &stores,
                           const Node &line) {
  std::optional<IteratorId> place;
  bool isOne = true;
  for (const Node *node : reachable(rootsOf(stores))) {
    const bool isLine = node->kind == NodeKind::Scan || node->kind == NodeKind::Order;
    isOne = isOne && (!isLine || node == &line);
    const bool asks = node == &line ? node->kind == NodeKind::Scan
                                    : node->kind == NodeKind::Pick && node->inputs[0] == &line &&
                                          line.kind == NodeKind::Order;
    if (!asks) {
      continue;
    }
    const std::optional<IteratorId> own = node->indices[0].asIterator();
    isOne = isOne && own && (!place || place == own);
    place = own;
  }
  const auto &iterators = program.space.iterators;
  if (!isOne || !place || iterators[*place].extent != iterators[line.iterators[0]].extent) {
    return makeError("E0607", "a kernel of lines has one scan or one sorted line, each element at "
                              "its own place");
  }
  return *place;
}

std::vector<TileDim> lineTile(const Program &program, const std::vector<Store> &stores,
                              const Node &line, IteratorId place, DimForm form) {
  std::vector<IteratorId> rows = orderOf(program, stores);
  std::erase(rows, place);
  std::vector<TileDim> dims;
  if (!rows.empty()) {
    dims.push_back({"row", "BLOCK_X", rows});
  }
  dims.push_back({"r", "BLOCK_R", line.iterators, form});
  dims.back().also = place;
  return dims;
}

Result<std::vector<StageKernel>> emitScan(const Program &program, const std::string &name,
                                          const std::vector<Store> &stores, const Node &line) {
  auto place = placeOf(program, stores, line);
  if (!place) {
    return place.error();
  }
  const std::optional<int64_t> length =
      program.space.iterators[line.iterators[0]].extent.constant();
  std::vector<StageKernel> kernels;
  for (const DimForm form : {DimForm::Whole, DimForm::Looped}) {
    if (length && (*length <= wholeScan) != (form == DimForm::Whole)) {
      continue;
    }
    std::vector<TileDim> dims = lineTile(program, stores, line, *place, form);
    dims.back().blockAtMost = form == DimForm::Whole ? wholeScan : blockOfScan;
    dims.back().wholeAtMost = wholeScan;
    const char *suffix = form == DimForm::Whole ? "_kernel" : "_looped_kernel";
    const std::string lineLength = length ? "" : launchExtent(dims.back(), program);
    kernels.push_back(ScanWriting(program, name + suffix, stores, line, std::move(dims)).run());
    kernels.back().lengthOfTwo = lineLength;
  }
  return kernels;
}

} // namespace nereid::generator
