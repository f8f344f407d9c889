// SPDX-License-Identifier: Apache-2.0
// What loads, stores and atomics share.
#pragma once

#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {

/// Element type behind an address or a tile of addresses.
ElementType pointeeOf(mlir::Type type);

/// Checks all active elements, reporting the first that lies outside and how many do; `verb` is
/// "load reads".
bool checkBounds(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                 ElementType type, const char *verb);

/// checkBounds(), or the monitor's word in its place: `mask` then points to `admitted`.
bool mayAccess(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *&mask,
               Tile &admitted, ElementType type, const char *verb);

/// Reads the active elements into the only result of `op`; the others are those of `other`, or
/// undefined without it. False after a diagnostic.
bool readElements(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                  const Tile *other, ElementType type);
/// Writes the active elements; false after a diagnostic.
bool writeElements(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                   const Tile &value);
/// Combines the active elements with memory, one after the other. Gives what was there, undefined
/// where nothing was done; nothing after a diagnostic.
std::optional<Tile> combineElements(Instance &instance, mlir::Operation *op, tile::AtomicKind kind,
                                    const Tile &pointer, const Tile *mask, const Tile &value);

} // namespace nereid::interpreter
