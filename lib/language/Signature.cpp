// SPDX-License-Identifier: Apache-2.0
// Reads signatures: cuts the text at commas, reads each entry as a type or a literal, and lines the
// entries up with the kernel's parameters. Carets point into the signature's own text.
#include "lib/language/Signature.h"

#include "lib/language/Characters.h"
#include "lib/language/DescriptorType.h"

#include "lib/language/Lexer.h"
#include "lib/language/Literals.h"
#include "lib/language/StringExtent.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace nereid::language {
namespace {

constexpr const char *signatureName = "signature";

struct Entry {
  std::string_view name, value; // name is empty by position
  size_t begin = 0, end = 0;    // in the signature's text
};

/// Cuts at the commas and equal signs outside strings and brackets.
std::vector<Entry> splitEntries(std::string_view text) {
  std::vector<Entry> entries;
  if (trimmed(text).empty()) {
    return entries;
  }
  auto addEntry = [&](size_t begin, size_t equals, size_t end) {
    Entry entry;
    bool isNamed = equals != std::string_view::npos;
    entry.name = isNamed ? trimmed(text.substr(begin, equals - begin)) : std::string_view();
    entry.value = trimmed(isNamed ? text.substr(equals + 1, end - equals - 1)
                                  : text.substr(begin, end - begin));
    std::string_view whole = trimmed(text.substr(begin, end - begin));
    entry.begin = whole.empty() ? begin : static_cast<size_t>(whole.data() - text.data());
    entry.end = entry.begin + std::max<size_t>(whole.size(), 1);
    entries.push_back(entry);
  };
  size_t begin = 0, equals = std::string_view::npos;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '<') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']' || text[i] == '>') {
      --depth;
    } else if (depth > 0 && text[i] != '\'' && text[i] != '"') {
      continue;
    } else if (text[i] == '\'' || text[i] == '"') {
      size_t end = findStringEnd(text, i, readStringOpening(text, i));
      i = end == std::string_view::npos ? text.size() : end - 1;
    } else if (text[i] == '=' && equals == std::string_view::npos) {
      equals = i;
    } else if (text[i] == ',') {
      addEntry(begin, equals, i);
      begin = i + 1;
      equals = std::string_view::npos;
    }
  }
  if (!trimmed(text.substr(std::min(begin, text.size()))).empty()) {
    addEntry(begin, equals, text.size()); // a trailing comma adds no entry
  }
  return entries;
}

bool isConstexpr(const Param &param) {
  const Expr *annotation = param.annotation.get();
  if (annotation && annotation->kind == ExprKind::Subscript) {
    annotation = annotation->operands[0].get();
  }
  if (!annotation) {
    return false;
  }
  bool canName = annotation->kind == ExprKind::Name || annotation->kind == ExprKind::Attribute;
  return (canName && annotation->text == "constexpr") ||
         (annotation->kind == ExprKind::String &&
          (annotation->text == "constexpr" || annotation->text.ends_with(".constexpr")));
}

std::string listTypes() {
  std::string out;
  for (int i = 0; i < dtypeCount; ++i) {
    out += (i == 0 ? "" : ", ") + std::string(kernelName(static_cast<DType>(i)));
  }
  return out;
}

/// "*fp32:16", "i32": fills the type, or says what is wrong with it.
std::optional<Diagnostic> readPlainType(std::string_view text, ParamType &out) {
  size_t colon = text.rfind(':');
  std::string_view name = trimmed(text.substr(0, colon));
  out.kind = name.starts_with('*') ? ParamType::Kind::Pointer : ParamType::Kind::Scalar;
  std::string_view element = out.kind == ParamType::Kind::Pointer ? trimmed(name.substr(1)) : name;
  bool isDescriptor = isDescriptorType(name);
  if (isDescriptor) {
    if (std::optional<Diagnostic> error = readDescriptorType(name, out)) {
      return error;
    }
  }
  std::optional<DType> type = isDescriptor ? out.dtype : parseDType(element);
  if (!type) {
    Diagnostic error = makeError("E0207", "unknown type '" + std::string(name) + "'");
    std::vector<std::string> known;
    for (int i = 0; i < dtypeCount; ++i) {
      known.emplace_back(kernelName(static_cast<DType>(i)));
      known.emplace_back(torchName(static_cast<DType>(i)));
    }
    std::vector<std::string> near = nearestNames(element, known);
    return error.withHelp((near.empty() ? "" : "did you mean '" + near[0] + "'? ") + "types are " +
                          listTypes() + ", with '*' in front for a pointer");
  }
  if (out.kind == ParamType::Kind::Scalar && isFloat8(*type)) {
    return makeError("E0207", "an 8-bit float is passed by pointer only, but got '" +
                                  std::string(name) + "'")
        .withHelp("pass '*" + std::string(name) + "', or fp32 and convert in the kernel");
  }
  out.dtype = *type;
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view digits = trimmed(text.substr(colon + 1));
  int64_t value = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool isPower = failure == std::errc() && end == digits.data() + digits.size() && value > 0 &&
                 value <= (int64_t(1) << 30) && (value & (value - 1)) == 0;
  if (!isPower) {
    return makeError("E0207",
                     "expects a power of two after ':', but got '" + std::string(digits) + "'")
        .withHelp("':16' promises that the value or address is divisible by 16");
  }
  if (out.kind == ParamType::Kind::Scalar && (isFloat(*type) || *type == DType::Bool)) {
    return makeError("E0207", "expects an integer or a pointer before ':', but got '" +
                                  std::string(name) + "'")
        .withHelp("remove ':" + std::string(digits) + "'");
  }
  out.divisibility = value;
  return std::nullopt;
}

