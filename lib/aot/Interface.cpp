// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Interface.h"

#include "lib/aot/RangeOverlap.h"
#include "lib/aot/SpecificityOrder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace nereid::aot {
namespace {

using language::ParamType;
using language::Signature;
using Kind = ParamType::Kind;

/// Of the runtime's launcher, see runtime/aot/Entry.cpp.
constexpr size_t parameterLimit = 256;

bool isInteger(const language::ConstValue &value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<bool>(value);
}

int64_t integerOf(const language::ConstValue &value) {
  const bool *flag = std::get_if<bool>(&value);
  return flag ? *flag : std::get<int64_t>(value);
}

bool isNone(const language::ConstValue &value) {
  return std::holds_alternative<std::monostate>(value);
}

class Maker {
public:
  Maker(const std::vector<Signature> &signatures, const std::vector<std::string> &gridArguments,
        const std::vector<std::string> &chosen)
      : signatures(signatures), gridArguments(gridArguments), chosen(chosen) {
    for (const Signature &signature : signatures) {
      result.specializations.push_back(
          {.signature = signature.text(), .kernelSignature = signature.withoutRanges().text()});
      parameters.push_back(signature.flattened());
    }
  }

  Result<Interface> make() {
    for (const std::string &name : chosen) {
      if (!isParameter(name)) {
        return makeError("E0020", fmt::format("the kernel has no parameter '{}' to choose", name))
            .withHelp("--choose names a constant of the signatures");
      }
    }
    for (size_t i = 1; i < parameters.size(); ++i) {
      if (parameters[i].size() != parameters[0].size()) {
        return makeError("E0020", fmt::format("the specializations take {} and {} parameters: a "
                                              "tuple has another size",
                                              parameters[0].size(), parameters[i].size()))
            .withHelp("compile them into libraries of their own, with another --name each");
      }
    }
    for (size_t i = 0; i < parameters.front().size(); ++i) {
      if (Status added = addParameter(i); !added) {
        return added.error();
      }
    }
    for (const std::string &name : gridArguments) {
      if (!isCName(name) || isParameter(name)) {
        return makeError("E0023", fmt::format("'{}' cannot be the name of a grid argument", name))
            .withHelp("choose one that C allows and that the kernel does not have");
      }
      result.parameters.push_back(
          {.name = uniqueName(name), .kernelName = name, .remark = "for the grid only"});
    }
    if (result.parameters.size() > parameterLimit) {
      return makeError("E0020", fmt::format("the launcher has {} parameters, and {} are the most",
                                            result.parameters.size(), parameterLimit));
    }
    return order();
  }

private:
  const ParamType &param(size_t specialization, size_t index) const {
    return parameters[specialization][index];
  }

  Diagnostic disagree(size_t index, size_t other, const std::string &why) const {
    const std::string &name = param(0, index).name;
    return makeError("E0020",
                     fmt::format("the specializations disagree on parameter '{}': {}", name, why))
        .note("one is '" + result.specializations[0].signature + "'")
        .note("another is '" + result.specializations[other].signature + "'")
        .withHelp("compile them into libraries of their own, with another --name each");
  }

  Status addParameter(size_t index) {
    const ParamType *runtime = nullptr; // of the first specialization in which it is no constant
    bool isSameConstant = true;
    for (size_t i = 0; i < signatures.size(); ++i) {
      const ParamType &own = param(i, index);
      if (own.kind == Kind::Constexpr) {
        if (isInteger(own.constant)) {
          result.specializations[i].constants[own.name] = integerOf(own.constant);
        }
        isSameConstant &= param(0, index).kind == Kind::Constexpr &&
                          language::constantText(own.constant) ==
                              language::constantText(param(0, index).constant);
      } else {
        runtime = runtime ? runtime : &own;
        isSameConstant = false;
      }
    }
    if (isSameConstant) {
      return Done{};
    }
    if (std::find(chosen.begin(), chosen.end(), param(0, index).name) != chosen.end()) {
      return runtime ? chooseRuntime(index) : Status(Done{});
    }
    return runtime ? addRuntime(index, *runtime) : addConstants(index);
  }

