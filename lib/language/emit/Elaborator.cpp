// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/Elaborator.h"

#include "lib/language/emit/KernelFunction.h"

namespace nereid::language::emit {

Elaborator::Elaborator(mlir::MLIRContext &context, const SourceModule &module,
                       const Signature &signature, ModuleLoader *loader)
    : module(module), signature(signature), emitter(context, loader, signature.options, *this),
      languageModules(emitter.position, emitter.report),
      imports(emitter, languageModules, globals, loader), bindings(emitter, expressions, imports),
      globals(emitter, expressions, calls, imports, bindings), scope(emitter, globals),
      hostLibraries(emitter, imports), objects(emitter, expressions, calls),
      attributes(emitter, languageModules, imports), subscripts(emitter, expressions),
      comprehensions(emitter, expressions, assignments),
      calls(emitter, expressions, statements, objects, hostLibraries),
      expressions(emitter, scope, attributes, subscripts, calls, conditionals, comprehensions),
      assignments(emitter), conditionals(emitter, expressions, statements),
      loops(emitter, expressions, statements, assignments, conditionals),
      statements(emitter, expressions, calls, assignments, conditionals, loops, imports) {
  if (loader) {
    loader->add(module);
  }
}

mlir::OwningOpRef<mlir::ModuleOp> Elaborator::run(const FunctionDef &kernel, Diagnostics &diags) {
  Frame frame;
  frame.module = &module;
  frame.function = &kernel;
  Inside inside(emitter.position, frame);
  At at(emitter.position, kernel.nameRange);
  mlir::OpBuilder &builder = emitter.tiles.builder;
  mlir::OwningOpRef<mlir::ModuleOp> result = mlir::ModuleOp::create(emitter.tiles.location());
  builder.setInsertionPointToEnd(result->getBody());
  mlir::Block *body = KernelFunction(emitter, globals, module).add(kernel, signature);
  builder.setInsertionPointToEnd(body);
  statements.runBlock(kernel.body, 0, nullptr);
  builder.setInsertionPointToEnd(body);
  emitter.tiles.create<mlir::func::ReturnOp>();
  // The types and constants decide what is an error: once per run they are told.
  if (Diagnostic *first = emitter.report.firstError(0)) {
    first->note("'" + kernel.name + "' is compiled for " + signature.text());
  }
  bindings.remarkOpenConditions();
  emitter.report.tell(diags);
  return emitter.report.errorCount() == 0 ? std::move(result) : nullptr;
}

Value Elaborator::callFunction(const Value &function, std::vector<Argument> arguments) {
  return calls.callFunction(*function.function, *function.module, std::move(arguments), {},
                            function.captured);
}

Value Elaborator::callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                              std::vector<Argument> keywords) {
  return calls.callBuiltin(entry, std::move(positional), std::move(keywords));
}

Value Elaborator::attribute(const Value &base, const std::string &name) {
  return attributes.attribute(base, name);
}

std::optional<Value> Elaborator::tryAttribute(const Value &base, const std::string &name) {
  return attributes.tryAttribute(base, name);
}

} // namespace nereid::language::emit
