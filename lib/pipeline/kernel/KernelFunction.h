// SPDX-License-Identifier: Apache-2.0
// The kernel function of an MLIR module and the KernelInfo it carries in attributes. Works on
// functions of any dialect, so before and after conversion to LLVM's.
#pragma once

#include "runtime/Kernel.h"

#include "mlir/IR/BuiltinOps.h"

#include <string_view>
#include <vector>

namespace nereid::pipeline {

/// Attribute of a kernel, i64: the memory that a program needs beside its arguments, which becomes
/// KernelInfo::scratchBytes.
inline constexpr const char *scratchBytesAttribute = "nereid.scratch_bytes";
/// Threads of a program, i64; missing where a program has one. Where it has several blocks of
/// threads, those of one of them, and the number of blocks.
inline constexpr const char *threadsAttribute = "nereid.threads";
inline constexpr const char *blocksAttribute = "nereid.blocks";
/// Of a kernel that begins with a wait for what those before it write: KernelInfo::waits.
inline constexpr const char *waitsAttribute = "nereid.waits";

/// All functions with the attribute `tile.kernel`, in order.
std::vector<mlir::Operation *> kernelFunctions(mlir::ModuleOp module);

/// Of tile IR written by hand: makes `nereid.arguments` from the argument types where it is
/// missing.
void completeArguments(mlir::Operation *kernel);

/// What `kernel` says about itself; unreadable attributes count as absent.
runtime::KernelInfo readKernelInfo(mlir::Operation *kernel);

void setSignature(mlir::Operation *kernel, std::string_view signature);

} // namespace nereid::pipeline