/// The same with a range behind it: "i32:16{1..4096}".
std::optional<Diagnostic> readType(std::string_view text, ParamType &out) {
  const size_t brace = text.find('{');
  if (brace == std::string_view::npos || !text.ends_with('}')) {
    return readPlainType(text, out);
  }
  if (std::optional<Diagnostic> error = readPlainType(trimmed(text.substr(0, brace)), out)) {
    return error;
  }
  if (out.kind != ParamType::Kind::Scalar) {
    return makeError("E0026",
                     "expects an integer before a range, but got '" + std::string(text) + "'")
        .withHelp("an address has no range; write '" + std::string(trimmed(text.substr(0, brace))) +
                  "'");
  }
  Result<SizeRange> range =
      readSizeRange(text.substr(brace + 1, text.size() - brace - 2), out.dtype);
  if (!range) {
    return std::move(range.error());
  }
  out.range = *range;
  return std::nullopt;
}

/// A parameter's default as a value; nothing when it is not a literal.
std::optional<ConstValue> readDefault(const Expr &expression) {
  switch (expression.kind) {
  case ExprKind::Integer:
    return expression.integer;
  case ExprKind::Float:
    return expression.real;
  case ExprKind::Bool:
    return expression.integer != 0;
  case ExprKind::String:
    return expression.text;
  case ExprKind::None:
    return std::monostate();
  case ExprKind::Name:
  case ExprKind::Attribute:
    if (std::optional<DType> type = readTypeValue(expression.text)) {
      return *type;
    }
    return std::nullopt;
  case ExprKind::Unary: {
    std::optional<ConstValue> inner = readDefault(*expression.operands[0]);
    if (inner && expression.text == "-") {
      if (const auto *integer = std::get_if<int64_t>(&*inner)) {
        return static_cast<int64_t>(uint64_t(0) - static_cast<uint64_t>(*integer));
      }
      if (const auto *real = std::get_if<double>(&*inner)) {
        return -*real;
      }
    }
    return std::nullopt;
  }
  case ExprKind::Tuple:
  case ExprKind::List: {
    auto tuple = std::make_shared<ConstTuple>();
    for (const ExprPtr &operand : expression.operands) {
      std::optional<ConstValue> element = readDefault(*operand);
      if (!element) {
        return std::nullopt;
      }
      tuple->values.push_back(std::move(*element));
    }
    return tuple;
  }
  case ExprKind::Call: // tl.constexpr(4)
    if (expression.operands.size() == 2 && expression.operands[0]->text == "constexpr") {
      return readDefault(*expression.operands[1]);
    }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::string listParams(const FunctionDef &kernel) {
  std::string out;
  for (const Param &param : kernel.params) {
    out += (out.empty() ? "" : ", ") + param.name + (isConstexpr(param) ? ": constexpr" : "");
  }
  return out;
}

class SignatureReader {
public:
  SignatureReader(std::string_view text, const FunctionDef &kernel) : text(text), kernel(kernel) {}

  Result<PartialSignature> read() {
    given.resize(kernel.params.size());
    std::vector<Entry> entries = splitEntries(text);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (std::optional<Diagnostic> error = place(entries[i], i)) {
        return std::move(*error);
      }
    }
    PartialSignature signature{{}, std::string(text), &kernel};
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      if (!given[i]) {
        signature.params.emplace_back();
        continue;
      }
      Result<ParamType> type = readEntry(kernel.params[i], *given[i]);
      if (!type) {
        return std::move(type.error());
      }
      signature.params.emplace_back(std::move(*type));
    }
    return signature;
  }

  /// A parameter that the text does not give.
  Result<ParamType> fromDefault(const Param &param) const {
    ParamType out;
    out.name = param.name;
    out.kind = ParamType::Kind::Constexpr;
    if (param.isVarArgs) {
      out.constant = std::make_shared<ConstTuple>();
      return out;
    }
    if (param.defaultValue) {
      if (std::optional<ConstValue> value = readDefault(*param.defaultValue)) {
        out.constant = std::move(*value);
        return out;
      }
    }
    size_t count = splitEntries(text).size();
    std::string reason = param.defaultValue ? "the default of '" + param.name + "' is no literal"
                                            : "'" + param.name + "' is missing";
    Diagnostic error = mismatch("the signature does not match '" + kernel.name + "': expects " +
                                    std::to_string(kernel.params.size()) + " entries, but got " +
                                    std::to_string(count) + "; " + reason,
                                text.size(), text.size() + 1);
    std::string example = isConstexpr(param) ? "=1024" : "=*fp32:16";
    return error.withHelp("add '" + param.name + example + "' or the like");
  }

private:
  Diagnostic &pointAt(Diagnostic &error, size_t begin, size_t end) const {
    std::string_view before = text.substr(0, begin);
    size_t lineBegin = before.rfind('\n') + 1; // npos + 1 is 0
    int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    int column = static_cast<int>(begin - lineBegin) + 1;
    return error.at(signatureName, text, {line, column, column + static_cast<int>(end - begin)});
  }

  Diagnostic mismatch(std::string message, size_t begin, size_t end) const {
    Diagnostic error = makeError("E0206", std::move(message));
    pointAt(error, begin, end).note("'" + kernel.name + "' takes (" + listParams(kernel) + ")");
    return error;
  }

  std::optional<Diagnostic> place(const Entry &entry, size_t index) {
    if (entry.name.empty() && entry.value.empty()) {
      return mismatch("entry " + std::to_string(index + 1) + " of the signature is empty",
                      entry.begin, entry.end);
    }
    size_t target = index;
    if (!entry.name.empty()) {
      hasNamed = true;
      auto found = std::find_if(kernel.params.begin(), kernel.params.end(),
                                [&](const Param &param) { return param.name == entry.name; });
      target = static_cast<size_t>(found - kernel.params.begin());
    } else if (hasNamed) {
      return mismatch("an entry by position follows one by name", entry.begin, entry.end)
          .withHelp("write the name of its parameter before it");
    }
    if (target >= kernel.params.size()) {
      return noSuchParam(entry);
    }
    if (given[target]) {
      return mismatch("the parameter '" + kernel.params[target].name + "' is given twice",
                      entry.begin, entry.end);
    }
    given[target] = entry;
    return std::nullopt;
  }

  Diagnostic noSuchParam(const Entry &entry) const {
    if (entry.name.empty()) {
      size_t count = splitEntries(text).size();
      return mismatch("the signature does not match '" + kernel.name + "': expects at most " +
                          std::to_string(kernel.params.size()) + " entries, but got " +
                          std::to_string(count),
                      entry.begin, entry.end);
    }
    std::vector<std::string> known;
    for (const Param &param : kernel.params) {
      known.push_back(param.name);
    }
    Diagnostic error =
        mismatch("'" + kernel.name + "' has no parameter '" + std::string(entry.name) + "'",
                 entry.begin, entry.end);
    std::vector<std::string> near = nearestNames(entry.name, known);
    return near.empty() ? error : error.withHelp("did you mean '" + near[0] + "'?");
  }

  /// "(*fp32:16, 4)": a tuple with at least one type among its entries. Nothing when it is none.
  std::optional<Result<ParamType>> readTuple(const Param &param, const Entry &entry) const {
    if (isConstexpr(param) || !entry.value.starts_with('(') || !entry.value.ends_with(')')) {
      return std::nullopt;
    }
    std::string_view inside = entry.value.substr(1, entry.value.size() - 2);
    std::vector<Entry> entries = splitEntries(inside);
    bool hasType = std::any_of(entries.begin(), entries.end(), [](const Entry &inner) {
      ParamType type;
      return inner.name.empty() && !readType(inner.value, type);
    });
    if (!hasType) {
      return std::nullopt;
    }
    ParamType out;
    out.name = param.name;
    out.kind = ParamType::Kind::Tuple;
    auto offset = static_cast<size_t>(inside.data() - text.data());
    for (Entry &inner : entries) {
      Param element;
      element.name = param.name + "[" + std::to_string(out.elements.size()) + "]";
      inner.begin += offset;
      inner.end += offset;
      Result<ParamType> read = readEntry(element, inner);
      if (!read) {
        return read;
      }
      out.elements.push_back(std::move(*read));
    }
    return out;
  }

  Result<ParamType> readEntry(const Param &param, const Entry &entry) const {
    if (param.isVarArgs || param.isKeywordArgs) {
      return mismatch("the parameter '*" + param.name + "' cannot be given a type", entry.begin,
                      entry.end);
    }
    if (std::optional<Result<ParamType>> tuple = readTuple(param, entry)) {
      return std::move(*tuple);
    }
    ParamType out;
    out.name = param.name;
    Diagnostic why;
    LiteralState state = readConstant(entry.value, out.constant, why);
    if (state == LiteralState::Malformed) {
      return pointAt(why, entry.begin, entry.end);
    }
    if (state == LiteralState::Value) {
      out.kind = ParamType::Kind::Constexpr;
      return out;
    }
    if (isConstexpr(param)) {
      if (std::optional<DType> type = readTypeValue(entry.value)) {
        out.kind = ParamType::Kind::Constexpr;
        out.constant = *type;
        return out;
      }
      ParamType asType;
      if (isDottedName(entry.value) && readType(entry.value, asType)) {
        out.kind = ParamType::Kind::Constexpr;
        out.constant = ConstName{std::string(entry.value)};
        return out;
      }
      return constexprMismatch(param, entry);
    }
    if (std::optional<Diagnostic> error = readType(entry.value, out)) {
      return pointAt(*error, entry.begin, entry.end);
    }
    return out;
  }

  Diagnostic constexprMismatch(const Param &param, const Entry &entry) const {
    ParamType asType;
    bool isType = !readType(entry.value, asType);
    Diagnostic error =
        makeError("E0208", "'" + param.name +
                               "' is constexpr: expects a value, "
                               "but got " +
                               (isType ? "the type '" : "'") + std::string(entry.value) + "'");
    pointAt(error, entry.begin, entry.end);
    bool isPlainType = isType && asType.kind == ParamType::Kind::Scalar;
    error.withHelp("write a number, True, False, None or a 'string'" +
                   (isPlainType ? ", or " + languageName(asType.dtype) + " to pass the type itself"
                                : std::string()));
    return error;
  }

  std::string_view text;
  const FunctionDef &kernel;
  std::vector<std::optional<Entry>> given;
  bool hasNamed = false;
};

} // namespace