  Diagnostic chooseRuntime(size_t index) const {
    return makeError("E0020", fmt::format("'{}' is to be chosen by the launcher, but it is no "
                                          "constant in every specialization",
                                          param(0, index).name))
        .withHelp("give it a number in every --signature, or leave out its --choose");
  }

  /// Different constants everywhere.
  Status addConstants(size_t index) {
    bool isAllBool = true, isAllInteger = true;
    for (size_t i = 0; i < signatures.size(); ++i) {
      const language::ConstValue &value = param(i, index).constant;
      isAllBool &= std::holds_alternative<bool>(value);
      isAllInteger &= isInteger(value);
      if (!isInteger(value) && !std::holds_alternative<double>(value)) {
        return disagree(index, i == 0 ? 1 : i,
                        fmt::format("a launcher cannot choose by the constant {}",
                                    language::constantText(value)));
      }
    }
    ParamType type;
    type.name = param(0, index).name;
    type.dtype = isAllBool ? DType::Bool : isAllInteger ? DType::I64 : DType::F64;
    return addRuntime(index, type);
  }

  Status addRuntime(size_t index, const ParamType &type) {
    const auto slot = static_cast<int64_t>(result.parameters.size());
    bool isNoneSomewhere = false;
    for (size_t i = 0; i < signatures.size(); ++i) {
      const ParamType &own = param(i, index);
      isNoneSomewhere |= own.kind == Kind::Constexpr && isNone(own.constant);
    }
    for (size_t i = 0; i < signatures.size(); ++i) {
      const ParamType &own = param(i, index);
      SpecializationPlan &plan = result.specializations[i];
      if (own.kind == Kind::Constexpr) {
        if (Status added = addEquality(index, i, type, slot); !added) {
          return added.error();
        }
        continue;
      }
      if (own.kind != type.kind || own.dtype != type.dtype || own.blockShape != type.blockShape) {
        return disagree(index, i, "it has another type");
      }
      const bool isPointer = own.kind != Kind::Scalar;
      if (isNoneSomewhere && isPointer) {
        plan.conditions.push_back({ConditionKind::IsPresent, slot, 0});
      }
      if (own.divisibility > 1) {
        plan.conditions.push_back(
            {isPointer ? ConditionKind::AddressDivisible : ConditionKind::ValueDivisible, slot,
             own.divisibility});
      }
      if (own.range.least) {
        plan.conditions.push_back({ConditionKind::AtLeast, slot, *own.range.least});
      }
      if (own.range.most) {
        plan.conditions.push_back({ConditionKind::AtMost, slot, *own.range.most});
      }
      const size_t parts = own.kind == Kind::Descriptor ? 2 * own.blockShape.size() : 1;
      for (size_t part = 0; part < parts; ++part) {
        plan.slots.push_back(slot + static_cast<int64_t>(part));
      }
    }
    addC(type, isNoneSomewhere);
    return Done{};
  }

