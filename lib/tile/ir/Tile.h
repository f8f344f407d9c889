// SPDX-License-Identifier: Apache-2.0
// The tile dialect for C++: include this and nothing else of ir/.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "lib/tile/ir/TileEnums.h.inc"

#include "lib/tile/ir/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "lib/tile/ir/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "lib/tile/ir/TileOps.h.inc"
