// SPDX-License-Identifier: Apache-2.0
// The elaborator of one kernel: an abstract interpreter of Python that writes tile IR where values
// are only known at run time. Its parts are classes of their own, which walk expressions,
// statements and modules; here they are put together. Errors are reported once and yield poison, so
// that elaboration goes on and finds more.
#pragma once

#include "lib/language/emit/expressions/Attributes.h"
#include "lib/language/emit/expressions/Calls.h"
#include "lib/language/emit/expressions/Comprehensions.h"
#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/expressions/Subscripts.h"
#include "lib/language/emit/modules/Globals.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/language/emit/modules/Imports.h"
#include "lib/language/emit/modules/LanguageModules.h"
#include "lib/language/emit/modules/Objects.h"
#include "lib/language/emit/modules/Scope.h"
#include "lib/language/emit/statements/Assignments.h"
#include "lib/language/emit/statements/Conditionals.h"
#include "lib/language/emit/statements/Loops.h"
#include "lib/language/emit/statements/Statements.h"
#include "lib/language/signature/Signature.h"

#include "mlir/IR/OwningOpRef.h"

namespace nereid::language::emit {

class Elaborator : public Evaluation {
public:
  Elaborator(mlir::MLIRContext &context, const SourceModule &module, const Signature &signature,
             ModuleLoader *loader);

  /// Null after errors, which are all in `diags`.
  mlir::OwningOpRef<mlir::ModuleOp> run(const FunctionDef &kernel, Diagnostics &diags);

private:
  Value callFunction(const Value &function, std::vector<Argument> arguments) override;
  Value callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                    std::vector<Argument> keywords) override;
  Value attribute(const Value &base, const std::string &name) override;
  std::optional<Value> tryAttribute(const Value &base, const std::string &name) override;

  const SourceModule &module;
  const Signature &signature;
  Emitter emitter;
  // modules/: what names mean
  LanguageModules languageModules;
  Imports imports;
  TopLevelBindings bindings;
  Globals globals;
  Scope scope;
  HostLibraries hostLibraries;
  Objects objects;
  // expressions/
  Attributes attributes;
  Subscripts subscripts;
  Comprehensions comprehensions;
  Calls calls;
  Expressions expressions;
  // statements/
  Assignments assignments;
  Conditionals conditionals;
  Loops loops;
  Statements statements;
};

} // namespace nereid::language::emit
