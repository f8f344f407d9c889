// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/Attributes.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <limits>

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::cpu::CpuDialect)

namespace nereid::cpu {
namespace {

/// What is wrong with an attribute; empty when nothing is.
using Complaint = std::string;

std::string textOf(Attribute value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

Complaint checkUnit(Attribute value) {
  return isa<UnitAttr>(value) ? "" : "expects no value, but got " + textOf(value);
}

template <class Op> Complaint checkMark(Operation *op, Attribute value) {
  return isa<Op>(op) ? checkUnit(value) : "expects a '" + Op::getOperationName().str() + "'";
}

Complaint checkInteger(Attribute value, unsigned bits, int64_t least, int64_t most) {
  auto integer = dyn_cast<IntegerAttr>(value);
  bool isFitting = integer && integer.getType().isSignlessInteger(bits) &&
                   integer.getInt() >= least && integer.getInt() <= most;
  return isFitting
             ? ""
             : "expects an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                   " of type i" + std::to_string(bits) + ", but got " + textOf(value);
}

bool isOfPipelinedRows(Operation *op) {
  auto loop = dyn_cast_or_null<scf::ForOp>(op->getParentOp());
  return loop && loop->hasAttr(attribute::pipelinedRows);
}

/// The nest it joins takes the store alone.
Complaint checkDelayedStore(Operation *op, Attribute value) {
  auto branch = dyn_cast<scf::IfOp>(op);
  bool holdsStore = branch && branch.getNumResults() == 0 && branch.getElseRegion().empty() &&
                    llvm::hasNItems(*branch.thenBlock(), 2) &&
                    isa<tile::StoreOp>(branch.thenBlock()->front()) &&
                    isa<RankedTensorType>(
                        cast<tile::StoreOp>(branch.thenBlock()->front()).getPointer().getType());
  if (!holdsStore || !isOfPipelinedRows(op)) {
    return "expects a 'scf.if' around one store of a tile, in a loop with the attribute '" +
           attribute::pipelinedRows.str() + "'";
  }
  return checkInteger(value, 32, static_cast<int64_t>(DelayedPart::All),
                      static_cast<int64_t>(DelayedPart::Rest));
}

/// The delayed stores of a loop, by their parts: the whole row, or its first part and then the
/// rest.
Complaint checkPipelinedRows(Operation *op, Attribute value) {
  if (!isa<scf::ForOp>(op)) {
    return "expects a 'scf.for'";
  }
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock()) {
    return {}; // the loop's own verifier says so, after this one
  }
  SmallVector<int64_t> parts;
  for (Operation &inner : op->getRegion(0).front()) {
    if (auto part = inner.getAttrOfType<IntegerAttr>(attribute::delayedStore)) {
      parts.push_back(part.getInt());
    }
  }
  constexpr int64_t all = static_cast<int64_t>(DelayedPart::All);
  constexpr int64_t first = static_cast<int64_t>(DelayedPart::First);
  constexpr int64_t rest = static_cast<int64_t>(DelayedPart::Rest);
  const bool areNumbers =
      llvm::all_of(parts, [](int64_t part) { return part >= all && part <= rest; });
  const bool areWhole = parts.empty() || parts == SmallVector<int64_t>{all} ||
                        parts == SmallVector<int64_t>{first, rest};
  if (areNumbers && !areWhole) { // others are the branches' to complain of
    std::string given;
    llvm::raw_string_ostream stream(given);
    llvm::interleaveComma(parts, stream);
    return "expects one delayed store of a whole row, part 0, or two of its parts 1 and 2 in this "
           "order, but got " +
           given;
  }
  return checkUnit(value);
}

Complaint checkRowBefore(Operation *op, Attribute value) {
  if (!isOfPipelinedRows(op) || op->getNumRegions() != 0) {
    return "expects an operation without regions in a loop with the attribute '" +
           attribute::pipelinedRows.str() + "'";
  }
  return checkUnit(value);
}

Complaint checkShortRow(Operation *op, Attribute value) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return isa<scf::ForOp>(op) ? checkInteger(value, 64, 1, most) : "expects a 'scf.for'";
}

struct Row {
  llvm::StringRef name;
  Complaint (*check)(Operation *op, Attribute value);
};

const Row rows[] = {
    {attribute::delayedStore, checkDelayedStore},
    {attribute::pipelinedRows, checkPipelinedRows},
    {attribute::rowBefore, checkRowBefore},
    {attribute::cached, checkMark<tile::StoreOp>},
    {attribute::wholeVectors, checkMark<scf::ForOp>},
    {attribute::anyLaneOrder, checkMark<scf::ForOp>},
    {attribute::hostsPrefetches, checkMark<scf::ForOp>},
    {attribute::shortRow, checkShortRow},
    {attribute::readsNeighbours, checkMark<scf::ForOp>},
};

} // namespace

CpuDialect::CpuDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<CpuDialect>()) {}

LogicalResult CpuDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const Row *row =
      llvm::find_if(rows, [&](const Row &each) { return each.name == attribute.getName(); });
  Complaint complaint =
      row == std::end(rows) ? "is not known" : row->check(op, attribute.getValue());
  return complaint.empty() ? success()
                           : op->emitOpError() << "attribute '" << attribute.getName().strref()
                                               << "' " << complaint;
}

bool isDelayedStore(Operation *op) {
  return isa_and_nonnull<scf::IfOp>(op) && op->hasAttr(attribute::delayedStore);
}

DelayedPart delayedPart(Operation *branch) {
  return static_cast<DelayedPart>(
      cast<IntegerAttr>(branch->getAttr(attribute::delayedStore)).getInt());
}

} // namespace nereid::cpu
