// SPDX-License-Identifier: Apache-2.0
// Integer expressions over named values: launch grids ("cdiv(n, BLOCK), 1, 1") and symbolic sizes.
// Python's meaning on 64-bit integers (// and % round down); what Python would answer with a larger
// integer or an exception is a diagnostic (E0281..E0284). Evaluates the parser's tree directly.
//
//   auto grid = evaluateGrid("cdiv(n, BLOCK), 1, 1", {{"n", 1000}, {"BLOCK", 256}}); // {4, 1, 1}
#pragma once

#include "lib/language/syntax/Ast.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace nereid::language {

using NamedIntegers = std::map<std::string, int64_t>;

/// + - * // % ** << >> & | ^ ~, comparisons, and/or/not, `a if c else b`, min, max, abs, cdiv,
/// next_power_of_2 (also as triton.cdiv, tl.cdiv, …). Diagnostics carry the range inside the
/// expression; `.at(what, text, error.range)` adds the line.
Result<int64_t> evaluateInteger(const Expr &expression, const NamedIntegers &values);

/// The same from text; `what` names it in messages, e.g. "grid".
Result<int64_t> evaluateInteger(std::string_view what, std::string_view text,
                                const NamedIntegers &values);

/// One to three comma-separated sizes, missing ones are 1; negative ones are E0284.
Result<std::array<int64_t, 3>> evaluateGrid(std::string_view text, const NamedIntegers &values);

} // namespace nereid::language
