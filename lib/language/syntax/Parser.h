// SPDX-License-Identifier: Apache-2.0
// Text to syntax tree. Reports several syntax errors per run with the caret at the token; never
// recurses deeper than a fixed limit (E0107) and never throws.
#pragma once

#include "lib/language/syntax/Ast.h"

#include <optional>

namespace nereid::language {

/// Parses a whole file. Errors inside jit functions are errors; other unreadable top-level code
/// becomes Opaque statements. Returns nothing when a jit function could not be parsed.
std::optional<SourceModule> parseModule(std::string path, std::string text, Diagnostics &diags);

/// Reads the file first: E0001 when it cannot be read.
std::optional<SourceModule> parseFile(const std::string &path, Diagnostics &diags);

/// Parses a text in which nothing may be unreadable, e.g. the body of a definition: every error is
/// reported, none becomes Opaque. Returns nothing after errors.
std::optional<SourceModule> parseStatements(std::string path, std::string text, Diagnostics &diags);

/// Parses one expression, e.g. a grid "cdiv(n, BLOCK), 1, 1" (a Tuple) or a signature entry.
ExprPtr parseExpression(std::string_view what, std::string_view text, Diagnostics &diags);

} // namespace nereid::language