  Status addEquality(size_t index, size_t specialization, const ParamType &type, int64_t slot) {
    const language::ConstValue &value = param(specialization, index).constant;
    std::vector<Condition> &conditions = result.specializations[specialization].conditions;
    if (type.kind == Kind::Pointer && isNone(value)) {
      conditions.push_back({ConditionKind::IsNull, slot, 0});
      return Done{};
    }
    const bool isNumber = isInteger(value) || std::holds_alternative<double>(value);
    if (type.kind != Kind::Scalar || !isNumber || (!isFloat(type.dtype) && !isInteger(value))) {
      return disagree(index, specialization,
                      fmt::format("a launcher cannot choose between {} and a value at run time",
                                  language::constantText(value)));
    }
    int64_t bits = 0;
    if (isFloat(type.dtype)) {
      const double real =
          isInteger(value) ? static_cast<double>(integerOf(value)) : std::get<double>(value);
      bits = type.dtype == DType::F64
                 ? std::bit_cast<int64_t>(real)
                 : static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(real)));
    } else {
      bits = integerOf(value);
    }
    conditions.push_back({ConditionKind::Equal, slot, bits});
    return Done{};
  }

  void addC(const ParamType &type, bool mayBeNull) {
    const bool isPointer = type.kind != Kind::Scalar;
    CParameter parameter{.name = uniqueName(type.name),
                         .kernelName = type.name,
                         .kind = isPointer             ? ParameterKind::Pointer
                                 : isFloat(type.dtype) ? ParameterKind::Float
                                                       : ParameterKind::Integer,
                         .dtype = type.dtype};
    if (isPointer) {
      parameter.remark =
          fmt::format("elements of type {}{}", torchName(type.dtype), mayBeNull ? ", or NULL" : "");
    }
    result.parameters.push_back(parameter);
    if (type.kind != Kind::Descriptor) {
      return;
    }
    const size_t rank = type.blockShape.size();
    result.parameters.back().remark =
        fmt::format("a tensor of {} dimensions, elements of type {}, accessed in blocks of "
                    "{}; its last stride is 1",
                    rank, torchName(type.dtype), fmt::join(type.blockShape, "x"));
    for (size_t part = 0; part + 1 < 2 * rank; ++part) {
      const bool isSize = part < rank;
      const std::string suffix =
          fmt::format("{}{}", isSize ? "size" : "stride", isSize ? part : part - rank);
      result.parameters.push_back(
          {.name = uniqueName(parameter.name + "_" + suffix),
           .kernelName = type.name + "." + suffix,
           .remark =
               isSize ? ""
                      : fmt::format("elements from one to the next of dimension {}", part - rank)});
    }
  }

  bool isParameter(const std::string &name) const {
    const auto &params = parameters.front();
    return std::any_of(params.begin(), params.end(),
                       [&](const ParamType &param) { return param.name == name; });
  }

  std::string uniqueName(std::string name) {
    std::replace(name.begin(), name.end(), '[', '_'); // an element of a tuple: x[0] is x_0
    std::erase(name, ']');
    while (!isCName(name) || !used.insert(name).second) {
      name += "_";
    }
    return name;
  }

  /// The more specific ones first; refuses one that another always stands in for.
  Result<Interface> order() {
    std::vector<SpecializationPlan> &plans = result.specializations;
    const std::vector<size_t> sorted = specificityOrder(plans.size(), [&](size_t a, size_t b) {
      return implies(plans[a].conditions, plans[b].conditions);
    });
    std::vector<SpecializationPlan> ordered;
    for (size_t next : sorted) {
      for (const SpecializationPlan &earlier : ordered) {
        if (implies(plans[next].conditions, earlier.conditions)) {
          return makeError("E0020", fmt::format("the specialization '{}' would never run: '{}' "
                                                "fits whenever it does",
                                                plans[next].signature, earlier.signature))
              .withHelp("remove one of the two, or give it a stronger promise such as ':16'");
        }
      }
      ordered.push_back(plans[next]);
    }
    plans = std::move(ordered);
    if (std::optional<Diagnostic> error = findOverlap(result)) {
      return *error;
    }
    return std::move(result);
  }

  const std::vector<Signature> &signatures;
  std::vector<std::vector<ParamType>> parameters; ///< of each signature, tuples taken apart
  const std::vector<std::string> &gridArguments;
  const std::vector<std::string> &chosen;
  Interface result;
  std::set<std::string> used;
};

bool impliesOne(const Condition &strict, const Condition &loose) {
  if (strict.slot != loose.slot) {
    return false;
  }
  if (strict.kind == loose.kind) {
    const bool isDivisor = strict.kind == ConditionKind::AddressDivisible ||
                           strict.kind == ConditionKind::ValueDivisible;
    return isDivisor                               ? strict.value % loose.value == 0
           : strict.kind == ConditionKind::AtLeast ? strict.value >= loose.value
           : strict.kind == ConditionKind::AtMost  ? strict.value <= loose.value
                                                   : strict.value == loose.value;
  }
  if (strict.kind != ConditionKind::Equal) {
    return false;
  }
  return (loose.kind == ConditionKind::ValueDivisible && strict.value % loose.value == 0) ||
         (loose.kind == ConditionKind::AtLeast && strict.value >= loose.value) ||
         (loose.kind == ConditionKind::AtMost && strict.value <= loose.value);
}

} // namespace

