// SPDX-License-Identifier: Apache-2.0
// Functions the kernel language has built in: one table (Builtins.def) of name, where the name is
// visible, parameters and category; calls are bound to the parameters before the function runs.
#pragma once

#include "lib/language/emit/Value.h"

#include <string_view>
#include <vector>

namespace nereid::language::emit {

struct Emitter;

struct Argument {
  std::string name; ///< keywords only
  Value value;
  const Expr *expr = nullptr;
};

/// A call's arguments in the order of the builtin's parameters, defaults filled in.
class Bound {
public:
  const Value &operator[](std::string_view name) const;
  bool isGiven(std::string_view name) const;
  const Expr *expr(std::string_view name) const;
  const std::vector<Argument> &rest() const { return extra; }

private:
  friend class Calls;
  struct Slot {
    std::string_view name;
    Value value;
    const Expr *expr = nullptr;
    bool given = false;
  };
  std::vector<Slot> slots;
  std::vector<Argument> extra; ///< of a `*values` parameter
};

using BuiltinFunction = Value (*)(Emitter &, const Bound &);

struct BuiltinEntry {
  std::string_view name;
  std::string_view scopes; ///< T tl, M tl.math, L libdevice, R triton, m tensor method, P Python
  std::string_view params; ///< "pointer, mask=None, *values"
  std::string_view category;
  BuiltinFunction function; ///< null: of the library, or known upstream and not supported
  bool isLibrary = false;   ///< written in the language itself: see StandardLibrary.h
};

struct ParamSpec {
  std::string_view name;
  Value defaultValue;
  bool hasDefault = false;
  bool isVariadic = false;
};

const std::vector<BuiltinEntry> &builtins();
const BuiltinEntry *findBuiltin(std::string_view name, char scope);
/// Names visible in a scope, for suggestions.
std::vector<std::string> builtinNames(char scope);
const std::vector<ParamSpec> &paramsOf(const BuiltinEntry &entry);
/// What the name means in a kernel: the builtin, or the function of the library.
Value builtinValue(const BuiltinEntry *entry);

#define NEREID_BUILTIN(name, scopes, params, category, function)                                   \
  Value function(Emitter &emitter, const Bound &args);
#define NEREID_LIBRARY(name, scopes, category)
#define NEREID_KNOWN(name, scopes, category)
#include "lib/language/emit/builtins/Builtins.def"
#undef NEREID_BUILTIN
#undef NEREID_LIBRARY
#undef NEREID_KNOWN

} // namespace nereid::language::emit
