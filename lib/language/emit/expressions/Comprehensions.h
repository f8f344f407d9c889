// SPDX-License-Identifier: Apache-2.0
// List comprehensions over what is known while the kernel is elaborated: tuples and constant
// ranges. Their variables do not outlive them.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Assignments;
class Expressions;

class Comprehensions {
public:
  Comprehensions(Emitter &emitter, Expressions &expressions, Assignments &assignments)
      : emitter(emitter), expressions(expressions), assignments(assignments) {}

  Value comprehension(const Expr &expr);

private:
  bool comprehend(const Expr &expr, size_t clause, std::vector<Value> &elements);
  std::optional<std::vector<Value>> iterate(const Value &iterable);

  Emitter &emitter;
  Expressions &expressions;
  Assignments &assignments;
};

} // namespace nereid::language::emit
