// SPDX-License-Identifier: Apache-2.0
#include "lib/language/signature/ConstValue.h"

#include "lib/language/syntax/Characters.h"
#include "lib/language/syntax/Literals.h"
#include "lib/language/syntax/StringExtent.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace nereid::language {

std::string languageName(DType type) {
  if (isFloat8(type)) { // "fp8e5" is "tl.float8e5"
    return "tl.float" + std::string(kernelName(type).substr(2));
  }
  return "tl." + (type == DType::Bool ? std::string("int1") : std::string(torchName(type)));
}

/// "tl.float32", "float32", "tl.int1": the type as a value.
std::optional<DType> readTypeValue(std::string_view text) {
  for (std::string_view prefix : {"tl.", "triton.language."}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  for (int i = 0; i < dtypeCount; ++i) {
    DType type = static_cast<DType>(i);
    if (languageName(type).substr(3) == text) {
      return type;
    }
  }
  return std::nullopt;
}

/// Where the element that begins at `begin` ends: at a comma or bracket of its own level.
static size_t endOfElement(std::string_view text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\'' || text[i] == '"') {
      size_t end = findStringEnd(text, i, readStringOpening(text, i));
      i = end == std::string_view::npos ? text.size() : end - 1;
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if ((text[i] == ')' || text[i] == ']') && depth-- == 0) {
      return i;
    } else if (text[i] == ',' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

/// Deeper than any tuple a kernel takes; bounds the recursion.
static constexpr int maxTupleDepth = 32;

static LiteralState readLiteral(std::string_view text, ConstValue &value, Diagnostic &why,
                                int depth);

/// "(4, 4)", "[1]": the text begins with a bracket.
static LiteralState readTuple(std::string_view text, ConstValue &value, Diagnostic &why,
                              int depth) {
  char close = text[0] == '(' ? ')' : ']';
  auto malformed = [&](const std::string &what) {
    why = makeError("E0207", what + " in '" + std::string(text) + "'");
    return LiteralState::Malformed;
  };
  if (text.back() != close || text.size() < 2 || depth > maxTupleDepth) {
    return malformed("expects a tuple that ends with '" + std::string(1, close) + "'");
  }
  auto tuple = std::make_shared<ConstTuple>();
  std::string_view inside = text.substr(1, text.size() - 2);
  for (size_t begin = 0; begin < inside.size();) {
    size_t end = endOfElement(inside, begin);
    std::string_view element = trimmed(inside.substr(begin, end - begin));
    begin = end + 1;
    if (element.empty() && begin > inside.size()) {
      break; // after a trailing comma
    }
    ConstValue item;
    LiteralState state =
        element.empty() ? LiteralState::None : readLiteral(element, item, why, depth + 1);
    if (state == LiteralState::None) {
      if (std::optional<DType> type = readTypeValue(element)) {
        item = *type;
      } else {
        return malformed("expects numbers, strings, types or tuples");
      }
    } else if (state == LiteralState::Malformed) {
      return state;
    }
    tuple->values.push_back(std::move(item));
  }
  value = std::move(tuple);
  return LiteralState::Value;
}

static LiteralState readLiteral(std::string_view text, ConstValue &value, Diagnostic &why,
                                int depth) {
  if (!text.empty() && (text[0] == '(' || text[0] == '[')) {
    return readTuple(text, value, why, depth);
  }
  if (text == "None") {
    value = std::monostate();
    return LiteralState::Value;
  }
  if (text == "True" || text == "False") {
    value = text == "True";
    return LiteralState::Value;
  }
  if (StringOpening opening = readStringOpening(text, 0); opening.quote != 0) {
    size_t end = findStringEnd(text, 0, opening);
    std::string content;
    bool isWhole = end == text.size() && !opening.isFormatted && !opening.isBytes;
    if (!isWhole) {
      why = makeError("E0207", "the string in the signature does not end, or is not a plain one");
      return LiteralState::Malformed;
    }
    EscapeError error = appendUnescaped(
        content, text.substr(opening.length(), end - opening.length() - opening.quoteLength),
        opening.isRaw);
    if (!error.message.empty()) {
      why = makeError("E0108", error.message);
      return LiteralState::Malformed;
    }
    value = std::move(content);
    return LiteralState::Value;
  }
  bool isNegative = text.starts_with('-');
  std::string_view digits = trimmed(isNegative ? text.substr(1) : text);
  if (digits == "inf" || digits == "nan") {
    double real = digits == "inf" ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    value = isNegative ? -real : real;
    return LiteralState::Value;
  }
  bool isNumber = !digits.empty() && ((digits[0] >= '0' && digits[0] <= '9') ||
                                      (digits[0] == '.' && digits.size() > 1));
  if (!isNumber) {
    return LiteralState::None;
  }
  bool isBased = digits.size() > 1 && digits[0] == '0' && std::isalpha(digits[1]);
  if (!isBased && digits.find_first_of(".eE") != std::string_view::npos) {
    Result<double> real = readFloat(digits);
    if (!real) {
      why = std::move(real.error());
      return LiteralState::Malformed;
    }
    value = isNegative ? -*real : *real;
    return LiteralState::Value;
  }
  Result<uint64_t> integer = readInteger(digits);
  constexpr uint64_t most = uint64_t(1) << 63;
  if (integer && (isNegative ? *integer > most : false)) {
    integer = makeError("E0106", "the number '" + std::string(text) + "' is below -2^63");
  }
  if (!integer) {
    why = std::move(integer.error());
    return LiteralState::Malformed;
  }
  value = static_cast<int64_t>(isNegative ? uint64_t(0) - *integer : *integer);
  return LiteralState::Value;
}

LiteralState readConstant(std::string_view text, ConstValue &value, Diagnostic &why) {
  return readLiteral(text, value, why, 0);
}

bool isDottedName(std::string_view text) {
  bool isStart = true;
  for (char c : text) {
    bool isLetter = std::isalpha(static_cast<unsigned char>(c)) || c == '_';
    bool isDigit = c >= '0' && c <= '9';
    if (c == '.' ? isStart : !(isLetter || (isDigit && !isStart))) {
      return false;
    }
    isStart = c == '.';
  }
  return !text.empty() && !isStart;
}

std::string constantText(const ConstValue &value) {
  if (const bool *boolean = std::get_if<bool>(&value)) {
    return *boolean ? "True" : "False";
  }
  if (const int64_t *integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  if (const double *real = std::get_if<double>(&value)) {
    if (std::isnan(*real)) {
      return "nan"; // the sign of a NaN means nothing
    }
    char buffer[64];
    std::string out(buffer, std::to_chars(buffer, buffer + sizeof(buffer), *real).ptr);
    bool looksReal = out.find_first_of(".en") != std::string::npos;
    return looksReal ? out : out + ".0";
  }
  if (const std::string *string = std::get_if<std::string>(&value)) {
    return quoteString(*string);
  }
  if (const DType *type = std::get_if<DType>(&value)) {
    return languageName(*type);
  }
  if (const auto *tuple = std::get_if<std::shared_ptr<ConstTuple>>(&value)) {
    std::string out;
    for (const ConstValue &element : (*tuple)->values) {
      out += (out.empty() ? "(" : ", ") + constantText(element);
    }
    return (out.empty() ? "(" : out) + ((*tuple)->values.size() == 1 ? ",)" : ")");
  }
  if (const auto *name = std::get_if<ConstName>(&value)) {
    return name->text;
  }
  return "None";
}

} // namespace nereid::language
