// SPDX-License-Identifier: Apache-2.0
// Objects inside kernels: named tuples and aggregates. An object is a tuple of its fields that
// knows its class, so that loops and conditions carry it like any tuple.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Calls;
class Expressions;

class Objects {
public:
  Objects(Emitter &emitter, Expressions &expressions, Calls &calls)
      : emitter(emitter), expressions(expressions), calls(calls) {}

  /// An object: by its __init__, or with its fields in order.
  Value construct(const Value &type, std::vector<Argument> positional,
                  std::vector<Argument> keywords);

private:
  Emitter &emitter;
  Expressions &expressions;
  Calls &calls;
};

/// A field or method of an object; nothing when its class has no such name.
std::optional<Value> objectAttribute(const Value &object, const std::string &name);
/// `target = value` for a field of an object that one of the variables holds.
bool assignField(Locals &variables, const Expr &target, const Value &value);

} // namespace nereid::language::emit
