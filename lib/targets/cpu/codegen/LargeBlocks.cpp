// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/LargeBlocks.h"

#include "llvm/IR/Module.h"

namespace nereid::cpu {

void leaveSplatsInLargeBlocks(llvm::Module &module, const std::string &features, size_t most) {
  for (llvm::Function &function : module) {
    auto isLarge = [&](const llvm::BasicBlock &block) { return block.size() > most; };
    if (llvm::any_of(function, isLarge)) {
      function.addFnAttr("target-features", features + ",+no-sink-splat-operands");
    }
  }
}

} // namespace nereid::cpu
