// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/Errors.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace nereid::nvidia {

LogicalResult unsupported(Operation *op, const Twine &why, const Twine &help) {
  // Of the location alone: an operation's own emitError adds its text as a note.
  InFlightDiagnostic error = emitError(op->getLoc()) << "the nvidia target cannot compile '"
                                                     << op->getName() << "': " << why << " [E0301]";
  error.attachNote() << "help: " << help;
  return error;
}

} // namespace nereid::nvidia
