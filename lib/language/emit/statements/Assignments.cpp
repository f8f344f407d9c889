// SPDX-License-Identifier: Apache-2.0
// Assignment: to names and tuples of names, plain, augmented and annotated.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

Value Emitter::boundOnAssign(Value value) {
  if (frame->isConstexpr) { // Python's integers have no width outside of kernels
    return value;
  }
  if (value.isTuple()) {
    for (Value &element : value.elements) {
      element = boundOnAssign(std::move(element));
    }
  }
  return literalAsScalar(std::move(value));
}

void Emitter::assign(const Expr &target, Value value) {
  At at(*this, target.range);
  if (target.kind == ExprKind::Name) {
    frame->locals[target.text] = std::move(value);
    return;
  }
  if (target.kind == ExprKind::Attribute && assignField(target, value)) {
    return;
  }
  if (target.kind != ExprKind::Tuple && target.kind != ExprKind::List) {
    error("E0311", target.kind == ExprKind::Subscript
                       ? "assigning to an element of a tile is not supported in a kernel"
                       : "a kernel assigns to names and tuples of names only")
        .withHelp(target.kind == ExprKind::Subscript ? "use tl.where to replace elements" : "");
    return;
  }
  bool isMatching = value.isTuple() && value.elements.size() == target.operands.size();
  if (!isMatching && !value.isPoison()) {
    error("E0217", "expects " + std::to_string(target.operands.size()) +
                       " values to unpack, but got " + describe(value));
  }
  for (size_t i = 0; i < target.operands.size(); ++i) {
    assign(*target.operands[i], isMatching ? value.elements[i] : Value::poison());
  }
}

} // namespace nereid::language::emit
