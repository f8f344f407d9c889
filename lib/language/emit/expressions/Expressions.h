// SPDX-License-Identifier: Apache-2.0
// Expressions by kind: what each is worth where elaboration stands.
#pragma once

#include "lib/language/emit/Emitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::language::emit {

class Attributes;
class Calls;
class Comprehensions;
class Conditionals;
class Scope;
class Subscripts;

class Expressions {
public:
  Expressions(Emitter &emitter, Scope &scope, Attributes &attributes, Subscripts &subscripts,
              Calls &calls, Conditionals &conditionals, Comprehensions &comprehensions)
      : emitter(emitter), scope(scope), attributes(attributes), subscripts(subscripts),
        calls(calls), conditionals(conditionals), comprehensions(comprehensions) {}

  Value evaluate(const Expr &expr);
  /// An expression of the top level of a file.
  Value evaluateAtTop(const SourceModule &module, const Expr &expr);

private:
  Value formatted(const Expr &expr);
  Value shortCircuit(const Expr &expr);
  /// Each operand is evaluated once.
  Value chained(const Expr &expr);
  /// `result and next`, or `or`, where the next one is evaluated only if it counts.
  Value joined(bool isAnd, const Value &result, const Expr &place,
               llvm::function_ref<Value()> evaluateNext);
  Value sequence(const Expr &expr);

  Emitter &emitter;
  Scope &scope;
  Attributes &attributes;
  Subscripts &subscripts;
  Calls &calls;
  Conditionals &conditionals;
  Comprehensions &comprehensions;
};

} // namespace nereid::language::emit
