// SPDX-License-Identifier: Apache-2.0
// Reads signatures: reads each entry as a type or a literal, and lines the entries up with the
// kernel's parameters. Carets point into the signature's own text.
#include "lib/language/signature/Signature.h"

#include "lib/language/signature/SignatureEntries.h"
#include "lib/language/syntax/Characters.h"
#include "lib/language/syntax/Lexer.h"
#include "lib/language/syntax/Literals.h"

#include <algorithm>
#include <optional>

namespace nereid::language {
namespace {

constexpr const char *signatureName = "signature";

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
    out += (out.empty() ? "" : ", ") + param.name + (param.isConstexpr() ? ": constexpr" : "");
  }
  return out;
}

class SignatureReader {
public:
  SignatureReader(std::string_view text, const FunctionDef &kernel) : text(text), kernel(kernel) {}

  Result<PartialSignature> read() {
    given.resize(kernel.params.size());
    std::vector<SignatureEntry> entries = splitSignature(text);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (std::optional<Diagnostic> error = place(entries[i], i)) {
        return std::move(*error);
      }
    }
    PartialSignature signature{{}, options, std::string(text), &kernel};
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
    std::string reason = param.defaultValue ? "the default of '" + param.name + "' is no literal"
                                            : "'" + param.name + "' is missing";
    Diagnostic error = mismatch("the signature does not match '" + kernel.name + "': expects " +
                                    std::to_string(kernel.params.size()) + " entries, but got " +
                                    std::to_string(countEntries()) + "; " + reason,
                                text.size(), text.size() + 1);
    std::string example = param.isConstexpr() ? "=1024" : "=*fp32:16";
    const std::string search = "; where it is the length of a tile, nereid tune --search finds one";
    return error.withHelp("add '" + param.name + example + "' or the like" +
                          (param.isConstexpr() ? search : ""));
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

  std::optional<Diagnostic> place(const SignatureEntry &entry, size_t index) {
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
    if (const KernelOption *option = optionOf(entry)) {
      return placeOption(*option, entry);
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

  /// The option that the entry gives; null when it is for a parameter.
  const KernelOption *optionOf(const SignatureEntry &entry) const {
    bool isParam = std::any_of(kernel.params.begin(), kernel.params.end(),
                               [&](const Param &param) { return param.name == entry.name; });
    return isParam ? nullptr : findKernelOption(entry.name);
  }

  std::optional<Diagnostic> placeOption(const KernelOption &option, const SignatureEntry &entry) {
    if (valueOf(options, option)) {
      return mismatch("the option '" + std::string(option.name) + "' is given twice", entry.begin,
                      entry.end);
    }
    ConstValue value = std::string(entry.value);
    Diagnostic why;
    if (readConstant(entry.value, value, why) == LiteralState::Malformed) {
      return pointAt(why, entry.begin, entry.end);
    }
    std::optional<Diagnostic> error = setOption(options, option, value);
    return error ? std::optional(pointAt(*error, entry.begin, entry.end)) : std::nullopt;
  }

  /// Those for parameters.
  size_t countEntries() const {
    size_t count = 0;
    for (const SignatureEntry &entry : splitSignature(text)) {
      count += optionOf(entry) ? 0 : 1;
    }
    return count;
  }

  Diagnostic noSuchParam(const SignatureEntry &entry) const {
    if (entry.name.empty()) {
      return mismatch("the signature does not match '" + kernel.name + "': expects at most " +
                          std::to_string(kernel.params.size()) + " entries, but got " +
                          std::to_string(countEntries()),
                      entry.begin, entry.end);
    }
    std::vector<std::string> known;
    for (const Param &param : kernel.params) {
      known.push_back(param.name);
    }
    for (std::string &option : kernelOptionNames()) {
      known.push_back(std::move(option));
    }
    Diagnostic error =
        mismatch("'" + kernel.name + "' has no parameter '" + std::string(entry.name) + "'",
                 entry.begin, entry.end);
    std::vector<std::string> near = nearestNames(entry.name, known);
    return near.empty() ? error : error.withHelp("did you mean '" + near[0] + "'?");
  }

  /// "(*fp32:16, 4)": a tuple with at least one type among its entries. Nothing when it is none.
  std::optional<Result<ParamType>> readTuple(const Param &param,
                                             const SignatureEntry &entry) const {
    if (param.isConstexpr() || !entry.value.starts_with('(') || !entry.value.ends_with(')')) {
      return std::nullopt;
    }
    std::string_view inside = entry.value.substr(1, entry.value.size() - 2);
    std::vector<SignatureEntry> entries = splitSignature(inside);
    bool hasType = std::any_of(entries.begin(), entries.end(), [](const SignatureEntry &inner) {
      ParamType type;
      return inner.name.empty() && !readParamType(inner.value, type);
    });
    if (!hasType) {
      return std::nullopt;
    }
    ParamType out;
    out.name = param.name;
    out.kind = ParamType::Kind::Tuple;
    auto offset = static_cast<size_t>(inside.data() - text.data());
    for (SignatureEntry &inner : entries) {
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

  Result<ParamType> readEntry(const Param &param, const SignatureEntry &entry) const {
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
    if (param.isConstexpr()) {
      if (std::optional<DType> type = readTypeValue(entry.value)) {
        out.kind = ParamType::Kind::Constexpr;
        out.constant = *type;
        return out;
      }
      ParamType asType;
      if (isDottedName(entry.value) && readParamType(entry.value, asType)) {
        out.kind = ParamType::Kind::Constexpr;
        out.constant = ConstName{std::string(entry.value)};
        return out;
      }
      return constexprMismatch(param, entry);
    }
    if (std::optional<Diagnostic> error = readParamType(entry.value, out)) {
      return pointAt(*error, entry.begin, entry.end);
    }
    return out;
  }

  Diagnostic constexprMismatch(const Param &param, const SignatureEntry &entry) const {
    ParamType asType;
    bool isType = !readParamType(entry.value, asType);
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
  std::vector<std::optional<SignatureEntry>> given;
  KernelOptions options;
  bool hasNamed = false;
};

} // namespace

std::string Signature::text() const {
  std::string out;
  for (const ParamType &param : params) {
    out += (out.empty() ? "" : ",") + param.name + "=" + paramTypeText(param);
  }
  KernelOptions named = options; // that a signature can name beside the parameters
  for (const KernelOption &option : kernelOptions()) {
    if (std::any_of(params.begin(), params.end(),
                    [&](const ParamType &param) { return param.name == option.name; })) {
      named.*option.field = std::nullopt;
    }
  }
  const std::string given = named.text();
  return out + (out.empty() && !given.empty() ? given.substr(1) : given);
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
  Signature signature{{}, options};
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
