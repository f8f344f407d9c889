// SPDX-License-Identifier: Apache-2.0
// Where the attributes `tile.…` may stand, and what they may be: one row for each of them. A name
// without a row is an error, so that one that is spelt wrongly is not lost in silence.
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/PrintDescription.h"
#include "lib/tile/ir/Promises.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using mlir::Attribute;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;

namespace nereid::tile {
namespace {

/// What is wrong with an attribute; empty when nothing is.
using Complaint = std::string;

bool isKernel(Operation *op) {
  return mlir::isa<mlir::FunctionOpInterface>(op) && op->hasAttr(attribute::kernel);
}

std::string textOf(Attribute value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

Complaint checkUnit(Attribute value) {
  return mlir::isa<mlir::UnitAttr>(value) ? "" : "expects no value, but got " + textOf(value);
}

Complaint checkInteger(Attribute value, int64_t least, int64_t most, bool isPowerOfTwo) {
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value);
  bool isFitting = integer && integer.getType().isSignlessInteger(32) &&
                   integer.getInt() >= least && integer.getInt() <= most &&
                   (!isPowerOfTwo || llvm::isPowerOf2_64(static_cast<uint64_t>(integer.getInt())));
  return isFitting ? ""
                   : std::string("expects ") + (isPowerOfTwo ? "a power of two" : "an integer") +
                         " from " + std::to_string(least) + " to " + std::to_string(most) +
                         " of type i32, but got " + textOf(value);
}

/// A launch gives numbers and addresses.
Complaint checkKernelMark(Operation *op, Attribute value) {
  auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
  if (!function) {
    return "expects a function";
  }
  for (mlir::Type type : function.getArgumentTypes()) {
    if (mlir::isa<DescriptorType>(type)) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return "expects arguments that are numbers or addresses, but got " + text;
    }
  }
  return checkUnit(value);
}

template <int64_t least, int64_t most, bool isPowerOfTwo>
Complaint checkKernelOption(Operation *op, Attribute value) {
  return isKernel(op) ? checkInteger(value, least, most, isPowerOfTwo) : "expects a kernel";
}

Complaint checkTargetOptions(Operation *op, Attribute value) {
  auto options = mlir::dyn_cast<mlir::DictionaryAttr>(value);
  bool isFitting =
      isKernel(op) && options && llvm::all_of(options, [](mlir::NamedAttribute option) {
        auto number = mlir::dyn_cast<mlir::IntegerAttr>(option.getValue());
        return number && number.getType().isSignlessInteger(64);
      });
  return isFitting
             ? ""
             : "expects a kernel and a dictionary of numbers of type i64, but got " + textOf(value);
}

template <int64_t least, int64_t most> Complaint checkLoopNumber(Operation *op, Attribute value) {
  return mlir::isa<mlir::scf::ForOp>(op) ? checkInteger(value, least, most, false)
                                         : "expects a 'scf.for'";
}

Complaint checkStages(Operation *op, Attribute value) {
  return mlir::isa<mlir::scf::ForOp>(op) || isKernel(op) ? checkInteger(value, 0, INT32_MAX, false)
                                                         : "expects a kernel or a 'scf.for'";
}

template <class Op> Complaint checkMark(Operation *op, Attribute value) {
  const std::string name = Op::getOperationName().str();
  const char *article = name.starts_with('a') ? "an" : "a";
  return mlir::isa<Op>(op) ? checkUnit(value)
                           : "expects " + std::string(article) + " '" + name + "'";
}

Complaint checkRounded(Operation *op, Attribute value) {
  return mlir::isa<mlir::arith::MulFOp, mlir::arith::DivFOp>(op)
             ? checkUnit(value)
             : "expects an 'arith.mulf' or 'arith.divf'";
}

/// One number for each dimension of the only result.
Complaint checkPromise(Operation *op, Attribute value) {
  if (op->getNumResults() != 1) {
    return "expects an operation with one result, but got one with " +
           std::to_string(op->getNumResults());
  }
  size_t rank = std::max<size_t>(shapeOf(op->getResult(0).getType()).size(), 1);
  auto numbers = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(value);
  return numbers && static_cast<size_t>(numbers.size()) == rank
             ? ""
             : "expects array<i64> of " + std::to_string(rank) + ", but got " + textOf(value);
}

Complaint checkIterations(Operation *, Attribute value) {
  return mlir::isa<mlir::DenseI64ArrayAttr>(value) ? ""
                                                   : "expects array<i64>, but got " + textOf(value);
}

Complaint checkUnsigned(Operation *op, Attribute value) {
  auto numbers = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(value);
  bool isFitting =
      mlir::isa<PrintOp>(op) && numbers && llvm::all_of(numbers.asArrayRef(), [&](int64_t number) {
        return number >= 0 && number < static_cast<int64_t>(op->getNumOperands());
      });
  return isFitting ? "" : "expects numbers of operands of a 'tile.print', but got " + textOf(value);
}

struct Row {
  llvm::StringRef name;
  Complaint (*check)(Operation *op, Attribute value);
};

const Row rows[] = {
    {attribute::kernel, checkKernelMark},
    {attribute::numWarps, checkKernelOption<1, 64, true>},
    {attribute::numStages, checkStages},
    {attribute::numCtas, checkKernelOption<1, 16, true>},
    {attribute::maxRegisters, checkKernelOption<1, 255, false>},
    {attribute::targetOptions, checkTargetOptions},
    {attribute::loopUnrollFactor, checkLoopNumber<0, INT32_MAX>},
    {attribute::warpSpecialize, checkMark<mlir::scf::ForOp>},
    {attribute::flatten, checkMark<mlir::scf::ForOp>},
    {attribute::disallowAccMultiBuffer, checkMark<mlir::scf::ForOp>},
    {attribute::disableLicm, checkMark<mlir::scf::ForOp>},
    {promise::divisibility, checkPromise},
    {promise::contiguity, checkPromise},
    {promise::constancy, checkPromise},
    {attribute::iterations, checkIterations},
    {attribute::coarsened, checkMark<mlir::scf::ForOp>},
    {attribute::oneOrder, checkMark<mlir::scf::ForOp>},
    {attribute::endOfRange, checkMark<ProgramIdOp>},
    {attribute::privateAtomic, checkMark<AtomicRMWOp>},
    {attribute::rounded, checkRounded},
    {attribute::nearby, checkMark<mlir::arith::DivFOp>},
    {attribute::rare, checkMark<mlir::arith::SelectOp>},
    {attribute::forHalves, checkMark<mlir::arith::SelectOp>},
    {unsignedOperands, checkUnsigned},
};

LogicalResult report(Operation *op, llvm::StringRef name, const Complaint &complaint) {
  return complaint.empty() ? success()
                           : op->emitOpError() << "attribute '" << name << "' " << complaint;
}

} // namespace

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, mlir::NamedAttribute attribute) {
  for (const Row &row : rows) {
    if (row.name == attribute.getName()) {
      return report(op, row.name, row.check(op, attribute.getValue()));
    }
  }
  return report(op, attribute.getName(), "is not known");
}

/// Arguments have one promise: an integer of at least 1 that divides the number or address.
LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    mlir::NamedAttribute attribute) {
  if (attribute.getName() != promise::divisibility) {
    return report(op, attribute.getName(), "is not known of an argument");
  }
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute.getValue());
  bool isFitting = integer && integer.getType().isSignlessInteger(64) && integer.getInt() >= 1;
  return report(op, attribute.getName(),
                isFitting
                    ? ""
                    : "of argument " + std::to_string(argument) +
                          " expects an i64 of at least 1, but got " + textOf(attribute.getValue()));
}

} // namespace nereid::tile
