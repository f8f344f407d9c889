// SPDX-License-Identifier: Apache-2.0
#include "lib/llvm/Emission.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace nereid::codegen {
namespace {

/// Takes what a code generator adds to its list, but for what is left out. A pass may vanish while
/// it is added: LLVM's own manager drops those that it has already.
class ChosenPasses final : public llvm::legacy::PassManagerBase {
public:
  ChosenPasses(llvm::legacy::PassManager &passes, std::span<const char *const> disabledPasses)
      : passes(passes), disabledPasses(disabledPasses) {}

  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info =
        llvm::PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    if (info && llvm::is_contained(disabledPasses, info->getPassArgument())) {
      delete pass;
      return;
    }
    passes.add(pass);
  }

private:
  llvm::legacy::PassManager &passes;
  std::span<const char *const> disabledPasses;
};

} // namespace

/// The code generator's passes and what they write to. Making them takes a twelfth of the time of a
/// small kernel, so that they stay for the next one.
struct Emitter::Passes {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager list;
};

Emitter::Emitter(llvm::TargetMachine &machine, EmissionOptions options)
    : machine(machine), options(options) {}

Emitter::~Emitter() = default;

const llvm::SmallVectorImpl<char> *Emitter::emit(llvm::Module &module, llvm::CodeGenFileType type) {
  const OptionScope scope(options.options);
  auto &passes = type == llvm::CodeGenFileType::ObjectFile ? object : assembly;
  if (!passes) {
    auto made = std::make_unique<Passes>();
    ChosenPasses chosen(made->list, options.disabledPasses);
    if (machine.addPassesToEmitFile(chosen, made->stream, nullptr, type,
                                    /*DisableVerify=*/true)) {
      return nullptr;
    }
    passes = std::move(made);
  }
  passes->bytes.clear();
  passes->list.run(module);
  return &passes->bytes;
}

} // namespace nereid::codegen
