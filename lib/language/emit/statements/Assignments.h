// SPDX-License-Identifier: Apache-2.0
// Assignment: to names, tuples of names and fields of objects.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Assignments {
public:
  explicit Assignments(Emitter &emitter) : emitter(emitter) {}

  void assign(const Expr &target, Value value);

private:
  Emitter &emitter;
};

/// A number assigned to a plain variable of the function promotes like a scalar from then on.
Value boundOnAssign(const Frame &frame, Value value);

} // namespace nereid::language::emit
