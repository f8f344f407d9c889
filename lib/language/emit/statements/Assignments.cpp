// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/Assignments.h"

#include "lib/language/emit/modules/Objects.h"

namespace nereid::language::emit {

Value boundOnAssign(const Frame &frame, Value value) {
  if (frame.isConstexpr) { // Python's integers have no width outside of kernels
    return value;
  }
  if (value.isTuple()) {
    for (Value &element : value.elements) {
      element = boundOnAssign(frame, std::move(element));
    }
  }
  return literalAsScalar(std::move(value));
}

void Assignments::assign(const Expr &target, Value value) {
  At at(emitter.position, target.range);
  if (target.kind == ExprKind::Name) {
    emitter.frame().locals[target.text] = std::move(value);
    return;
  }
  if (target.kind == ExprKind::Attribute && assignField(emitter.frame().locals, target, value)) {
    return;
  }
  if (target.kind != ExprKind::Tuple && target.kind != ExprKind::List) {
    emitter.report
        .error("E0311", target.kind == ExprKind::Subscript
                            ? "assigning to an element of a tile is not supported in a kernel"
                            : "a kernel assigns to names and tuples of names only")
        .withHelp(target.kind == ExprKind::Subscript ? "use tl.where to replace elements" : "");
    return;
  }
  bool isMatching = value.isTuple() && value.elements.size() == target.operands.size();
  if (!isMatching && !value.isPoison()) {
    emitter.report.error("E0217", "expects " + std::to_string(target.operands.size()) +
                                      " values to unpack, but got " + describe(value));
  }
  for (size_t i = 0; i < target.operands.size(); ++i) {
    assign(*target.operands[i], isMatching ? value.elements[i] : Value::poison());
  }
}

} // namespace nereid::language::emit
