// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/ReservedNames.h"

#include <set>
#include <string>

namespace nereid::generator {

bool isReservedName(std::string_view name) {
  static const std::set<std::string, std::less<>> reserved = {
      "F",         "Launch",      "Schedule",    "ScheduleTable",
      "Sizes",     "addNumber",   "addSize",     "addTensor",
      "alignas",   "alignof",     "and",         "arguments",
      "as",        "asm",         "assert",      "async",
      "auto",      "await",       "baseline",    "blocks",
      "bool",      "break",       "bytes",       "case",
      "catch",     "char",        "class",       "columns",
      "const",     "constexpr",   "contiguous",  "continue",
      "decltype",  "def",         "default",     "del",
      "delete",    "dict",        "do",          "double",
      "dtype",     "elif",        "else",        "enum",
      "except",    "expectShape", "explicit",    "export",
      "extern",    "false",       "finally",     "float",
      "for",       "friend",      "from",        "global",
      "goto",      "grid",        "if",          "import",
      "in",        "inline",      "int",         "is",
      "isWide",    "isinstance",  "joined",      "kept",
      "kernel",    "kernelType",  "lambda",      "leadingSizes",
      "load",      "long",        "main",        "math",
      "max",       "min",         "mutable",     "namespace",
      "nereid",    "new",         "noexcept",    "nonlocal",
      "not",       "number",      "operator",    "or",
      "pass",      "private",     "product",     "protected",
      "public",    "raise",       "register",    "release",
      "return",    "rows",        "schedule",    "short",
      "signature", "signed",      "sizeFromEnd", "size_bytes",
      "sizeof",    "sorted",      "static",      "struct",
      "switch",    "template",    "this",        "throw",
      "tl",        "torch",       "triton",      "true",
      "try",       "tuple",       "typedef",     "typename",
      "union",     "unsigned",    "using",       "virtual",
      "void",      "volatile",    "while",       "wide",
      "with",      "xor",         "yield"};
  return reserved.contains(name);
}

} // namespace nereid::generator
