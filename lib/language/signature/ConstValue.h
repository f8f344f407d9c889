// SPDX-License-Identifier: Apache-2.0
// Values of constexpr parameters as a signature spells them: numbers, strings, types, tuples, and
// names of functions in the kernel's file. Signature.h carries them, emit/ makes them its own.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/elements/DType.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::language {

struct ConstTuple;

/// What a name means at the top level of the kernel's file: a function, "tl.maximum", a constant.
struct ConstName {
  std::string text;
  bool operator==(const ConstName &) const = default;
};

/// A constexpr's value; monostate is None.
using ConstValue = std::variant<std::monostate, bool, int64_t, double, std::string, DType,
                                std::shared_ptr<ConstTuple>, ConstName>;

struct ConstTuple {
  std::vector<ConstValue> values;
};

/// None: the text is no literal. Malformed: it begins as one.
enum class LiteralState { None, Value, Malformed };

/// A literal as it stands in a signature; `why` says what is wrong with a malformed one.
LiteralState readConstant(std::string_view text, ConstValue &value, Diagnostic &why);

/// "tl.float32", "float32", "tl.int1": the type as a value.
std::optional<DType> readTypeValue(std::string_view text);

/// "add", "tl.maximum".
bool isDottedName(std::string_view text);

/// "tl.float32"
std::string languageName(DType type);

/// As a signature spells it; readConstant reads it back.
std::string constantText(const ConstValue &value);

} // namespace nereid::language
