// SPDX-License-Identifier: Apache-2.0
// `<op>_accuracy.cpp`: kernel and baseline on every case, type and layout, judged by the
// definition's reference and bounds.
#include "lib/generator/TestProgram.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// "{unfused}", or the parts of the tuple that the baseline returns.
std::string unfusedResults(const CalledOperator &called) {
  const size_t count = called.op.outputs.size();
  std::string list = count == 1 ? "unfused" : "";
  for (size_t i = 0; count > 1 && i < count; ++i) {
    list += (i ? ", " : "") + fmt::format("std::get<{}>(unfused)", i);
  }
  return "{" + list + "}";
}

} // namespace

std::string writeAccuracy(const Generation &generation) {
  const CalledOperator &called = generation.called();
  TestProgram program(generation, true);
  bool isFloating = std::all_of(called.op.dtypes.begin(), called.op.dtypes.end(),
                                [](DType type) { return isFloat(type); });
  std::string special = fmt::format(R"(  const int64_t count = in.{0}.elementCount();
  if (kind == Kind::Special && count > 2) {{
    // One of each, in different places of the tensor.
    in.{0}.set(1, -0.0);
    in.{0}.set(0, INFINITY);
    in.{0}.set(count / 2, -INFINITY);
    in.{0}.set(count - 1, NAN);
  }}
)",
                                    program.widestInput());
  return program.beginning() +
         fmt::format(
             R"(enum class Kind {{ Plain, Strided, Special }};

const char *text(Kind kind) {{
  return kind == Kind::Plain ? "plain" : kind == Kind::Strided ? "strided" : "inf and nan";
}}

bool check(const Case &one, size_t type, Kind kind) {{
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, kind == Kind::Strided);
{special}  const Outputs results = {made};
  // What is not written must not look like the NaN that belongs there.
  kind == Kind::Special ? results.fill(7) : results.poison();
{launch}  const std::string title = std::string(one.name) + ", " + nereid::name(dtype) + ", " + text(kind);
  bool passed = true;
{judge}{baseline}{judgeBaseline}  passed &= agrees(title + ", baseline", other);
  return passed;
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
             fmt::arg("made", program.madeOutputs()),
             fmt::arg("special", isFloating ? special : ""),
             fmt::arg("launch", program.call("  triton::Launch(", ").run();\n", true)),
             fmt::arg("judge", packed("  passed &= agrees(title, definition().verify(",
                                      {program.inputs(), program.outputs()}, "));\n")),
             fmt::arg("baseline",
                      program.call("  const auto unfused = baseline::" + called.op.name + "(",
                                   ");\n", false)),
             fmt::arg("judgeBaseline",
                      packed("  const nereid::Verdict other = definition().verify(",
                             {program.inputs(), unfusedResults(called),
                              "nereid::Rounding::EachOperation"},
                             ");\n")),
             fmt::arg("kinds", isFloating ? "Kind::Plain, Kind::Strided, Kind::Special"
                                          : "Kind::Plain, Kind::Strided"),
             fmt::arg("op", called.op.name));
}

} // namespace nereid::generator
