// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/KernelTypes.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Floats below 32 bits are computed in float32.
DType computed(DType type) { return isFloat(type) && type != DType::F64 ? DType::F32 : type; }

/// What a value's type is for one of the operator's, which computes in nothing wider.
DType seen(DType type, DType own) {
  bool isNarrowed = type == DType::F64 && own != DType::F64;
  return isNarrowed ? DType::F32 : computed(type);
}

DType floating(DType own) { return isFloat(own) ? computed(own) : DType::F32; }
DType total(DType own) { return isFloat(own) ? computed(own) : DType::I64; }

kernel::Expr endOf(DType type, bool isLowest) {
  return kernel::integer(isLowest ? std::to_string(definition::lowestInteger(type))
                                  : std::to_string(definition::highestInteger(type)));
}

std::string spelt(DType type) {
  static const std::map<DType, std::string> names = {
      {DType::Bool, "int1"},    {DType::U8, "uint8"},   {DType::U16, "uint16"},
      {DType::U32, "uint32"},   {DType::U64, "uint64"}, {DType::F16, "float16"},
      {DType::BF16, "bfloat16"}};
  auto found = names.find(type);
  return "tl." + (found == names.end() ? std::string(torchName(type)) : found->second);
}

} // namespace

bool areAllFloat(const std::vector<DType> &types) {
  return std::all_of(types.begin(), types.end(), [](DType type) { return isFloat(type); });
}

bool areAllInteger(const std::vector<DType> &types) {
  return std::none_of(types.begin(), types.end(), [](DType type) { return isFloat(type); });
}

bool areAllBool(const std::vector<DType> &types) {
  return std::all_of(types.begin(), types.end(), [](DType type) { return type == DType::Bool; });
}

KernelTypes::KernelTypes(const definition::Operator &op) : own(op.dtypes) {}

std::string KernelTypes::name(const std::vector<DType> &types) const {
  auto follows = [&](DType (*rule)(DType)) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (seen(types[i], own[i]) != rule(own[i])) {
        return false;
      }
    }
    return true;
  };
  bool isOne = !own.empty();
  for (size_t i = 0; i < own.size(); ++i) {
    isOne = isOne && seen(types[i], own[i]) == seen(types[0], own[0]);
  }
  return isOne               ? spelt(seen(types[0], own[0]))
         : follows(computed) ? "compute"
         : follows(floating) ? "floating"
         : follows(total)    ? "total"
                             : "";
}

bool KernelTypes::hasConstants(const std::set<std::string> &names) const {
  return std::any_of(names.begin(), names.end(), [](const std::string &name) {
    return name == "compute" || name == "floating" || name == "total" || name == "lowest" ||
           name == "highest";
  });
}

void KernelTypes::define(const std::set<std::string> &names, kernel::Body &body) const {
  auto add = [&](const std::string &name, auto valueOf) {
    if (!names.contains(name)) {
      return;
    }
    std::vector<std::pair<kernel::Expr, kernel::Expr>> cases;
    for (DType type : own) {
      cases.emplace_back(kernel::name(spelt(type)), valueOf(type));
    }
    body.select(name, kernel::name("element"), std::move(cases));
  };
  add("compute", [](DType type) { return kernel::name(spelt(computed(type))); });
  add("floating", [](DType type) { return kernel::name(spelt(floating(type))); });
  add("total", [](DType type) { return kernel::name(spelt(total(type))); });
  add("lowest", [](DType type) { return endOf(type, true); });
  add("highest", [](DType type) { return endOf(type, false); });
}

kernel::Expr KernelTypes::end(const std::vector<DType> &types, bool isLowest) const {
  bool isOne = std::equal(types.begin() + 1, types.end(), types.begin());
  return isOne ? endOf(types.front(), isLowest) : kernel::name(isLowest ? "lowest" : "highest");
}

} // namespace nereid::generator
