// SPDX-License-Identifier: Apache-2.0
// Writes kernels, see KernelWriter.h: the variants, as arrangements of KernelBody's parts.
#include "lib/generator/KernelWriter.h"

#include "lib/generator/KernelBody.h"
#include "lib/generator/kernel/Printer.h"

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::Expr;
using kernel::name;

class KernelWriter : KernelBody {
public:
  KernelWriter(const FusedOperator &fused, KernelVariant variant) : KernelBody(fused, variant) {}

  std::string run() {
    chooseParameters();
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
    return kernel::text(
        kernel::Kernel{kernelName(fused, variant), std::move(parameters), body.take()});
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
  static Expr programId(int axis) {
    return call("tl.program_id", {kernel::Argument("axis", axis)});
  }
  static Expr range(const std::string &size) { return call("tl.arange", {0, name(size)}); }
  static Expr isBelow(const std::string &index, const std::string &size) {
    return binary("<", name(index), name(size));
  }
  void widen(const std::vector<std::string> &names) {
    body.when(name("WIDE"), [&] {
      for (const std::string &each : names) {
        body.assign(each, cast(name(each), "tl.int64"));
      }
    });
  }

  void flat() {
    body.comment("BLOCK consecutive elements per program.");
    body.assign("pid", programId(0));
    widen({"pid"});
    body.assign("offsets", name("pid") * name("BLOCK") + range("BLOCK"));
    body.assign("inside", isBelow("offsets", "elements"));
    emitAll();
  }

  void tiles() {
    body.comment("A tile of BLOCK_M rows and BLOCK_N columns per program.");
    body.when(
        name("GRID_2D"),
        [&] {
          body.assign("pid_m", programId(0));
          body.assign("pid_n", programId(1));
        },
        [&] {
          body.assign("column_blocks", call("tl.cdiv", {name("columns"), name("BLOCK_N")}));
          body.assign("pid_m", binary("//", programId(0), name("column_blocks")));
          body.assign("pid_n", binary("%", programId(0), name("column_blocks")));
        });
    widen({"pid_m", "pid_n"});
    body.assign("row", name("pid_m") * name("BLOCK_M") + range("BLOCK_M"));
    body.assign("col", name("pid_n") * name("BLOCK_N") + range("BLOCK_N"));
    body.assign("row_inside", isBelow("row", "rows"));
    body.assign("col_inside", isBelow("col", "columns"));
    body.assign("inside", binary("&", kernel::axis(name("row_inside"), 0, 2),
                                 kernel::axis(name("col_inside"), 1, 2)));
    generalOffsets(true);
    generalOffsets(false);
    emitAll();
  }

  void ofEachRow(const std::function<void()> &inside) {
    body.loop("row", call("range", {name("first"), name("last")}), inside);
  }
  void rowsOfProgram() {
    body.assign("pid", programId(0));
    widen({"pid"});
    body.assign("first", name("pid") * name("ROWS"));
    body.assign("last", call("tl.minimum", {name("first") + name("ROWS"), name("rows")}));
  }

  void rows() {
    body.comment("ROWS rows per program; each is one tile of BLOCK_N >= columns elements.");
    rowsOfProgram();
    body.assign("col", range("BLOCK_N"));
    body.assign("inside", isBelow("col", "columns"));
    generalOffsets(false);
    ofEachRow([&] {
      generalOffsets(true);
      emitAll();
    });
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
  void ofEachBlock(const std::function<void()> &inside) {
    body.loop("start", call("range", {0, name("columns"), name("BLOCK_N")}), [&] {
      body.assign("col", name("start") + range("BLOCK_N"));
      body.assign("inside", isBelow("col", "columns"));
      generalOffsets(false);
      inside();
    });
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
      const std::string type = fused.hasIntegers ? typeName(node(number).types) : computeType;
      body.assign(parts[number], call("tl.full", {kernel::tuple({name("BLOCK_N")}),
                                                  identity(number), name(type)}));
    }
    ofEachBlock([&] {
      emitVectors(reached);
      for (int number : reductions) {
        combine(number, parts[number]);
      }
    });
    forgetVectors();
    for (int number : reductions) {
      finishReduction(number, name(parts[number]));
    }
  }

  void combine(int number, const std::string &part) {
    Expr value = guarded(number);
    const std::string &op = node(number).op;
    if (op == "sum") {
      body.update(part, "+", value);
      return;
    }
    std::vector<kernel::Argument> arguments = {name(part), value};
    if (needsNanCheck(number)) {
      arguments.emplace_back("propagate_nan", name("tl.PropagateNan.ALL"));
    }
    body.assign(part, call(op == "amax" ? "tl.maximum" : "tl.minimum", std::move(arguments)));
  }

  void loopedRows() {
    body.comment("ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per "
                 "reduction and");
    body.comment("once for the result.");
    rowsOfProgram();
    ofEachRow([&] {
      generalOffsets(true);
      for (int level = 1; level <= fused.levels; ++level) {
        reductionPass(level);
      }
      resultPass();
    });
  }

  void resultPass() {
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
    if (wide.empty()) {
      return;
    }
    ofEachBlock([&] {
      emitVectors(reached);
      for (size_t output : wide) {
        store(output);
      }
    });
  }
};

} // namespace

std::string writeKernel(const FusedOperator &fused, KernelVariant variant) {
  return KernelWriter(fused, variant).run();
}

} // namespace nereid::generator