static std::string typeName(DType dtype, bool isPointer) {
  switch (dtype) {
  case DType::Bool:
    return isPointer ? "uint8_t" : "bool";
  case DType::F16:
  case DType::BF16: // bits in memory; a number as an argument
    return isPointer ? "uint16_t" : "float";
  case DType::F32:
    return "float";
  case DType::F64:
    return "double";
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return fmt::format("int{}_t", 8 * sizeInBytes(dtype));
  default: // unsigned integers and the bits of 8-bit floats
    return fmt::format("uint{}_t", 8 * sizeInBytes(dtype));
  }
}

std::string CParameter::type() const {
  const bool isPointer = kind == ParameterKind::Pointer;
  return (isPointer && !isWritten ? "const " : "") + typeName(dtype, isPointer) +
         (isPointer ? " *" : " ");
}

Result<Interface> makeInterface(const std::vector<Signature> &signatures,
                                const std::vector<std::string> &gridArguments,
                                const std::vector<std::string> &chosen) {
  return Maker(signatures, gridArguments, chosen).make();
}

std::string conditionText(const Interface &interface, const Condition &condition) {
  const CParameter &parameter = interface.parameters[static_cast<size_t>(condition.slot)];
  switch (condition.kind) {
  case ConditionKind::AddressDivisible:
    return fmt::format("the address of {} is divisible by {}", parameter.name, condition.value);
  case ConditionKind::ValueDivisible:
    return fmt::format("{} is divisible by {}", parameter.name, condition.value);
  case ConditionKind::IsNull:
    return parameter.name + " is NULL";
  case ConditionKind::IsPresent:
    return parameter.name + " is not NULL";
  case ConditionKind::AtLeast:
    return fmt::format("{} is at least {}", parameter.name, condition.value);
  case ConditionKind::AtMost:
    return fmt::format("{} is at most {}", parameter.name, condition.value);
  case ConditionKind::Equal:
    break;
  }
  if (parameter.kind == ParameterKind::Integer) {
    return fmt::format("{} is {}", parameter.name, condition.value);
  }
  return parameter.dtype == DType::F64
             ? fmt::format("{} is {}", parameter.name, std::bit_cast<double>(condition.value))
             : fmt::format("{} is {}", parameter.name,
                           std::bit_cast<float>(static_cast<uint32_t>(condition.value)));
}

bool implies(const std::vector<Condition> &strict, const std::vector<Condition> &loose) {
  return std::all_of(loose.begin(), loose.end(), [&](const Condition &wanted) {
    return std::any_of(strict.begin(), strict.end(),
                       [&](const Condition &given) { return impliesOne(given, wanted); });
  });
}

bool isCName(std::string_view name) {
  static const std::set<std::string_view> keywords = {
      "alignas",     "alignof",      "and",
      "and_eq",      "asm",          "auto",
      "bitand",      "bitor",        "bool",
      "break",       "case",         "catch",
      "char",        "class",        "compl",
      "concept",     "const",        "constexpr",
      "continue",    "decltype",     "default",
      "delete",      "do",           "double",
      "else",        "enum",         "explicit",
      "export",      "extern",       "false",
      "float",       "for",          "friend",
      "goto",        "if",           "inline",
      "int",         "long",         "mutable",
      "namespace",   "new",          "noexcept",
      "not",         "not_eq",       "nullptr",
      "operator",    "or",           "or_eq",
      "private",     "protected",    "public",
      "register",    "requires",     "restrict",
      "return",      "short",        "signed",
      "sizeof",      "static",       "static_assert",
      "struct",      "switch",       "template",
      "this",        "throw",        "true",
      "try",         "typedef",      "typeid",
      "typename",    "union",        "unsigned",
      "using",       "virtual",      "void",
      "volatile",    "wchar_t",      "while",
      "xor",         "xor_eq",       "options",
      "selection",   "stream",       "grid_x",
      "grid_y",      "grid_z",       "thread_local",
      "char8_t",     "char16_t",     "char32_t",
      "co_await",    "co_return",    "co_yield",
      "consteval",   "constinit",    "const_cast",
      "static_cast", "dynamic_cast", "reinterpret_cast"};
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || keywords.count(name)) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

} // namespace nereid::aot
