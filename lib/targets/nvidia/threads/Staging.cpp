// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/Staging.h"

#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

SmallVector<PartRegisters> registersOf(ThreadCode &code, const LinearLayout &layout,
                                       const TilePart &part) {
  int64_t ofThread = 0; // bits of the mask that lanes and warps decide
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    for (int64_t basis : layout.bases(holder)) {
      ofThread |= basis & part.mask;
    }
  }
  std::map<int64_t, SmallVector<size_t>> byThread; // by what the thread's own part must have there
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    const int64_t missing = (layout.contribution(Holder::Register, reg) ^ part.bits) & part.mask;
    if ((missing & ~ofThread) == 0) {
      byThread[missing].push_back(static_cast<size_t>(reg));
    }
  }
  SmallVector<PartRegisters> result;
  for (auto &[wanted, registers] : byThread) {
    Value isOfPart;
    if (ofThread != 0) {
      OpBuilder &b = code.builder;
      Value bits =
          b.create<arith::AndIOp>(code.loc, code.threadPart(layout), code.constant(ofThread));
      isOfPart =
          b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, bits, code.constant(wanted));
    }
    result.push_back({isOfPart, std::move(registers)});
  }
  return result;
}

void stage(ThreadCode &code, Value tile, const TilePart &part,
           llvm::function_ref<Value(Value)> placeOf) {
  const LinearLayout layout = *layoutOf(tile);
  const auto &held = code.held(tile);
  const auto elements = code.elements(layout);
  Value isFirst = code.isFirstReplica(layout); // the others have nothing to add
  for (const PartRegisters &group : registersOf(code, layout, part)) {
    OpBuilder::InsertionGuard guard(code.builder);
    Value stores = group.isOfPart ? group.isOfPart : isFirst;
    if (group.isOfPart && isFirst) {
      stores = code.builder.create<arith::AndIOp>(code.loc, stores, isFirst);
    }
    if (stores) {
      auto branch = code.builder.create<scf::IfOp>(code.loc, stores, /*withElseRegion=*/false);
      code.builder.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    for (size_t reg : group.registers) {
      if (!ThreadCode::isRepeatedRegister(layout, static_cast<int64_t>(reg))) {
        code.storeShared(held[reg], placeOf(elements[reg]));
      }
    }
  }
}

} // namespace nereid::nvidia
