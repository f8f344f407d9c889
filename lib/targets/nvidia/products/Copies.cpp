// SPDX-License-Identifier: Apache-2.0
// Copies from memory into shared memory that go on while the program computes: `cp.async`, in
// vectors of 4, 8 or 16 bytes that it zeroes where the mask is false. Vectors of which the mask
// tells elements apart, or with other elements than zeros, are loaded and stored.
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Accesses.h"
#include "lib/targets/nvidia/threads/Words.h"

#include "mlir/IR/Matchers.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

constexpr int64_t leastBytes = 4; // of a cp.async

int64_t bytesOf(Type element) { return static_cast<int64_t>(memoryBits(element)) / 8; }

bool isZero(Value tile) {
  if (auto splat = tile.getDefiningOp<tile::SplatOp>()) {
    return matchPattern(splat.getSource(), m_AnyZeroFloat()) ||
           matchPattern(splat.getSource(), m_Zero());
  }
  return matchPattern(tile, m_PosZeroFloat()) || matchPattern(tile, m_Zero());
}

class Copy {
public:
  Copy(ThreadCode &code, AsyncCopyOp op, const tile::AxisInfos &axes)
      : code(code), op(op), layout(*layoutOf(op.getPointer())),
        elementBytes(bytesOf(elementType())),
        tile(layout.shape(), elementBytes, static_cast<int64_t>(op.getFastest())),
        places(code, tile.placesOf(layout), slotAddress(code, op.getSlot(), op.getPlace(), tile)) {
    const Type element = elementType();
    const tile::AxisInfo pointer = axes.of(op.getPointer());
    whole = alongFastest(accessFor(layout, element, pointer, std::nullopt));
    masked = op.getMask() ? alongFastest(accessFor(layout, element, pointer, axes.of(op.getMask())))
                          : whole;
  }

  void run() {
    OpBuilder &b = code.builder;
    // In front of the branches, which share addresses.
    for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
      places.at(reg);
    }
    const bool hasOthers = op.getMask() && op.getOther() && !isZero(op.getOther());
    if (!hasOthers && bytesOfVector(masked) >= leastBytes) {
      copyAll(masked, op.getMask(), code.scalar(op.getGuard()));
      return;
    }
    auto turn = b.create<scf::IfOp>(code.loc, code.scalar(op.getGuard()), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard place(b);
    b.setInsertionPointToStart(&turn.getThenRegion().front());
    if (bytesOfVector(whole) < leastBytes) {
      storeAll();
      return;
    }
    auto branch = b.create<scf::IfOp>(code.loc, allOf(code, op.getMask()), /*withElseRegion=*/true);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    copyAll(whole, {}, {});
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    storeAll();
  }

private:
  Type elementType() {
    return cast<tile::PtrType>(tile::elementTypeOf(op.getPointer().getType())).getPointee();
  }
  int64_t bytesOfVector(const Access &access) const { return access.registers * elementBytes; }

  /// Neighbours along the other dimension are none in the slot.
  Access alongFastest(Access access) {
    const int64_t unit = op.getFastest() == 1 ? 1 : layout.shape()[1];
    const auto &registers = layout.bases(Holder::Register);
    if (access.registers > 1 && registers.front() != unit) {
      return {1, static_cast<unsigned>(8 * elementBytes), 1};
    }
    return access;
  }

  /// Calls with the first register of each vector.
  void forEachVector(const Access &access, llvm::function_ref<void(size_t)> write) {
    for (int64_t reg = 0; reg < layout.count(Holder::Register); reg += access.registers) {
      if (!ThreadCode::isRepeatedRegister(layout, reg)) {
        write(static_cast<size_t>(reg));
      }
    }
  }

  void copyAll(const Access &access, Value mask, Value guard) {
    const int64_t bytes = bytesOfVector(access);
    forEachVector(access, [&](size_t reg) {
      const auto [address, offset] = places.at(static_cast<int64_t>(reg));
      SmallVector<Value> operands{address, code.held(op.getPointer())[reg]};
      std::string constraints = "r,l", size;
      if (mask) {
        operands.push_back(code.builder.create<arith::SelectOp>(
            code.loc, code.held(mask)[reg], code.constant(bytes), code.constant(0)));
        constraints += ",r";
        size = ", $2";
      }
      std::string when;
      if (guard) {
        when = fmt::format("@${} ", operands.size());
        operands.push_back(guard);
        constraints += ",b";
      }
      code.assembly(fmt::format("{}cp.async.{}.shared.global [$0 + {}], [$1], {}{};", when,
                                bytes == 16 ? "cg" : "ca", offset, bytes, size),
                    constraints + ",~{memory}", nullptr, operands);
    });
  }

  void storeAll() {
    const Access access = op.getMask() ? masked : whole;
    const auto n = static_cast<size_t>(access.registers);
    forEachVector(access, [&](size_t reg) {
      Value condition = op.getMask() ? code.held(op.getMask())[reg] : Value();
      SmallVector<Value> others;
      if (op.getMask() && op.getOther()) {
        others = packWords(code, ArrayRef<Value>(code.held(op.getOther())).slice(reg, n),
                           access.wordBits);
      }
      const auto words =
          loadWords(code, {}, access, code.held(op.getPointer())[reg], condition, others);
      const auto [address, offset] = places.at(static_cast<int64_t>(reg));
      code.storeWords(address, offset, words, access.wordBits);
    });
  }

  ThreadCode &code;
  AsyncCopyOp op;
  LinearLayout layout;
  int64_t elementBytes;
  SharedTile tile;
  SharedPlaces places;
  Access whole, masked;
};

} // namespace

void lowerAsyncCopy(ThreadCode &code, AsyncCopyOp op, const tile::AxisInfos &axes) {
  Copy(code, op, axes).run();
}

void lowerBeginCopies(ThreadCode &code, BeginCopiesOp /*op*/) {
  code.barrier();
  code.beginCopies();
}

void lowerCommitCopies(ThreadCode &code, CommitCopiesOp /*op*/) {
  code.intrinsic("llvm.nvvm.cp.async.commit.group", nullptr, {});
}

void lowerWaitCopies(ThreadCode &code, WaitCopiesOp op) {
  code.assembly(fmt::format("cp.async.wait_group {};", op.getPending()), "~{memory}", nullptr, {});
  if (op.getForWarpgroups()) {
    code.assembly("fence.proxy.async.shared::cta;", "~{memory}", nullptr, {});
  }
  code.barrier();
}

void lowerEndCopies(ThreadCode &code, EndCopiesOp /*op*/) {
  code.assembly("cp.async.wait_group 0;", "~{memory}", nullptr, {});
  code.barrier();
  code.endCopies();
}

void lowerStoreCopy(ThreadCode &code, StoreCopyOp op) {
  const LinearLayout layout = *layoutOf(op.getSource());
  const auto fastest = static_cast<int64_t>(op.getFastest());
  const Type element = tile::elementTypeOf(op.getSource().getType());
  const SharedTile tile(layout.shape(), bytesOf(element), fastest);
  storeSwizzled(code, op.getSource(), tile, slotAddress(code, op.getSlot(), op.getPlace(), tile),
                neighboursAlong(layout, fastest));
}

void lowerReadCopy(ThreadCode & /*code*/, ReadCopyOp /*op*/) {}

void lowerOpaque(ThreadCode &code, OpaqueOp op) {
  code.hold(op, code.assembly("mov.b32 $0, $1;", "=r,r", code.builder.getI32Type(),
                              code.scalar(op.getSource())));
}

} // namespace nereid::nvidia
