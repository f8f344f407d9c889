// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/Remarks.h"

#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/nvidia/assembler/Ptxas.h"
#include "lib/targets/nvidia/assembler/PtxasLog.h"
#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/explain/Pressure.h"
#include "lib/targets/nvidia/explain/SharedAccesses.h"
#include "lib/targets/nvidia/layouts/Conversion.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"

#include "mlir/IR/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {

void remarkOnConversion(Operation *op) {
  auto convert = cast<ConvertLayoutOp>(op);
  const auto from = *layoutOf(convert.getSource()), to = *layoutOf(convert.getResult());
  const Type element = tile::elementTypeOf(convert.getSource().getType());
  const Conversion conversion = conversionOf(convert);
  if (conversion.way == Conversion::Way::Registers) {
    return;
  }
  const int64_t bytes = from.elementCount() * memoryBits(element) / 8;
  InFlightDiagnostic remark = emitRemark(convert.getLoc());
  remark << tileName(convert.getSource()) << " moves to other threads: " << bytes
         << " bytes through shared memory"
         << (conversion.parts > 1 ? fmt::format(" in {} parts", conversion.parts) : "") << ", with "
         << 2 * conversion.parts << " barriers [R0401]";
  remark.attachNote() << operationName(makerOf(convert.getSource())) << " has it in "
                      << from.text();
  for (Operation *user : convert.getResult().getUsers()) {
    remark.attachNote() << operationName(user) << " needs it in " << to.text();
    break;
  }
}

void remarkOnBanks(Operation *op, const tile::AxisInfos &axes) {
  for (const pipeline::SharedAccess &access : sharedAccessesOf(op, axes)) {
    if (access.turns() > 1) {
      InFlightDiagnostic remark = emitRemark(op->getLoc());
      remark << fmt::format("{} {}-way bank conflict where {}x{} is {} by '{}', {} bytes a thread "
                            "[R0402]",
                            access.turns() == 8 ? "an" : "a", access.turns(),
                            fmt::join(access.shape, "x"), access.element, access.verb,
                            access.operation, access.bytes);
      constexpr int64_t shown = 8;
      const int64_t lanes = layout::lanesOfTransaction(access.bytes);
      std::vector<int64_t> places;
      for (int64_t lane = 0; lane < std::min(lanes, shown); ++lane) {
        places.push_back(access.threadPlaces.contribution(layout::Holder::Lane, lane));
      }
      remark.attachNote() << fmt::format(
          "the {} lanes that are served together begin at bytes {}{}, and banks repeat after 128",
          lanes, fmt::join(places, ", "), lanes > shown ? ", …" : "");
    }
  }
}

void remarkOnTiles(pipeline::CompileState &state) {
  Operation *kernel = pipeline::kernelFunctions(*state.module).front();
  const tile::AxisInfos axes(kernel);
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!hasLayouts(op)) {
      return; // of a text that was fed in
    }
    if (isa<ConvertLayoutOp>(op)) {
      remarkOnConversion(op);
    }
    remarkOnBanks(op, axes);
    remarkOnAccess(op, axes);
  });
  if (auto fullest = fullestPlace(kernel, state)) {
    state.fullest = std::move(fullest->place);
  }
}

void remarkOnCode(pipeline::CompileState &state) {
  const auto ptxas = findPtxas();
  if (!ptxas || !*ptxas) {
    return; // nobody has given registers to the code yet
  }
  const auto made = assemble(state.assembly, state.target->features());
  if (!made) {
    return; // which is no matter of speed
  }
  const runtime::FunctionResources taken = readPtxasLog(made->log).resources;
  const int64_t stored = taken.spillStoreBytes.value_or(0);
  const int64_t loaded = taken.spillLoadBytes.value_or(0);
  if (stored + loaded == 0) {
    return;
  }
  Diagnostic remark = state.fullest ? *state.fullest : Diagnostic();
  remark.severity = Severity::Remark;
  remark.code = "R0501";
  remark.message = fmt::format("{} bytes of a thread's values are spilled to memory and {} loaded "
                               "again, with {} registers",
                               stored, loaded, taken.registers);
  if (remark.file.empty()) {
    remark.file = state.input.path;
  }
  remark.withHelp("smaller blocks, or more warps by num_warps, give a thread less to hold");
  state.diags.add(std::move(remark));
}

} // namespace nereid::nvidia