static std::string typeText(const ParamType &param) {
  std::string out;
  switch (param.kind) {
  case ParamType::Kind::Constexpr:
    return constantText(param.constant);
  case ParamType::Kind::Tuple:
    for (const ParamType &element : param.elements) {
      out += (out.empty() ? "" : ",") + typeText(element);
    }
    return "(" + out + (param.elements.size() == 1 ? ",)" : ")");
  case ParamType::Kind::Descriptor:
    out = descriptorTypeText(param);
    break;
  default:
    out = param.kind == ParamType::Kind::Pointer ? "*" : "";
    out += kernelName(param.dtype);
  }
  if (param.divisibility != 1) {
    out += ":" + std::to_string(param.divisibility);
  }
  return out + param.range.text();
}

std::string Signature::text() const {
  std::string out;
  for (const ParamType &param : params) {
    out += (out.empty() ? "" : ",") + param.name + "=" + typeText(param);
  }
  return out;
}

static void flatten(const std::vector<ParamType> &params, std::vector<ParamType> &out) {
  for (const ParamType &param : params) {
    if (param.kind == ParamType::Kind::Tuple) {
      flatten(param.elements, out);
    } else {
      out.push_back(param);
    }
  }
}

std::vector<ParamType> Signature::flattened() const {
  std::vector<ParamType> out;
  flatten(params, out);
  return out;
}

