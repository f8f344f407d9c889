// SPDX-License-Identifier: Apache-2.0
// Blocks that templates ask for, as expressions of the launch table (launch/Table.h): a launch
// knows its sizes and whether it runs on a device, whoever makes the kernel does not.
//
//   transposed   64 along both dimensions that memory is contiguous in, so that either side moves
//                whole sectors and cache lines
//   products     128 x 128 where that many tiles keep all processors at work, else 64 x 64; of
//                float32 32 x 64 and 32 x 32 as long as no processor gets a second tile by that
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Blocks that a matrix unit takes, and along k where factors have 8 bits.
constexpr int64_t leastProductBlock = 16, leastDepthOfBytes = 32;

/// Columns of a product of 16 bits whose one factor is computed of another product: of loops with
/// 16, ptxas of CUDA 12.8, which upstream's package brings, makes wrong ones (docs/definitions.md).
constexpr int64_t leastChainBlock = 32;

/// A size as text of the launch table.
std::string launchText(const Polynomial &value, const Program &program);
/// The extent of a dimension, in parentheses.
std::string launchExtent(const TileDim &dim, const Program &program);

/// Launches may say of each of them that it is a whole number of blocks: masks are left out then.
std::vector<TileDim> maybeEven(std::vector<TileDim> dims);

/// Of the last two dimensions, along each of which some access is contiguous.
void setTransposedBlocks(std::vector<TileDim> &dims, const Program &program);

/// Blocks of a product's tile, its last two dimensions `m` and `n`, and of `k`; `outer`: those
/// before them.
struct ProductBlocks {
  std::string m, n, k, warps;
};
ProductBlocks productBlocks(const std::vector<TileDim> &outer, const TileDim &m, const TileDim &n,
                            DType operand, const Program &program);

} // namespace nereid::generator
