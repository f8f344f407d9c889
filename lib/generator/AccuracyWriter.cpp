// SPDX-License-Identifier: Apache-2.0
// `<op>_accuracy.cpp`: the kernel against the baseline in float64 on every case, type and layout.
#include "lib/generator/TestProgram.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

std::string writeAccuracy(const Generation &generation) {
  const FusedOperator &fused = generation.fused;
  TestProgram program(fused, true);
  bool isFloating = std::all_of(fused.op.dtypes.begin(), fused.op.dtypes.end(),
                                [](DType type) { return isFloat(type); });
  std::string special = fmt::format(R"(  const int64_t count = in.{0}.elementCount();
  if (kind == Kind::Special && count > 2) {{
    // One of each, in different places of the tensor.
    in.{0}.set(0, INFINITY);
    in.{0}.set(count / 2, -INFINITY);
    in.{0}.set(count - 1, NAN);
  }}
)",
                                    program.widestInput());
  auto whole = [](const Operand &operand) {
    return (operand.isOutput ? "results." : "in.") + operand.name;
  };
  std::string baseline = fmt::format("  const auto expected = baseline::{}(", fused.op.name);
  return program.beginning() +
         fmt::format(
             R"(enum class Kind {{ Plain, Strided, Special }};

const char *text(Kind kind) {{
  return kind == Kind::Plain ? "plain" : kind == Kind::Strided ? "strided" : "inf and nan";
}}

bool check(const Case &one, size_t type, Kind kind) {{
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, kind == Kind::Strided);
{special}  const Outputs results = makeOutputs(one, dtype);
  results.poison();
{launch}{reference}  const Tolerance tolerance = one.tolerances[type];
  const std::string title =
      std::string(one.name) + ", " + nereid::name(dtype) + ", " + text(kind) + ":";
  bool passed = true;
{compare}  return passed;
}}

}} // namespace

int main() {{
  int checked = 0, failed = 0;
  try {{
    for (const Case &one : cases) {{
      for (size_t type = 0; type < types.size(); ++type) {{
        for (Kind kind : {{{kinds}}}) {{
          ++checked;
          failed += check(one, type, kind) ? 0 : 1;
        }}
      }}
    }}
  }} catch (const std::exception &problem) {{
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  }}
  std::printf("{op}: %d of %d checks passed\n", checked - failed, checked);
  return failed == 0 ? 0 : 1;
}}
)",
             fmt::arg("special", isFloating ? special : ""),
             fmt::arg("launch", program.call("  triton::Launch(", ").run();\n", true)),
             fmt::arg("reference", packed(baseline, program.referenceArguments(whole), ");\n")),
             fmt::arg("compare", program.compareOutputs("  ", whole)),
             fmt::arg("kinds", isFloating ? "Kind::Plain, Kind::Strided, Kind::Special"
                                          : "Kind::Plain, Kind::Strided"),
             fmt::arg("op", fused.op.name));
}

} // namespace nereid::generator
