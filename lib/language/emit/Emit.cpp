// SPDX-License-Identifier: Apache-2.0
// Entry: makes the module and the kernel's function for one signature, elaborates the body, and
// hands out the table of builtins.
#include "lib/language/emit/BuiltinTable.h"
#include "lib/language/emit/Emitter.h"

namespace nereid::language {

namespace emit {

Emitter::Emitter(mlir::MLIRContext &context, const SourceModule &module)
    : builder(&context), context(context), mainModule(module) {}

static Value constantValue(const ConstValue &constant) {
  if (auto *value = std::get_if<bool>(&constant)) {
    return Value::boolean(*value);
  }
  if (auto *value = std::get_if<int64_t>(&constant)) {
    return Value::whole(*value);
  }
  if (auto *value = std::get_if<double>(&constant)) {
    return Value::floating(*value);
  }
  if (auto *value = std::get_if<std::string>(&constant)) {
    return Value::string(*value);
  }
  if (auto *value = std::get_if<DType>(&constant)) {
    return Value::type({*value, false});
  }
  return Value::none();
}

mlir::Block *Emitter::addFunction(const FunctionDef &kernel, const Signature &signature) {
  std::vector<mlir::Type> types;
  std::vector<mlir::Attribute> arguments;
  std::vector<mlir::DictionaryAttr> argumentAttributes;
  for (const ParamType &param : signature.params) {
    if (param.kind == ParamType::Kind::Constexpr) {
      frame->locals[param.name] = constantValue(param.constant);
      continue;
    }
    bool isPointer = param.kind == ParamType::Kind::Pointer;
    types.push_back(mlirType(ElementType{param.dtype, isPointer}));
    const char *kind = isPointer ? "pointer" : isFloat(param.dtype) ? "float" : "integer";
    arguments.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(param.name)),
         builder.getNamedAttr("kind", builder.getStringAttr(kind)),
         builder.getNamedAttr(
             "dtype", builder.getStringAttr(llvm::StringRef(kernelName(param.dtype).data(),
                                                            kernelName(param.dtype).size()))),
         builder.getNamedAttr("divisibility", builder.getI64IntegerAttr(param.divisibility))}));
    std::vector<mlir::NamedAttribute> hints;
    if (param.divisibility > 1 && (isPointer || isInteger(param.dtype))) {
      hints.push_back(
          builder.getNamedAttr("tile.divisibility", builder.getI64IntegerAttr(param.divisibility)));
    }
    argumentAttributes.push_back(builder.getDictionaryAttr(hints));
  }
  auto function = builder.create<mlir::func::FuncOp>(location(), kernel.name,
                                                     builder.getFunctionType(types, {}));
  function->setAttr("tile.kernel", builder.getUnitAttr());
  function->setAttr("nereid.arguments", builder.getArrayAttr(arguments));
  for (size_t i = 0; i < types.size(); ++i) {
    if (!argumentAttributes[i].empty()) {
      function.setArgAttrs(static_cast<unsigned>(i), argumentAttributes[i]);
    }
  }
  mlir::Block *body = function.addEntryBlock();
  unsigned next = 0;
  for (const ParamType &param : signature.params) {
    if (param.kind != ParamType::Kind::Constexpr) {
      bool isPointer = param.kind == ParamType::Kind::Pointer;
      frame->locals[param.name] =
          Value::tile(body->getArgument(next++), {{param.dtype, isPointer}, {}});
    }
  }
  return body;
}

mlir::OwningOpRef<mlir::ModuleOp> Emitter::run(const FunctionDef &kernel,
                                               const Signature &signature, Diagnostics &diags) {
  Frame outer;
  outer.module = &mainModule;
  outer.function = &kernel;
  frame = &outer;
  here = kernel.nameRange;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location());
  builder.setInsertionPointToEnd(module->getBody());
  mlir::Block *body = addFunction(kernel, signature);
  builder.setInsertionPointToEnd(body);
  runBlock(kernel.body, 0, nullptr);
  builder.setInsertionPointToEnd(body);
  builder.create<mlir::func::ReturnOp>(location());
  frame = nullptr;
  for (Diagnostic &diagnostic : reported) {
    diags.add(std::move(diagnostic));
  }
  reported.clear();
  if (errorTotal != 0) {
    return nullptr;
  }
  return module;
}

} // namespace emit

mlir::OwningOpRef<mlir::ModuleOp> emitKernel(mlir::MLIRContext &context, const SourceModule &module,
                                             const FunctionDef &kernel, const Signature &signature,
                                             Diagnostics &diags) {
  context.loadDialect<mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, tile::TileDialect>();
  emit::Emitter emitter(context, module);
  return emitter.run(kernel, signature, diags);
}

std::vector<BuiltinInfo> builtinTable() {
  std::vector<BuiltinInfo> table;
  for (const emit::BuiltinEntry &entry : emit::builtins()) {
    table.push_back({entry.name, entry.params, entry.category, entry.function != nullptr});
  }
  return table;
}

} // namespace nereid::language
