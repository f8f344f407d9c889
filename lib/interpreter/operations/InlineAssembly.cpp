// SPDX-License-Identifier: Apache-2.0
// Inline assembly is text for one chip, which the interpreter is not.
#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {

static bool refuse(Instance &instance, mlir::Operation *op) {
  const llvm::StringRef text = mlir::cast<tile::InlineAsmOp>(op).getText().trim();
  const llvm::StringRef first = text.split('\n').first.rtrim();
  instance.report(op, "E0304", "inline assembly runs only on the chip it is written for, not here")
      .note("the assembly starts with '" + first.str() + "'")
      .withHelp("guard it by a constexpr and give the interpreter the same computation in the "
                "kernel language");
  return false;
}

void addInlineAssemblyHandlers(HandlerTable &table) { table.add<tile::InlineAsmOp>(refuse); }

} // namespace nereid::interpreter
