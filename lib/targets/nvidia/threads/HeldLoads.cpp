// SPDX-License-Identifier: Apache-2.0
// Loads that are held in shared memory, see layouts/HoldLoads.cpp: each thread copies its own
// vectors of 16 bytes by `cp.async`, and reads them again where they are needed.
#include "lib/targets/nvidia/threads/Accesses.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;

namespace {

constexpr int64_t vectorBytes = 16, wordBits = 32, words = 4;

/// Elements of a vector.
size_t elementsOf(Type element) {
  return static_cast<size_t>(vectorBytes * 8 / memoryBits(element));
}

} // namespace

void lowerHeldLoad(ThreadCode &code, tile::LoadOp op) {
  const Type element = threadType(tile::elementTypeOf(op.getType()));
  const size_t n = elementsOf(element);
  Value begin = code.heldAddress(op->getAttrOfType<IntegerAttr>(heldAttribute).getInt());
  const auto &pointers = code.held(op.getPointer());
  int64_t offset = 0;
  for (size_t reg = 0; reg < pointers.size(); reg += n, offset += code.stepOfHeld()) {
    SmallVector<Value> operands{begin, pointers[reg]};
    std::string text =
        fmt::format("cp.async.cg.shared.global [$0 + {}], [$1], {};", offset, vectorBytes);
    std::string constraints = "r,l";
    if (op.getMask()) {
      operands.push_back(code.held(op.getMask())[reg]);
      constraints += ",b";
      text = "@$2 " + text;
      std::string list;
      for (int64_t word = 0; word < words; ++word) {
        list += fmt::format("{}${}", word == 0 ? "" : ", ", operands.size() + size_t(word));
        constraints += ",r";
      }
      // Where the mask is false memory is not read.
      SmallVector<Value> others(words, code.constant(0));
      if (op.getOther()) {
        others = packWords(code, ArrayRef<Value>(code.held(op.getOther())).slice(reg, n), wordBits);
      }
      operands.append(others.begin(), others.end());
      text += fmt::format(" @!$2 st.shared.v4.b32 [$0 + {}], {{{}}};", offset, list);
    }
    code.assembly(text, constraints + ",~{memory}", nullptr, operands);
  }
  code.expectHeld();
  code.hold(op, ThreadCode::Held());
}

void lowerReadAgain(ThreadCode &code, ReadAgainOp op) {
  code.awaitHeld();
  auto load = op.getSource().getDefiningOp<tile::LoadOp>();
  const Type element = threadType(tile::elementTypeOf(op.getType()));
  Value begin = code.heldAddress(load->getAttrOfType<IntegerAttr>(heldAttribute).getInt());
  const int64_t count = layoutOf(op)->count(Holder::Register);
  ThreadCode::Held held;
  int64_t offset = 0;
  while (static_cast<int64_t>(held.size()) < count) {
    // Not ThreadCode::loadWords, which reads the memory that all blocks of a program share.
    for (Value word : code.loadOwnWords(begin, offset, words)) {
      const auto elements = unpackWord(code, word, elementsOf(element) / words, element);
      held.append(elements.begin(), elements.end());
    }
    offset += code.stepOfHeld();
  }
  code.hold(op, held);
}

} // namespace nereid::nvidia
