// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/CudaTypes.h"

#include "llvm/Demangle/Demangle.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace nereid::nvidia {
namespace {

using runtime::ArgumentInfo;
using runtime::ArgumentKind;

struct ElementType {
  const char *name;
  DType dtype;
};

/// As demangled names spell them; the first of a type is how it is declared.
constexpr ElementType elementTypes[] = {
    {"float", DType::F32},
    {"double", DType::F64},
    {"__half", DType::F16},
    {"__nv_bfloat16", DType::BF16},
    {"__nv_fp8_e4m3", DType::F8E4M3FN},
    {"__nv_fp8_e5m2", DType::F8E5M2},
    {"bool", DType::Bool},
    {"signed char", DType::I8},
    {"char", DType::I8},
    {"short", DType::I16},
    {"int", DType::I32},
    {"long long", DType::I64},
    {"long", DType::I64},
    {"unsigned char", DType::U8},
    {"unsigned short", DType::U16},
    {"unsigned int", DType::U32},
    {"unsigned long long", DType::U64},
    {"unsigned long", DType::U64},
};

std::optional<DType> dtypeNamed(std::string_view name) {
  const auto *found = std::find_if(std::begin(elementTypes), std::end(elementTypes),
                                   [&](const ElementType &type) { return name == type.name; });
  return found == std::end(elementTypes) ? std::nullopt : std::optional(found->dtype);
}

std::string nameOf(DType dtype) {
  const auto *found = std::find_if(std::begin(elementTypes), std::end(elementTypes),
                                   [&](const ElementType &type) { return dtype == type.dtype; });
  return found == std::end(elementTypes) ? "unsigned char" : found->name;
}

bool isUnsigned(DType dtype) {
  return dtype == DType::U8 || dtype == DType::U16 || dtype == DType::U32 || dtype == DType::U64;
}

bool eatEnd(std::string_view &text, std::string_view end) {
  const bool has = text.ends_with(end);
  text.remove_suffix(has ? end.size() : 0);
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return has;
}

/// Without what stands behind the type of a value: const, restrict.
std::string_view bare(std::string_view type) {
  while (eatEnd(type, "const") || eatEnd(type, "__restrict__") || eatEnd(type, "restrict") ||
         eatEnd(type, "__restrict") || eatEnd(type, "volatile")) {
  }
  return type;
}

/// "float const*" fits a tensor of float32.
bool takesPointer(std::string_view type, DType dtype) {
  type = bare(type);
  if (!eatEnd(type, "*")) {
    return false;
  }
  const auto element = dtypeNamed(bare(type));
  if (!element) {
    return true; // void, float4, a struct: the kernel's business
  }
  return *element == dtype ||
         (isUnsigned(*element) && sizeInBytes(*element) == sizeInBytes(dtype)) ||
         (isUnsigned(dtype) && !isFloat(*element) && sizeInBytes(*element) == sizeInBytes(dtype));
}

bool takesNumber(std::string_view type, const ArgumentInfo &argument) {
  const auto given = dtypeNamed(bare(type));
  if (!given) {
    return false;
  }
  return argument.kind == ArgumentKind::Float
             ? *given == argument.dtype
             : !isFloat(*given) && sizeInBytes(*given) == sizeInBytes(argument.dtype);
}

bool fitsType(std::string_view type, const ArgumentInfo &argument) {
  return argument.kind == ArgumentKind::Pointer ? takesPointer(type, argument.dtype)
                                                : takesNumber(type, argument);
}

/// Of PTX alone.
bool fitsParameter(const PtxParameter &parameter, const ArgumentInfo &argument) {
  using Kind = PtxParameter::Kind;
  if (argument.kind == ArgumentKind::Pointer) {
    return parameter.kind == Kind::Integer && parameter.bytes == 8;
  }
  const Kind kind = argument.kind == ArgumentKind::Float ? Kind::Float : Kind::Integer;
  return parameter.kind == kind && parameter.bytes == static_cast<int>(sizeInBytes(argument.dtype));
}

std::string textOf(const PtxParameter &parameter) {
  switch (parameter.kind) {
  case PtxParameter::Kind::Integer:
    return parameter.bytes == 8 ? "a pointer or an integer of 8 bytes"
                                : "an integer of " + std::to_string(parameter.bytes) + " bytes";
  case PtxParameter::Kind::Float:
    return "a floating-point number of " + std::to_string(parameter.bytes) + " bytes";
  case PtxParameter::Kind::Bytes:
    return "a value of " + std::to_string(parameter.bytes) + " bytes";
  }
  return "";
}

/// What stands between the commas of "(float const*, A<int, 3>, int)".
std::vector<std::string> splitTypes(std::string_view list) {
  std::vector<std::string> types;
  int depth = 0;
  for (const char letter : list.substr(1, list.size() - 2)) {
    depth += letter == '<' || letter == '(' ? 1 : letter == '>' || letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0) {
      types.emplace_back();
    } else {
      types.resize(std::max<size_t>(types.size(), 1));
      types.back() += letter == ' ' && types.back().empty() ? "" : std::string(1, letter);
    }
  }
  return types;
}

std::string take(char *text) {
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

} // namespace

CudaFunction describeEntry(PtxEntry entry) {
  CudaFunction function;
  function.name = function.text = entry.name;
  llvm::ItaniumPartialDemangler demangler;
  if (entry.name.starts_with("_Z") && !demangler.partialDemangle(entry.name.c_str()) &&
      demangler.isFunction()) {
    size_t bytes = 0;
    const std::string base = take(demangler.getFunctionBaseName(nullptr, &bytes));
    const std::string full = take(demangler.getFunctionName(nullptr, &bytes));
    const std::string list = take(demangler.getFunctionParameters(nullptr, &bytes));
    if (!base.empty() && list.size() >= 2) {
      function.name = base.substr(0, base.find('<'));
      function.text = full + list;
      function.types = splitTypes(list);
      // One "void" is no parameter; anything else that does not match PTX is not understood.
      if (function.types.size() != entry.parameters.size()) {
        function.types.clear();
      }
    }
  }
  function.entry = std::move(entry);
  return function;
}

std::string declarationOf(const ArgumentInfo &argument) {
  const std::string type = nameOf(argument.dtype);
  return argument.kind == ArgumentKind::Pointer ? type + " *" + argument.name
                                                : type + " " + argument.name;
}

std::string problemOfCall(const CudaFunction &function, std::span<const ArgumentInfo> arguments) {
  const std::vector<PtxParameter> &parameters = function.entry.parameters;
  if (parameters.size() != arguments.size()) {
    return "it expects " + std::to_string(parameters.size()) + " arguments, but the case gives " +
           std::to_string(arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &argument = arguments[i];
    const bool isTyped = !function.types.empty();
    const bool fits =
        argument.kind != ArgumentKind::Descriptor &&
        (isTyped ? fitsType(function.types[i], argument) : fitsParameter(parameters[i], argument));
    if (!fits) {
      return "its parameter " + std::to_string(i + 1) + " is " +
             (isTyped ? "'" + function.types[i] + "'" : textOf(parameters[i])) +
             ", but the case gives '" +
             (argument.kind == ArgumentKind::Descriptor ? "a descriptor of " + argument.name
                                                        : declarationOf(argument)) +
             "'";
    }
  }
  return "";
}

} // namespace nereid::nvidia
