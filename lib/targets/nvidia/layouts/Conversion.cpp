// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/Conversion.h"

#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/threads/Staging.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

int64_t neighboursAlong(const LinearLayout &layout, int64_t dim) {
  const int64_t unit = dim == 1 ? 1 : layout.shape()[1];
  int64_t count = 1;
  for (int64_t basis : layout.bases(Holder::Register)) {
    if (basis != count * unit || count == 8) {
      break;
    }
    count *= 2;
  }
  return count;
}

namespace {

std::optional<std::vector<size_t>> registersWithin(const LinearLayout &from,
                                                   const LinearLayout &to) {
  if (from.bases(Holder::Lane) != to.bases(Holder::Lane) ||
      from.bases(Holder::Warp) != to.bases(Holder::Warp)) {
    return std::nullopt;
  }
  const auto places = from.registersByContribution();
  std::vector<size_t> registers;
  for (int64_t reg = 0; reg < to.count(Holder::Register); ++reg) {
    const auto place = places.find(to.contribution(Holder::Register, reg));
    if (place == places.end()) {
      return std::nullopt;
    }
    registers.push_back(place->second);
  }
  return registers;
}

/// The dimension of a matrix along which registers hold neighbours, else lanes.
int64_t fastestOf(const LinearLayout &layout) {
  const int64_t along0 = neighboursAlong(layout, 0), along1 = neighboursAlong(layout, 1);
  if (along0 != along1) {
    return along0 > along1 ? 0 : 1;
  }
  const auto &lanes = layout.bases(Holder::Lane);
  return !lanes.empty() && lanes[0] == layout.shape()[1] ? 0 : 1;
}

bool isFragmentOf(Type element, const LinearLayout &to, int64_t fastest, int64_t mostStaged) {
  const auto &shape = to.shape();
  return !isa<tile::PtrType>(element) && element.getIntOrFloatBitWidth() == 16 &&
         shape[static_cast<size_t>(fastest)] >= 8 && shape[static_cast<size_t>(1 - fastest)] >= 8 &&
         shape[0] * shape[1] * 2 <= mostStaged && matrixRowsOf(to, fastest);
}

/// Whether threads hold neighbours in `to`, of a matrix of 16 or 32 bits. Fills the conversion.
bool goesInVectors(const LinearLayout &from, const LinearLayout &to, int64_t bytes,
                   int64_t mostStaged, Conversion &conversion) {
  const auto &shape = to.shape();
  if (shape.size() != 2 || (bytes != 2 && bytes != 4)) {
    return false;
  }
  const int64_t fastest = fastestOf(to);
  const int64_t longest = 16 / bytes;
  conversion.readVector = std::min(neighboursAlong(to, fastest), longest);
  conversion.vector = std::min(neighboursAlong(from, fastest), longest);
  conversion.fastest = fastest;
  // Row by row the last dimension is as good for single elements.
  return (conversion.readVector * bytes >= 8 || fastest == 0) &&
         shape[static_cast<size_t>(fastest)] * bytes >= 16 &&
         shape[0] * shape[1] * bytes <= mostStaged;
}

} // namespace

Conversion conversionOf(Type element, const LinearLayout &from, const LinearLayout &to,
                        int64_t mostStaged) {
  Conversion conversion;
  if (auto registers = registersWithin(from, to)) {
    conversion.way = Conversion::Way::Registers;
    conversion.registers = std::move(*registers);
    return conversion;
  }
  if (from.shape().size() == 2) {
    conversion.fastest = fastestOf(from);
    if (isFragmentOf(element, to, conversion.fastest, mostStaged)) {
      conversion.way = Conversion::Way::Fragment;
      conversion.vector = neighboursAlong(from, conversion.fastest);
      return conversion;
    }
  }
  const int64_t bytes = memoryBits(element) / 8;
  if (goesInVectors(from, to, bytes, mostStaged, conversion)) {
    conversion.way = Conversion::Way::Vectors;
    return conversion;
  }
  conversion.parts = std::max<int64_t>(1, from.elementCount() * bytes / mostStagedBytes);
  return conversion;
}

Conversion conversionOf(ConvertLayoutOp op) {
  // Slots of copies are free outside of the loops that read them.
  int64_t mostStaged = mostStagedBytes;
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto slots = kernel ? kernel->getAttrOfType<IntegerAttr>(copyBytesAttribute) : IntegerAttr();
  bool isAmongCopies = false;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop && !isAmongCopies;
       loop = loop->getParentOfType<scf::ForOp>()) {
    isAmongCopies = !loop.getBody()->getOps<WaitCopiesOp>().empty();
  }
  if (slots && !isAmongCopies) {
    mostStaged = std::max(mostStaged, slots.getInt() + slotAlignment);
  }
  return conversionOf(tile::elementTypeOf(op.getSource().getType()), *layoutOf(op.getSource()),
                      *layoutOf(op.getResult()), mostStaged);
}

} // namespace nereid::nvidia
