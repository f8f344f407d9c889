// SPDX-License-Identifier: Apache-2.0
// The nvidia dialect for C++. The layouts of an operation's tile results are an array of
// #nvidia.layout in its attribute `nvidia.layouts`, one for each result and `unit` for those that
// are no tiles. What a loop carries has the layouts of its results; the arguments of the first
// region of an scf.while have an array of their own.
#pragma once

#include "lib/layout/LinearLayout.h"
#include "lib/tile/ir/KeepsElements.h"
#include "lib/tile/ir/Tile.h"

#include <optional>

#include "lib/targets/nvidia/ir/NvidiaDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "lib/targets/nvidia/ir/NvidiaAttributes.h.inc"

#define GET_OP_CLASSES
#include "lib/targets/nvidia/ir/NvidiaOps.h.inc"

namespace nereid::nvidia {

inline constexpr llvm::StringLiteral layoutsAttribute = "nvidia.layouts";
inline constexpr llvm::StringLiteral beforeLayoutsAttribute = "nvidia.before_layouts";
/// Of a tile.dot: a warpgroup makes it by `wgmma`, whose right operand is a nvidia.read_copy.
inline constexpr llvm::StringLiteral warpgroupAttribute = "nvidia.warpgroup";
/// Of such a product: it may still be under way when the operations behind it begin.
inline constexpr llvm::StringLiteral deferredAttribute = "nvidia.deferred";
/// Of a kernel: the bytes of shared memory in which copies lie, from its start on.
inline constexpr llvm::StringLiteral copyBytesAttribute = "nvidia.copy_bytes";

/// Of a load: the byte of shared memory in which what it copies begins; of a kernel: the bytes of
/// all those, in front of others.
inline constexpr llvm::StringLiteral heldAttribute = "nvidia.held";

/// Of a kernel: the most registers of a thread, where more would cost programs at a time.
inline constexpr llvm::StringLiteral mostRegistersAttribute = "nvidia.most_registers";
std::optional<int64_t> mostRegistersOf(mlir::Operation *kernel);

/// Whether all elements of a tile are zero, for all that is known.
bool isZeros(mlir::Value tile);
/// Whether the operation, or one in its regions, may write to memory or do what nobody knows.
bool mayWriteMemory(mlir::Operation *op);
/// Whether the value is a tile of one or more dimensions, which threads share.
bool isTile(mlir::Value value);
/// The shape of a tile as the layouts have it.
layout::LinearLayout::Shape shapeOf(mlir::Value tile);

/// The layout that was assigned to a tile; nothing before that.
std::optional<layout::LinearLayout> layoutOf(mlir::Value tile);
/// Assigns the layout of a result, or of what a loop carries.
void setLayout(mlir::Value tile, const layout::LinearLayout &layout);

} // namespace nereid::nvidia