Signature Signature::withoutRanges() const {
  Signature plain = *this;
  for (ParamType &param : plain.params) {
    param.range = {};
  }
  return plain;
}

std::optional<Diagnostic> refuseRanges(const Signature &signature) {
  for (const ParamType &param : signature.params) {
    if (param.range.isBounded()) {
      return makeError("E0026", "the range " + param.range.text() + " of parameter '" + param.name +
                                    "' chooses among a library's specializations, and this is none")
          .withHelp("remove it, or compile a library: --emit static, shared or object");
    }
  }
  return std::nullopt;
}

Result<PartialSignature> parsePartialSignature(std::string_view text, const FunctionDef &kernel) {
  std::string normal(text);
  if (Status status = normalizeText(signatureName, normal); !status) {
    return std::move(status.error());
  }
  return SignatureReader(normal, kernel).read();
}

Result<Signature> PartialSignature::complete() const {
  Signature signature;
  SignatureReader reader(given, *kernel);
  for (size_t i = 0; i < params.size(); ++i) {
    Result<ParamType> type =
        params[i] ? Result<ParamType>(*params[i]) : reader.fromDefault(kernel->params[i]);
    if (!type) {
      return std::move(type.error());
    }
    signature.params.push_back(std::move(*type));
  }
  return signature;
}

Result<Signature> parseSignature(std::string_view text, const FunctionDef &kernel) {
  Result<PartialSignature> partial = parsePartialSignature(text, kernel);
  if (!partial) {
    return std::move(partial.error());
  }
  return partial->complete();
}

} // namespace nereid::language
