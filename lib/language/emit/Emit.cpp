// SPDX-License-Identifier: Apache-2.0
// Entry: elaborates one kernel for one signature, and hands out the table of builtins.
#include "lib/language/StandardLibrary.h"
#include "lib/language/emit/Elaborator.h"
#include "lib/language/emit/builtins/BuiltinTable.h"

namespace nereid::language {

mlir::OwningOpRef<mlir::ModuleOp> emitKernel(mlir::MLIRContext &context, const SourceModule &module,
                                             const FunctionDef &kernel, const Signature &signature,
                                             Diagnostics &diags, ModuleLoader *loader) {
  context.loadDialect<mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, tile::TileDialect>();
  emit::Elaborator elaborator(context, module, signature, loader);
  return elaborator.run(kernel, diags);
}

std::vector<BuiltinInfo> builtinTable() {
  std::vector<BuiltinInfo> table;
  for (const emit::BuiltinEntry &entry : emit::builtins()) {
    if (entry.name.front() == '_') { // upstream's inside, which some kernels use
      continue;
    }
    std::string params(entry.params);
    if (entry.isLibrary) {
      params = parameterText(findLibraryFunction(entry.name));
    }
    std::string name = (entry.scopes == "d" ? "descriptor." : "") + std::string(entry.name);
    table.push_back({std::move(name), std::move(params), entry.category,
                     entry.function != nullptr || entry.isLibrary});
  }
  return table;
}

} // namespace nereid::language
