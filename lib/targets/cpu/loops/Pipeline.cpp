// SPDX-License-Identifier: Apache-2.0
// The list of passes that makes the phase `loops-opt`.
#include "lib/lowering/Passes.h"
#include "lib/targets/cpu/codegen/Avx512.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace nereid::cpu {

lowering::FloatUnit floatUnitOf(const CpuMachine &machine) {
  lowering::FloatUnit unit{machine.hasFma, machine.hasHalfConversions};
  if (machine.hasAvx512) {
    unit.instructions = &avx512Instructions(machine.hasBf16);
  }
  return unit;
}

void buildLoopsOptPipeline(mlir::OpPassManager &manager, const CpuMachine &machine) {
  const lowering::FloatUnit floats = floatUnitOf(machine);
  manager.addPass(createPackScalarsPass());
  manager.addPass(createPrefetchNextRowPass(machine));
  manager.addPass(createPrefetchAheadPass());
  manager.addPass(createWidenPairsPass());
  manager.addPass(lowering::createChooseFormsPass()); // while roundings are operations
  manager.addPass(lowering::createExpandHalfPass(floats));
  manager.addPass(lowering::createBranchToRarePass());
  manager.addPass(lowering::createExpandMathPass(floats));
  manager.addPass(createSplitProductsPass(machine));
  manager.addPass(createOverlapIterationsPass(machine));
  manager.addPass(createInterleaveVectorsPass(machine));
}

} // namespace nereid::cpu
