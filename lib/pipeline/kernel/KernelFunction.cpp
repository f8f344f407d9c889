// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/KernelFunction.h"

#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/Promises.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace nereid::pipeline {
namespace {

constexpr const char *argumentsName = "nereid.arguments";
constexpr const char *signatureName = "nereid.signature";

constexpr const char *blockingName = "nereid.blocking";
constexpr const char *takesRangesName = "nereid.takes_ranges";
constexpr const char *addsFloatsName = "nereid.adds_floats";

constexpr std::pair<const char *, runtime::ArgumentKind> kindNames[] = {
    {"pointer", runtime::ArgumentKind::Pointer},
    {"integer", runtime::ArgumentKind::Integer},
    {"float", runtime::ArgumentKind::Float},
};

std::string_view dtypeNameOf(mlir::Type type) {
  if (type.isF16()) {
    return "fp16";
  }
  if (type.isBF16()) {
    return "bf16";
  }
  if (type.isF64()) {
    return "fp64";
  }
  if (type.isFloat8E4M3FN() || type.isFloat8E5M2()) {
    return type.isFloat8E5M2() ? "fp8e5" : "fp8e4nv";
  }
  if (type.isFloat8E4M3FNUZ() || type.isFloat8E5M2FNUZ()) {
    return type.isFloat8E5M2FNUZ() ? "fp8e5b16" : "fp8e4b8";
  }
  if (type.isInteger(1)) {
    return "i1";
  }
  if (type.isInteger(8)) {
    return "i8";
  }
  if (type.isInteger(16)) {
    return "i16";
  }
  if (type.isInteger(32)) {
    return "i32";
  }
  return type.isInteger(64) ? "i64" : "fp32";
}

int64_t integerOf(mlir::Attribute attribute, int64_t otherwise) {
  auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attribute);
  return integer ? integer.getInt() : otherwise;
}

std::string_view textOf(mlir::Attribute attribute) {
  auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute);
  return text ? std::string_view(text.getValue()) : std::string_view();
}

} // namespace

std::vector<mlir::Operation *> kernelFunctions(mlir::ModuleOp module) {
  std::vector<mlir::Operation *> found;
  for (mlir::Operation &op : module.getBody()->getOperations()) {
    if (op.hasAttr(tile::attribute::kernel) && op.hasAttr(mlir::SymbolTable::getSymbolAttrName())) {
      found.push_back(&op);
    }
  }
  return found;
}

void completeArguments(mlir::Operation *kernel) {
  auto function = mlir::dyn_cast<mlir::func::FuncOp>(kernel);
  if (!function || kernel->hasAttr(argumentsName)) {
    return;
  }
  mlir::Builder builder(kernel->getContext());
  llvm::SmallVector<mlir::Attribute> entries;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto pointer = mlir::dyn_cast<tile::PtrType>(type);
    mlir::Type element = pointer ? pointer.getPointee() : type;
    const char *kind = pointer ? "pointer" : mlir::isa<mlir::FloatType>(type) ? "float" : "integer";
    int64_t divisibility = integerOf(function.getArgAttr(i, tile::promise::divisibility), 1);
    mlir::NamedAttribute fields[] = {
        builder.getNamedAttr("name", builder.getStringAttr("arg" + std::to_string(i))),
        builder.getNamedAttr("kind", builder.getStringAttr(kind)),
        builder.getNamedAttr("dtype", builder.getStringAttr(dtypeNameOf(element))),
        builder.getNamedAttr("divisibility", builder.getI64IntegerAttr(divisibility))};
    entries.push_back(builder.getDictionaryAttr(fields));
  }
  kernel->setAttr(argumentsName, builder.getArrayAttr(entries));
}

runtime::KernelInfo readKernelInfo(mlir::Operation *kernel) {
  runtime::KernelInfo info;
  info.name = textOf(kernel->getAttr(mlir::SymbolTable::getSymbolAttrName()));
  info.signature = textOf(kernel->getAttr(signatureName));
  info.scratchBytes = integerOf(kernel->getAttr(scratchBytesAttribute), 0);
  info.threads = static_cast<uint32_t>(integerOf(kernel->getAttr(threadsAttribute), 0));
  info.blocks = static_cast<uint32_t>(integerOf(kernel->getAttr(blocksAttribute), 1));
  info.waits = kernel->hasAttr(waitsAttribute);
  info.isBlocking = kernel->hasAttr(blockingName);
  info.takesRanges = kernel->hasAttr(takesRangesName);
  info.addsFloats = kernel->hasAttr(addsFloatsName);
  auto arguments = mlir::dyn_cast_or_null<mlir::ArrayAttr>(kernel->getAttr(argumentsName));
  if (!arguments) {
    return info;
  }
  auto readOnly =
      mlir::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(kernel->getAttr("nereid.read_only"));
  int64_t parts = 0; // entries left that the launch takes from a descriptor's tensor
  for (auto [i, entry] : llvm::enumerate(arguments)) {
    auto fields = mlir::dyn_cast<mlir::DictionaryAttr>(entry);
    if (!fields || parts > 0) {
      --parts;
      continue;
    }
    runtime::ArgumentInfo argument;
    argument.name = textOf(fields.get("name"));
    argument.dtype = parseDType(textOf(fields.get("dtype"))).value_or(DType::F32);
    argument.divisibility = integerOf(fields.get("divisibility"), 1);
    for (const auto &[name, kind] : kindNames) {
      if (textOf(fields.get("kind")) == name) {
        argument.kind = kind;
      }
    }
    if (int64_t rank = integerOf(fields.get("descriptor"), 0); rank > 0) {
      argument.kind = runtime::ArgumentKind::Descriptor;
      argument.rank = rank;
      parts = 2 * rank - 1;
    }
    argument.isWritten =
        !readOnly || !llvm::is_contained(readOnly.asArrayRef(), static_cast<int64_t>(i));
    info.arguments.push_back(std::move(argument));
  }
  return info;
}

void setSignature(mlir::Operation *kernel, std::string_view signature) {
  kernel->setAttr(signatureName, mlir::StringAttr::get(kernel->getContext(), signature));
}

} // namespace nereid::pipeline
