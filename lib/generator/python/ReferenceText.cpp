// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/ReferenceText.h"

#include "lib/generator/EagerText.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nereid::generator {
namespace {

struct ExactForm {
  std::string_view call;   ///< as it stands in a body
  std::string_view name;   ///< of the function that takes its place
  std::string_view source; ///< of that function
};

constexpr std::array<ExactForm, 5> exactForms = {{
    {"F.hardsigmoid", "_hardsigmoid", R"(def _hardsigmoid(input):
    """PyTorch has 1/6 as a number of float32 on GPUs."""
    return torch.clamp(input + 3, 0, 6) / 6
)"},
    {"F.hardswish", "_hardswish", R"(def _hardswish(input):
    """PyTorch has 1/6 as a number of float32 on GPUs."""
    return input * (torch.clamp(input + 3, 0, 6) / 6)
)"},
    {"torch.ops.aten.hardsigmoid_backward", "_hardsigmoid_backward",
     R"(def _hardsigmoid_backward(grad_output, self):
    """PyTorch has 1/6 as a number of float32 on GPUs."""
    return torch.where((self > -3) & (self < 3), grad_output / 6, 0)
)"},
    {"torch.i0", "_i0", R"(def _i0(input):
    """PyTorch has NaN for infinities, and an infinity where only exp(input) is one."""
    half = torch.exp(input.abs() / 2)
    return torch.where(input.isinf(), input.abs(), torch.special.i0e(input) * half * half)
)"},
    {"torch.polygamma", "_polygamma", R"(def _polygamma(n, input):
    """PyTorch's series for n = 1 ends too early for float64; beyond, it has NaN for infinity, and
    an infinity where poles lie without end."""
    if n == 1:
        is_left = input < 0.5
        right = torch.special.zeta(2.0, torch.where(is_left, 1 - input, input))
        sine = torch.sin(math.pi * (input - torch.round(input)))
        result = torch.where(is_left, (math.pi / sine) ** 2 - right, right)
    else:
        result = torch.polygamma(n, input)
    ends = torch.where(input > 0, 0.0 if n > 0 else math.inf, math.nan)
    return torch.where(input.isinf(), ends, result)
)"},
}};

/// PyTorch multiplies by 0 what it hands to a neighbour that counts nothing, and makes NaN of an
/// infinity there.
constexpr std::array<std::string_view, 3> zeroHanding = {
    "upsample_linear1d_backward", "upsample_bilinear2d_backward", "upsample_trilinear3d_backward"};

/// Every place of `from`, with another text there.
void replaceAll(std::string &line, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size()) {
    line.replace(at, from.size(), to);
  }
}

} // namespace

std::string castsInFloat64(std::string line) {
  static constexpr std::array<std::string_view, 5> rounded = {"float16", "half", "bfloat16",
                                                              "float8_e4m3fn", "float8_e5m2"};
  for (const char *argument : {"", "dtype="}) {
    for (const char *wide : {"float32", "float"}) {
      replaceAll(line, fmt::format(".to({}torch.{})", argument, wide), ".to(torch.float64)");
    }
    for (std::string_view name : rounded) {
      const std::string call = fmt::format(".to({}torch.{})", argument, name);
      replaceAll(line, call, call + ".to(torch.float64)");
    }
  }
  replaceAll(line, ".float()", ".double()");
  replaceAll(line, ".half()", ".half().double()");
  replaceAll(line, ".bfloat16()", ".bfloat16().double()");
  return line;
}

bool handsBackZeros(const CalledOperator &called) {
  const std::vector<std::string> lines = bodyLines(called.op);
  const std::string line = lines.size() == 1 ? lines.front() : "";
  return std::count(line.begin(), line.end(), '(') == 1 && // and nothing else
         std::any_of(zeroHanding.begin(), zeroHanding.end(), [&](std::string_view name) {
           return line.find(fmt::format("= torch.ops.aten.{}(", name)) != std::string::npos;
         });
}

std::string exactDefinition(const CalledOperator &called) {
  std::vector<std::string> lines = eagerBody(called);
  std::transform(lines.begin(), lines.end(), lines.begin(), castsInFloat64);
  std::string helpers;
  for (const ExactForm &form : exactForms) {
    bool isUsed = false;
    for (std::string &line : lines) {
      isUsed = replaceCall(line, form.call, form.name) || isUsed;
    }
    helpers += isUsed ? std::string(form.source) + "\n\n" : "";
  }
  if (helpers.empty()) {
    return "_exact_definition = _definition\n\n";
  }
  std::string text = helpers + fmt::format("def _exact_definition({}):\n", argumentNames(called));
  text += "    \"\"\"The same where PyTorch's own function is not exact in float64: for the "
          "kernel.\"\"\"\n";
  for (const std::string &line : lines) {
    text += "    " + line + "\n";
  }
  std::string results;
  for (const std::string &name : called.op.outputNames) {
    results += (results.empty() ? "" : ", ") + name;
  }
  return text + fmt::format("    return {}\n\n\n", results);
}

} // namespace nereid::generator
