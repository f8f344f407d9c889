// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/TargetOptions.h"

#include "lib/pipeline/Target.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace nereid::pipeline {
namespace {

Diagnostic unknownOption(const std::string &name, const Target &target) {
  std::vector<std::string> own, others;
  for (const language::KernelOption &option : language::kernelOptions()) {
    own.emplace_back(option.name);
  }
  for (const language::KernelOption &option : targetOptions(target.name())) {
    own.emplace_back(option.name);
  }
  for (const std::string &vendor : targetVendors()) {
    for (const language::KernelOption &option : targetOptions(vendor)) {
      if (option.name == name) {
        others.push_back(vendor);
      }
    }
  }
  Diagnostic error =
      makeError("E0306", "target '" + target.name() + "' has no option '" + name + "'")
          .note("its options are " + llvm::join(own, ", "));
  return error.withHelp(
      others.empty() ? "leave it out" : "leave it out, or compile for " + llvm::join(others, ", "));
}

} // namespace

Status checkTargetOptions(mlir::Operation *kernel, const Target &target) {
  auto given = kernel->getAttrOfType<mlir::DictionaryAttr>(tile::attribute::targetOptions);
  if (!given) {
    return Done{};
  }
  const auto known = targetOptions(target.name());
  for (mlir::NamedAttribute entry : given) {
    const std::string name = entry.getName().str();
    auto option =
        std::find_if(known.begin(), known.end(), [&](const auto &one) { return one.name == name; });
    if (option == known.end()) {
      return unknownOption(name, target);
    }
    language::KernelOptions ignored;
    const int64_t value = mlir::cast<mlir::IntegerAttr>(entry.getValue()).getInt();
    if (std::optional<Diagnostic> error = language::setOption(ignored, *option, value)) {
      return std::move(*error);
    }
  }
  return Done{};
}

} // namespace nereid::pipeline
