// SPDX-License-Identifier: Apache-2.0
// Which layout a value should have where nothing forces one: what its users would like, what it is
// made from, and for accesses how many neighbours a thread has in memory beside what has to move
// between threads. Reads layouts that are assigned already and assigns none.
#pragma once

#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/FreeTiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace nereid::nvidia {

class LayoutChoices {
public:
  using LinearLayout = layout::LinearLayout;

  /// What it is given lives as long.
  LayoutChoices(mlir::func::FuncOp kernel, const tile::AxisInfos &axes, const Threads &threads,
                FreeTiles &free);

  /// The layout the value has, or the one that it gets when nobody asks for another.
  LinearLayout homeOf(mlir::Value value);
  /// What speaks for a layout of a value that a loop carries, if anything does. `handed`: what the
  /// next turn gets.
  std::optional<LinearLayout> ofCarried(mlir::Value carried, mlir::Value initial,
                                        mlir::Value handed);
  /// Of a load, a store, an atomic operation or a copy.
  LinearLayout ofAccess(mlir::Operation *access, mlir::Value pointer);

private:
  std::optional<LinearLayout> wish(mlir::Value value, unsigned depth = 0);
  std::optional<LinearLayout> wishOf(mlir::OpOperand &use, unsigned depth);
  std::optional<LinearLayout> origin(mlir::Value value, unsigned depth = 0);
  std::optional<LinearLayout> layoutBesideUse(mlir::Value value, unsigned depth = 0);
  bool isReducedRow(mlir::Operation *access);
  std::optional<LinearLayout> layoutOfRepeated(mlir::Operation *access);
  std::optional<LinearLayout> shortestMet(mlir::Value value, unsigned depth = 0);
  std::optional<LinearLayout> layoutOfNarrow(mlir::Operation *access, mlir::Value pointer);
  std::optional<LinearLayout> layoutBeyond(mlir::Operation *access);

  const tile::AxisInfos &axes;
  const Threads threads;
  FreeTiles &free;
  const bool hasProducts;
};

} // namespace nereid::nvidia
