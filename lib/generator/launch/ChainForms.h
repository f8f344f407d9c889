// SPDX-License-Identifier: Apache-2.0
// Forms of a program's launches that keep no scores in memory, each under a choice: chains beside
// the kernels of their products and their softmax, and programs of chains beside all of theirs.
#pragma once

#include "lib/generator/fuse/RowChains.h"
#include "lib/generator/launch/StageKernels.h"
#include "lib/generator/launch/Table.h"

namespace nereid::generator {

/// A stage that one kernel can make at some sizes and that is cut into several for the others.
struct ChainStage {
  std::vector<Store> stores;
  ProductChain chain;
};

/// By the first buffer that the stage stores.
std::map<BufferId, ChainStage> chainStages(Program &program);

/// The chain's kernels beside those into which partition() has cut its stage, the last of `made`.
Status addChain(Program &program, const std::string &name, const ChainStage &stage,
                size_t firstKernel, BufferId firstSaved, MadeKernels &made,
                std::map<BufferId, std::string> &conditions, const std::string &role, Roles &roles);

/// Kernels that keep no scores beside all those that partition() has made of the program.
Status addRowChains(Program &program, const std::string &name, const RowChains &chains,
                    MadeKernels &made, std::map<BufferId, std::string> &conditions, Roles &roles);

} // namespace nereid::generator
