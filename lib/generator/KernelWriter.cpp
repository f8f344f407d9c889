// SPDX-License-Identifier: Apache-2.0
// Writes kernels, see KernelWriter.h: the variants, as arrangements of KernelBody's parts.
#include "lib/generator/KernelWriter.h"

#include "lib/generator/KernelBody.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

class KernelWriter : KernelBody {
public:
  KernelWriter(const FusedOperator &fused, KernelVariant variant) : KernelBody(fused, variant) {}

  std::string run() {
    header();
    chooseComputeType();
    switch (variant) {
    case KernelVariant::Flat:
      flat();
      break;
    case KernelVariant::Tiles:
      tiles();
      break;
    case KernelVariant::Rows:
      rows();
      break;
    case KernelVariant::LoopedRows:
      loopedRows();
      break;
    }
    return text;
  }

private:
  void emit(int number) {
    const FusedNode &n = node(number);
    if (n.op == "input") {
      load(number);
    } else if (n.isReduction) {
      reduceTile(number);
    } else {
      compute(number);
    }
  }
  /// Reductions in the order of their levels, so that a value is loaded where it is first needed.
  void emitAll() {
    for (int level = 1; level <= fused.levels; ++level) {
      for (size_t i = 0; i < fused.nodes.size(); ++i) {
        if (fused.nodes[i].isReduction && fused.nodes[i].level == level) {
          emitBelow({static_cast<int>(i)});
        }
      }
    }
    emitBelow(fused.outputNodes);
    for (size_t i = 0; i < fused.outputNodes.size(); ++i) {
      store(i);
    }
  }
  void emitBelow(const std::vector<int> &roots) {
    for (int number : pending(roots)) {
      emit(number);
    }
  }
  /// Nodes reachable from `roots` that have no value yet; node numbers are topological.
  std::set<int> pending(const std::vector<int> &roots) const {
    std::set<int> reached;
    std::vector<int> work = roots;
    while (!work.empty()) {
      int number = work.back();
      work.pop_back();
      if (values.contains(number) || !reached.insert(number).second) {
        continue;
      }
      work.insert(work.end(), node(number).inputs.begin(), node(number).inputs.end());
    }
    return reached;
  }
  void programId(const std::string &name) {
    line(fmt::format("{} = tl.program_id(axis=0)", name));
    widen({name});
  }
  void widen(const std::vector<std::string> &names) {
    line("if WIDE:");
    for (const std::string &name : names) {
      line(fmt::format("    {0} = {0}.to(tl.int64)", name));
    }
  }

  void start(const std::string &comment) { text += fmt::format("    # {}\n", comment); }

  void flat() {
    start("BLOCK consecutive elements per program.");
    programId("pid");
    line("offsets = pid * BLOCK + tl.arange(0, BLOCK)");
    line("inside = offsets < elements");
    emitAll();
  }

  void tiles() {
    start("A tile of BLOCK_M rows and BLOCK_N columns per program.");
    line("if GRID_2D:");
    line("    pid_m = tl.program_id(axis=0)");
    line("    pid_n = tl.program_id(axis=1)");
    line("else:");
    line("    column_blocks = tl.cdiv(columns, BLOCK_N)");
    line("    pid_m = tl.program_id(axis=0) // column_blocks");
    line("    pid_n = tl.program_id(axis=0) % column_blocks");
    widen({"pid_m", "pid_n"});
    line("row = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)");
    line("col = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)");
    line("row_inside = row < rows");
    line("col_inside = col < columns");
    line("inside = row_inside[:, None] & col_inside[None, :]");
    generalOffsets(true);
    generalOffsets(false);
    emitAll();
  }

  void rowLoop() {
    programId("pid");
    line("first = pid * ROWS");
    line("last = tl.minimum(first + ROWS, rows)");
  }

  void rows() {
    start("ROWS rows per program; each is one tile of BLOCK_N >= columns elements.");
    rowLoop();
    line("col = tl.arange(0, BLOCK_N)");
    line("inside = col < columns");
    generalOffsets(false);
    line("for row in range(first, last):");
    ++indent;
    generalOffsets(true);
    emitAll();
    --indent;
  }

  bool isVector(int number) const {
    const FusedNode &n = node(number);
    return n.extent == Extent::Full || n.extent == Extent::Row;
  }
  /// Values of the row as a whole that a pass needs: before its loop, once.
  void emitRowValues(const std::set<int> &reached) {
    for (int number : reached) {
      if (!isVector(number) && !node(number).isReduction) {
        emit(number);
      }
    }
  }
  void columnLoop() {
    line("for start in range(0, columns, BLOCK_N):");
    ++indent;
    line("col = start + tl.arange(0, BLOCK_N)");
    line("inside = col < columns");
    generalOffsets(false);
  }
  void emitVectors(const std::set<int> &reached) {
    for (int number : reached) {
      if (isVector(number) && !node(number).isReduction) {
        emit(number);
      }
    }
  }
  void forgetVectors() {
    std::erase_if(values, [&](const auto &entry) { return isVector(entry.first); });
  }

  void reductionPass(int level) {
    std::vector<int> reductions, inputs;
    for (size_t i = 0; i < fused.nodes.size(); ++i) {
      if (fused.nodes[i].isReduction && fused.nodes[i].level == level) {
        reductions.push_back(static_cast<int>(i));
        inputs.push_back(fused.nodes[i].inputs[0]);
      }
    }
    std::set<int> reached = pending(inputs);
    emitRowValues(reached);
    std::map<int, std::string> parts;
    for (int number : reductions) {
      parts[number] = freshName(variableFor(number) + "_parts");
      assign(parts[number],
             fmt::format("tl.full((BLOCK_N,), {}, {})", identityText(number),
                         fused.hasIntegers ? typeName(node(number).types) : computeType));
    }
    columnLoop();
    emitVectors(reached);
    for (int number : reductions) {
      const std::string &part = parts[number];
      std::string value = guarded(number).text;
      std::string nan = needsNanCheck(number) ? ", propagate_nan=tl.PropagateNan.ALL" : "";
      const std::string &op = node(number).op;
      line(op == "sum" ? fmt::format("{} += {}", part, value)
                       : fmt::format("{0} = tl.{1}({0}, {2}{3})", part,
                                     op == "amax" ? "maximum" : "minimum", value, nan));
    }
    --indent;
    forgetVectors();
    for (int number : reductions) {
      finishReduction(number, parts[number]);
    }
  }

  void loopedRows() {
    start("ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per reduction "
          "and");
    start("once for the result.");
    rowLoop();
    line("for row in range(first, last):");
    ++indent;
    generalOffsets(true);
    for (int level = 1; level <= fused.levels; ++level) {
      reductionPass(level);
    }
    std::set<int> reached = pending(fused.outputNodes);
    emitRowValues(reached);
    std::vector<size_t> wide;
    for (size_t i = 0; i < fused.outputNodes.size(); ++i) {
      if (isVector(fused.outputNodes[i])) {
        wide.push_back(i);
      } else {
        store(i);
      }
    }
    if (!wide.empty()) {
      columnLoop();
      emitVectors(reached);
      for (size_t output : wide) {
        store(output);
      }
      --indent;
    }
    --indent;
  }
};

} // namespace

std::string writeKernel(const FusedOperator &fused, KernelVariant variant) {
  return KernelWriter(fused, variant).run();
}

} // namespace nereid::generator
