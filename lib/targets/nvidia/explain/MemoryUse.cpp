// SPDX-License-Identifier: Apache-2.0
// Accesses to memory that use little of what memory moves, or little of what an instruction can
// move: how much, and what the compiler would have to know.
#include "lib/layout/Sectors.h"
#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/explain/Promises.h"
#include "lib/targets/nvidia/explain/Remarks.h"
#include "lib/targets/nvidia/threads/Accesses.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

#include <bit>

using namespace mlir;

namespace nereid::nvidia {
namespace {

using layout::Holder;

constexpr int64_t widestBytes = 16; // that one instruction of a thread moves

class MemoryUse {
public:
  MemoryUse(Operation *op, Value pointer, Value mask, const tile::AxisInfos &axes)
      : op(op), pointer(pointer), mask(mask), axes(axes), info(axes.of(pointer)),
        layout(*layoutOf(pointer)),
        element(cast<tile::PtrType>(tile::elementTypeOf(pointer.getType())).getPointee()),
        bytes(memoryBits(element) / 8) {
    whole = accessFor(layout, element, info, std::nullopt).registers;
    masked = mask ? accessFor(layout, element, info, axes.of(mask)).registers : whole;
    for (unsigned dim = 1; dim < layout.shape().size(); ++dim) {
      fastest = info.contiguity(dim) >= info.contiguity(fastest) ? dim : fastest;
    }
  }

  void remark() const {
    if (remarkOnSectors()) {
      return; // what makes vectors narrow is the same
    }
    remarkOnWidth();
    remarkOnMask();
  }

private:
  std::string name() const { return operationName(op).substr(0, operationName(op).find(" at")); }

  bool remarkOnSectors() const {
    std::vector<layout::AddressRun> runs;
    for (const tile::AxisRun &run : info.axes) {
      runs.push_back({run.length, run.stride});
    }
    const layout::SectorUse use = layout::sectorUse(layout, whole, runs, bytes);
    if (use.sectors < 2 || use.share() > 0.5) {
      return false;
    }
    InFlightDiagnostic remark = emitRemark(op->getLoc());
    remark << fmt::format("{} uses {} of the {} bytes that memory moves for a warp: its addresses "
                          "are not known to lie side by side [R0403]",
                          name(), use.bytes, use.sectors * layout::sectorBytes);
    noteRuns(remark);
    if (sourcesOf(pointer, axes).areLoaded) {
      remark.attachNote() << "its offsets are loaded from memory, so that only the data tell";
    } else {
      remark.attachNote() << "help: where a stride is 1, say so in the signature, stride=1; else "
                             "let the dimension that memory runs along be a block's own";
    }
    return true;
  }

  /// What is known, dimension by dimension.
  void noteRuns(InFlightDiagnostic &remark) const {
    std::vector<std::string> dims;
    for (const auto &[dim, run] : llvm::enumerate(info.axes)) {
      dims.push_back(!run.stride || run.length == 1
                         ? fmt::format("dim {}: nothing", dim)
                         : fmt::format("dim {}: {} at a distance of {}", dim, run.length,
                                       *run.stride * bytes));
    }
    remark.attachNote() << fmt::format("known of neighbouring addresses, in bytes: {}",
                                       fmt::join(dims, ", "));
  }

  /// Bytes that a thread could move at once, had everything been known.
  int64_t possibleBytes() const {
    int64_t registers = 1;
    for (int64_t basis : layout.bases(Holder::Register)) {
      registers *= basis != 0 ? 2 : 1;
    }
    return std::min(widestBytes, registers * bytes);
  }

  void remarkOnWidth() const {
    const int64_t possible = possibleBytes();
    const auto run = static_cast<int64_t>(std::bit_floor(uint64_t(info.contiguity(fastest))));
    const int64_t aligned = std::max(bytes, info.divisibility(fastest));
    if (whole * bytes >= possible || std::min(run * bytes, aligned) >= possible) {
      return; // a layout that others ask for has fewer neighbours in a thread
    }
    InFlightDiagnostic remark = emitRemark(op->getLoc());
    const bool isRun = run * bytes <= aligned;
    remark << fmt::format(
        "{} moves {} bytes with an instruction of a thread, and could move {}: {} [R0403]", name(),
        whole * bytes, possible,
        isRun ? fmt::format("its elements are known to be neighbours in runs of {}", run)
              : fmt::format("its addresses are known to be multiples of {} only", aligned));
    if (isRun) {
      return;
    }
    const AddressSources sources = sourcesOf(pointer, axes);
    notePromises(remark, sources.pointers.empty() ? sources.numbers : sources.pointers);
  }

  void remarkOnMask() const {
    if (masked >= whole) {
      return;
    }
    InFlightDiagnostic remark = emitRemark(op->getLoc());
    remark << fmt::format("the mask of {} may tell {} neighbours of a thread apart: threads of "
                          "which it excludes some move {} bytes at a time instead of {} [R0403]",
                          name(), whole / masked, masked * bytes, whole * bytes);
    notePromises(remark, sourcesOf(mask, axes).numbers);
  }

  static void notePromises(InFlightDiagnostic &remark, ArrayRef<std::string> promises) {
    if (!promises.empty()) {
      remark.attachNote() << fmt::format("help: where it holds, promise it in the signature: {}",
                                         fmt::join(promises, ", "));
    }
  }

  Operation *op;
  Value pointer, mask;
  const tile::AxisInfos &axes;
  tile::AxisInfo info;
  layout::LinearLayout layout;
  Type element;
  int64_t bytes, whole = 1, masked = 1; ///< registers of one access
  unsigned fastest = 0;
};

} // namespace

void remarkOnAccess(Operation *op, const tile::AxisInfos &axes) {
  llvm::TypeSwitch<Operation *>(op).Case<tile::LoadOp, tile::StoreOp, AsyncCopyOp>([&](auto one) {
    Value pointer = one.getPointer();
    if (isTile(pointer) && layoutOf(pointer)) {
      MemoryUse(op, pointer, one.getMask(), axes).remark();
    }
  });
}

} // namespace nereid::nvidia
