// SPDX-License-Identifier: Apache-2.0
// Reads number and string literals by Python's rules.
#include "lib/language/syntax/Literals.h"

#include "lib/language/syntax/Characters.h"

#include <charconv>
#include <cstdlib>

namespace nereid::language {
namespace {

constexpr size_t longestShown = 40;

std::string shown(std::string_view spelling) {
  return spelling.size() <= longestShown
             ? "'" + std::string(spelling) + "'"
             : "'" + std::string(spelling.substr(0, longestShown - 10)) + "…' of " +
                   std::to_string(spelling.size()) + " characters";
}

Diagnostic malformed(std::string_view spelling, std::string_view why) {
  return makeError("E0106", "the number " + shown(spelling) + " " + std::string(why));
}

/// '_' may stand between two digits, and after a base prefix.
bool hasMisplacedUnderscore(std::string_view digits, bool afterPrefix) {
  for (size_t i = 0; i < digits.size(); ++i) {
    bool isBetween = (i > 0 ? digitValue(digits[i - 1]) < 16 : afterPrefix) &&
                     i + 1 < digits.size() && digitValue(digits[i + 1]) < 16;
    if (digits[i] == '_' && !isBetween) {
      return true;
    }
  }
  return false;
}

/// The hexadecimal value of exactly `count` digits, or -1.
int64_t readHex(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) {
    return -1;
  }
  int64_t value = 0;
  for (size_t i = at; i < at + count; ++i) {
    int digit = digitValue(text[i]);
    if (digit > 15) {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

char simpleEscape(char c) {
  switch (c) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case 'a':
    return '\a';
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'v':
    return '\v';
  case '\\':
    return '\\';
  case '\'':
    return '\'';
  case '"':
    return '"';
  default:
    return 0;
  }
}

/// Resolves the escape whose backslash stands at `i` and moves `i` past it.
EscapeError appendEscape(std::string &out, std::string_view inside, size_t &i) {
  size_t begin = i++;
  char c = i < inside.size() ? inside[i] : '\0';
  if (c == '\n') {
    ++i;
  } else if (char simple = simpleEscape(c)) {
    out += simple;
    ++i;
  } else if (c >= '0' && c <= '7') {
    uint32_t value = 0;
    for (int digits = 0; digits < 3 && i < inside.size() && inside[i] >= '0' && inside[i] <= '7';
         ++digits) {
      value = value * 8 + (inside[i++] - '0');
    }
    appendUtf8(out, value);
  } else if (c == 'x' || c == 'u' || c == 'U') {
    size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    int64_t value = readHex(inside, i + 1, count);
    bool isCharacter = value >= 0 && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
    if (!isCharacter) {
      return {begin, i + 1,
              value < 0 ? std::string("the escape '\\") + c + "' expects " + std::to_string(count) +
                              " hexadecimal digits"
                        : std::string("the escape '\\") + c + "' names no character"};
    }
    appendUtf8(out, static_cast<uint32_t>(value));
    i += 1 + count;
  } else if (c == 'N') {
    return {begin, i + 1, "the escape '\\N' (a character by its name) is not supported"};
  } else {
    out += '\\';
  }
  return {};
}

} // namespace

Result<uint64_t> readInteger(std::string_view spelling) {
  int base = 10;
  std::string_view digits = spelling;
  if (spelling.size() > 1 && spelling[0] == '0' && isAsciiLetter(spelling[1]) &&
      spelling[1] != '_') {
    char letter = static_cast<char>(spelling[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    digits.remove_prefix(base == 10 ? 0 : 2);
  }
  if (digits.empty()) {
    return malformed(spelling, "has no digits after its base");
  }
  if (hasMisplacedUnderscore(digits, base != 10)) {
    return malformed(spelling, "has a '_' that is not between two digits");
  }
  uint64_t value = 0;
  bool isZero = true;
  for (char c : digits) {
    if (c == '_') {
      continue;
    }
    int digit = digitValue(c);
    if (digit >= base) {
      if (c == 'j' || c == 'J') {
        return malformed(spelling, "is complex, which kernels cannot hold");
      }
      return malformed(spelling, std::string("has '") + c + "', which is no digit in base " +
                                     std::to_string(base));
    }
    isZero &= digit == 0;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value)) {
      return malformed(spelling, "is larger than 2^64-1");
    }
  }
  if (base == 10 && digits.size() > 1 && digits[0] == '0' && !isZero) {
    return malformed(spelling, "begins with 0").withHelp("write 0o… for an octal number");
  }
  return value;
}

Result<double> readFloat(std::string_view spelling) {
  std::string digits;
  for (size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] != '_') {
      digits += spelling[i];
      continue;
    }
    bool isBetween =
        i > 0 && i + 1 < spelling.size() && isDigit(spelling[i - 1]) && isDigit(spelling[i + 1]);
    if (!isBetween) {
      return malformed(spelling, "has a '_' that is not between two digits");
    }
  }
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    bool isComplex = !digits.empty() && (digits.back() | 0x20) == 'j';
    return malformed(spelling,
                     isComplex ? "is complex, which kernels cannot hold" : "is not a number");
  }
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(digits.c_str(), nullptr);
  }
  return value;
}

EscapeError appendUnescaped(std::string &out, std::string_view inside, bool isRaw) {
  if (isRaw) {
    out += inside;
    return {};
  }
  for (size_t i = 0; i < inside.size();) {
    if (inside[i] != '\\') {
      size_t next = std::min(inside.find('\\', i), inside.size());
      out += inside.substr(i, next - i);
      i = next;
    } else if (EscapeError error = appendEscape(out, inside, i); !error.message.empty()) {
      return error;
    }
  }
  return {};
}

std::string quoteString(std::string_view value) {
  std::string out = "'";
  for (char c : value) {
    switch (c) {
    case '\\':
      out += "\\\\";
      break;
    case '\'':
      out += "\\'";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        constexpr char hex[] = "0123456789abcdef";
        out += {'\\', 'x', hex[c >> 4], hex[c & 15]};
      } else {
        out += c;
      }
    }
  }
  return out + "'";
}

} // namespace nereid::language
