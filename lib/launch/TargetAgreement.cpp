// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/TargetAgreement.h"

#include "lib/definition/Tolerance.h"
#include "lib/eager/Compare.h"
#include "lib/support/FirstError.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::launch {
namespace {

using runtime::Tensor;

/// Sums in another order, contracted products and approximated functions stay within it.
constexpr double unitsInTheLastPlace = 64;

definition::Tolerance toleranceOf(const KernelCase &one, const Tensor &interpreted) {
  if (one.tolerance) {
    return *one.tolerance;
  }
  double largest = 0;
  for (int64_t i = 0; i < interpreted.elementCount(); ++i) {
    const double value = std::fabs(interpreted.at(i));
    largest = std::isfinite(value) ? std::max(largest, value) : largest;
  }
  const double relative = unitsInTheLastPlace * 2 * definition::unitRoundoff(interpreted.dtype());
  return {relative, relative * largest, ""};
}

std::string integerText(const Tensor &tensor, int64_t i) {
  const uint64_t bits = runtime::loadInteger(tensor, i);
  return isUnsignedInteger(tensor.dtype()) ? std::to_string(bits)
                                           : std::to_string(static_cast<int64_t>(bits));
}

/// "" = they agree.
std::string difference(const KernelCase &one, const Tensor &compiled, const Tensor &interpreted) {
  if (!isFloat(interpreted.dtype())) {
    for (int64_t i = 0; i < interpreted.elementCount(); ++i) {
      if (runtime::loadInteger(compiled, i) != runtime::loadInteger(interpreted, i)) {
        return fmt::format("element {} expects {}, but got {}", i, integerText(interpreted, i),
                           integerText(compiled, i));
      }
    }
    return "";
  }
  const definition::Tolerance allowed = toleranceOf(one, interpreted);
  const eager::Comparison result =
      eager::compare(compiled, interpreted, allowed.relative, allowed.absolute);
  return result.passed() ? "" : result.text();
}

} // namespace

Result<std::vector<Diagnostic>> disagreements(const KernelCase &one, const Execution &execution,
                                              const KernelArguments &interpreted,
                                              Diagnostics &diags) {
  auto prepared = prepareCase(one, execution, diags);
  if (!prepared) {
    return prepared.error();
  }
  if (!prepared->launch(diags)) {
    return firstError(diags);
  }
  std::vector<Diagnostic> found;
  for (const auto &[name, tensor] : interpreted.tensors) {
    if (one.workspaces.contains(name)) {
      continue;
    }
    const std::string text = difference(one, prepared->arguments.tensors.at(name), tensor);
    if (!text.empty()) {
      found.push_back(
          makeError("E0812", fmt::format("'{}' on {} is not what the interpreter computes: {}",
                                         name, execution.target, text))
              .withHelp("look for sums of terms that cancel and for results that follow the order "
                        "of programs or threads; where there are none, the compiler is wrong: "
                        "report the kernel with these arguments"));
    }
  }
  return found;
}

} // namespace nereid::launch
