// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/linalg/ElementTypes.h"

#include "runtime/tensor/Tensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <fmt/format.h>

namespace nereid::importer {
namespace {

namespace arith = mlir::arith;

unsigned bits(mlir::Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

std::string to(mlir::Type type, const std::string &text) {
  return fmt::format("{}.to({})", text, typeText(type));
}

/// The same number, where the bits are one without a sign.
std::string unsignedText(const Scalar &from, mlir::Type source, mlir::Type target) {
  if (from.isNonNegative || bits(source) == 1) {
    return to(target, from.text);
  }
  if (bits(source) == 64) {
    return "";
  }
  return to(target,
            fmt::format("({}.to(torch.int64) & {})", from.text, (int64_t{1} << bits(source)) - 1));
}

/// The only bit of an i1 is its sign: it is -1 where it is set.
std::string signedText(const Scalar &from, mlir::Type source, mlir::Type target) {
  return bits(source) == 1 ? fmt::format("(-{})", to(target, from.text)) : to(target, from.text);
}

std::string lastBits(const Scalar &from, mlir::Type target) {
  return bits(target) == 1 ? fmt::format("(({} & 1) != 0)", from.text) : to(target, from.text);
}

std::string integerText(const Scalar &from, mlir::Type source, mlir::Type target, bool isSigned) {
  if (bits(target) < bits(source)) {
    return lastBits(from, target);
  }
  if (bits(target) == bits(source)) {
    return from.text;
  }
  return isSigned ? signedText(from, source, target) : unsignedText(from, source, target);
}

} // namespace

std::optional<DType> dtypeOf(mlir::Type type) {
  if (type.isF16()) {
    return DType::F16;
  }
  if (type.isBF16()) {
    return DType::BF16;
  }
  if (type.isF32()) {
    return DType::F32;
  }
  if (type.isF64()) {
    return DType::F64;
  }
  if (type.isIndex()) {
    return DType::I64;
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  switch (integer && !integer.isUnsigned() ? integer.getWidth() : 0) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

std::string typeText(mlir::Type type) { return fmt::format("torch.{}", torchName(*dtypeOf(type))); }

bool isConversion(mlir::Operation &operation) {
  return mlir::isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
                   arith::FPToSIOp, arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp,
                   arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>(operation);
}

std::string conversionText(mlir::Operation &operation, const Scalar &from) {
  const mlir::Type source = operation.getOperand(0).getType(),
                   target = operation.getResult(0).getType();
  if (!dtypeOf(source) || !dtypeOf(target)) {
    return "";
  }
  if (!from.isTensor) {
    // A number made of sizes: no type of 32 bits and more changes it.
    return bits(target) >= 32 && bits(source) >= 32 ? from.text : "";
  }
  if (auto narrow = mlir::dyn_cast<arith::TruncFOp>(operation)) {
    const auto mode = narrow.getRoundingmode();
    const bool isNearest = !mode || *mode == arith::RoundingMode::to_nearest_even;
    return isNearest ? to(target, from.text) : "";
  }
  if (mlir::isa<arith::ExtFOp>(operation)) {
    return to(target, from.text);
  }
  if (mlir::isa<arith::SIToFPOp>(operation)) {
    return signedText(from, source, target);
  }
  if (mlir::isa<arith::UIToFPOp>(operation)) {
    return unsignedText(from, source, target);
  }
  if (mlir::isa<arith::FPToSIOp, arith::FPToUIOp>(operation)) {
    const bool isSigned = mlir::isa<arith::FPToSIOp>(operation);
    if (!isSigned && bits(target) == 64) {
      return "";
    }
    // What an unsigned type holds needs one bit more of a signed one.
    const Scalar whole{fmt::format("{}.to(torch.int64)", from.text), {}, true};
    return isSigned && bits(target) > 1 ? to(target, from.text) : lastBits(whole, target);
  }
  return integerText(from, source, target,
                     mlir::isa<arith::ExtSIOp, arith::IndexCastOp>(operation));
}

} // namespace nereid::importer
