// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/KernelFunction.h"

#include "lib/language/emit/modules/Globals.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/Promises.h"

#include "llvm/ADT/STLExtras.h"

namespace nereid::language::emit {

/// `name` is a name of the kernel's file or a dotted one, such as "tl.maximum".
Value KernelFunction::valueNamed(const std::string &name) {
  size_t dot = name.find('.');
  Value value = globals.find(module, name.substr(0, dot)).value_or(Value::poison());
  if (value.isPoison()) {
    return emitter.report.fail(
        "E0202", "'" + name + "' of the signature is not defined in the kernel's file",
        "name a function of the file, tl.maximum or the like");
  }
  while (dot != std::string::npos && !value.isPoison()) {
    size_t next = name.find('.', dot + 1);
    value = emitter.evaluation.attribute(value, name.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  return value;
}

Value KernelFunction::constantValue(const ConstValue &constant) {
  if (auto *value = std::get_if<std::shared_ptr<ConstTuple>>(&constant)) {
    std::vector<Value> elements;
    for (const ConstValue &element : (*value)->values) {
      elements.push_back(constantValue(element));
    }
    return Value::tuple(std::move(elements));
  }
  if (auto *value = std::get_if<ConstName>(&constant)) {
    return valueNamed(value->text);
  }
  return valueOf(constant);
}

/// The descriptor whose parts are the base and the block's next arguments. Rows are contiguous,
/// which the launch checks, so that the last stride is a constant.
static Value descriptorOf(Value base, const ParamType &param, mlir::Block &block, unsigned &next) {
  const TileType number{{DType::I64, false}, {}};
  size_t rank = param.blockShape.size();
  std::vector<Value> sizes, strides;
  for (size_t i = 0; i < rank; ++i) {
    sizes.push_back(Value::tile(block.getArgument(next++), number));
  }
  for (size_t i = 0; i + 1 < rank; ++i) {
    strides.push_back(Value::tile(block.getArgument(next++), number));
  }
  strides.push_back(Value::whole(1));
  strides.back().bound = DType::I64;
  Value descriptor;
  descriptor.kind = Value::Kind::Descriptor;
  descriptor.tileType = {{param.dtype, false},
                         Shape(param.blockShape.begin(), param.blockShape.end())};
  descriptor.origins.resize(rank, nullptr);
  descriptor.text = param.padsWithNan ? "nan" : "";
  descriptor.elements = {std::move(base), Value::tuple(std::move(sizes)),
                         Value::tuple(std::move(strides))};
  return descriptor;
}

/// Annotated tl.const: the kernel only reads through the pointer.
static bool isConstAnnotation(const Expr *annotation) {
  return annotation && annotation->text == "const" &&
         (annotation->kind == ExprKind::Name || annotation->kind == ExprKind::Attribute);
}

static void setOptions(mlir::func::FuncOp function, const KernelOptions &options) {
  mlir::Builder builder(function.getContext());
  auto set = [&](llvm::StringRef name, const std::optional<int64_t> &value) {
    if (value) {
      function->setAttr(name, builder.getI32IntegerAttr(static_cast<int32_t>(*value)));
    }
  };
  set(tile::attribute::numWarps, options.numWarps);
  set(tile::attribute::numStages, options.numStages);
  set(tile::attribute::numCtas, options.numCtas);
  set(tile::attribute::maxRegisters, options.maxRegisters);
  llvm::SmallVector<mlir::NamedAttribute> ofTargets;
  for (const auto &[name, value] : options.ofTargets) {
    ofTargets.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  }
  if (!ofTargets.empty()) {
    function->setAttr(tile::attribute::targetOptions, builder.getDictionaryAttr(ofTargets));
  }
}

mlir::Block *KernelFunction::addArguments(const FunctionDef &kernel, const Signature &signature) {
  std::vector<mlir::Type> types;
  std::vector<mlir::Attribute> arguments;
  std::vector<mlir::DictionaryAttr> argumentAttributes;
  auto addArgument = [&](const std::string &name, ElementType type, int64_t divisibility,
                         int64_t descriptorRank) {
    types.push_back(emitter.tiles.mlirType(type));
    const char *kind = type.isPointer ? "pointer" : isFloat(type.dtype) ? "float" : "integer";
    std::string_view dtype = kernelName(type.dtype);
    llvm::SmallVector<mlir::NamedAttribute> entry = {
        emitter.tiles.builder.getNamedAttr("name", emitter.tiles.builder.getStringAttr(name)),
        emitter.tiles.builder.getNamedAttr("kind", emitter.tiles.builder.getStringAttr(kind)),
        emitter.tiles.builder.getNamedAttr(
            "dtype",
            emitter.tiles.builder.getStringAttr(llvm::StringRef(dtype.data(), dtype.size()))),
        emitter.tiles.builder.getNamedAttr("divisibility",
                                           emitter.tiles.builder.getI64IntegerAttr(divisibility))};
    if (descriptorRank > 0) {
      entry.push_back(emitter.tiles.builder.getNamedAttr(
          "descriptor", emitter.tiles.builder.getI64IntegerAttr(descriptorRank)));
    }
    arguments.push_back(emitter.tiles.builder.getDictionaryAttr(entry));
    std::vector<mlir::NamedAttribute> hints;
    if (divisibility > 1 && (type.isPointer || isInteger(type.dtype))) {
      hints.push_back(emitter.tiles.builder.getNamedAttr(
          tile::promise::divisibility, emitter.tiles.builder.getI64IntegerAttr(divisibility)));
    }
    argumentAttributes.push_back(emitter.tiles.builder.getDictionaryAttr(hints));
  };
  for (const ParamType &param : signature.flattened()) {
    if (param.kind == ParamType::Kind::Constexpr) {
      continue;
    }
    bool isDescriptor = param.kind == ParamType::Kind::Descriptor;
    size_t rank = param.blockShape.size();
    addArgument(param.name, {param.dtype, isDescriptor || param.kind == ParamType::Kind::Pointer},
                param.divisibility, isDescriptor ? static_cast<int64_t>(rank) : 0);
    for (size_t i = 0; isDescriptor && i + 1 < 2 * rank; ++i) {
      std::string part =
          i < rank ? ".shape[" + std::to_string(i) : ".strides[" + std::to_string(i - rank);
      addArgument(param.name + part + "]", {DType::I64, false}, 1, 0);
    }
  }
  auto function = emitter.tiles.create<mlir::func::FuncOp>(
      kernel.name, emitter.tiles.builder.getFunctionType(types, {}));
  function->setAttr(tile::attribute::kernel, emitter.tiles.builder.getUnitAttr());
  setOptions(function, signature.options);
  function->setAttr("nereid.arguments", emitter.tiles.builder.getArrayAttr(arguments));
  for (size_t i = 0; i < types.size(); ++i) {
    if (!argumentAttributes[i].empty()) {
      function.setArgAttrs(static_cast<unsigned>(i), argumentAttributes[i]);
    }
  }
  return function.addEntryBlock();
}

Value KernelFunction::parameterValue(const ParamType &param, bool isConst, mlir::Block &body,
                                     unsigned &next) {
  if (param.kind == ParamType::Kind::Constexpr) {
    return constantValue(param.constant);
  }
  if (param.kind == ParamType::Kind::Tuple) {
    std::vector<Value> elements;
    for (const ParamType &element : param.elements) {
      elements.push_back(parameterValue(element, isConst, body, next));
    }
    return Value::tuple(std::move(elements));
  }
  bool isDescriptor = param.kind == ParamType::Kind::Descriptor;
  bool isPointer = isDescriptor || param.kind == ParamType::Kind::Pointer;
  Value value =
      Value::tile(body.getArgument(next++), {{param.dtype, isPointer, isPointer && isConst}, {}});
  return isDescriptor ? descriptorOf(std::move(value), param, body, next) : value;
}

mlir::Block *KernelFunction::add(const FunctionDef &kernel, const Signature &signature) {
  mlir::Block *body = addArguments(kernel, signature);
  unsigned next = 0;
  for (auto [i, param] : llvm::enumerate(signature.params)) {
    emitter.frame().locals[param.name] =
        parameterValue(param, isConstAnnotation(kernel.params[i].annotation.get()), *body, next);
  }
  return body;
}

} // namespace nereid::language::emit
