// SPDX-License-Identifier: Apache-2.0
// Reading and writing a parameter's type.
#include "lib/language/signature/ParamType.h"

#include "lib/language/signature/DescriptorType.h"
#include "lib/language/syntax/Characters.h"

#include <charconv>

namespace nereid::language {

static std::string listTypes() {
  std::string out;
  for (int i = 0; i < dtypeCount; ++i) {
    out += (i == 0 ? "" : ", ") + std::string(kernelName(static_cast<DType>(i)));
  }
  return out;
}

/// "*fp32:16", "i32": fills the type, or says what is wrong with it.
static std::optional<Diagnostic> readPlainType(std::string_view text, ParamType &out) {
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

std::optional<Diagnostic> readParamType(std::string_view text, ParamType &out) {
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

std::string paramTypeText(const ParamType &param) {
  std::string out;
  switch (param.kind) {
  case ParamType::Kind::Constexpr:
    return constantText(param.constant);
  case ParamType::Kind::Tuple:
    for (const ParamType &element : param.elements) {
      out += (out.empty() ? "" : ",") + paramTypeText(element);
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

} // namespace nereid::language
