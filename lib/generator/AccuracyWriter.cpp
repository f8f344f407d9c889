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

/// Kernel and baseline on one kind of data; the shapes of the inputs, by name.
std::vector<std::pair<std::string, Sizes>> check(nereid::AccuracyProgram &program, const Case &one,
                                                 nereid::DType dtype, Kind kind) {{
  const Inputs in = makeInputs(one, dtype, kind == Kind::Strided, program.seed());
{special}  const Outputs results = {made};
  // What is not written must not look like the NaN that belongs there.
  kind == Kind::Special ? results.fill(7) : results.poison();
{launch}{judge}{baseline}{judgeBaseline}{shapes}}}

}} // namespace

/// [--verbose] [--seed N] [--json FILE]. Exit status: 0 all is right, 1 something is wrong, 2
/// nothing could be run.
int main(int count, char **arguments) {{
  nereid::AccuracyProgram program("{op}", count, arguments);
  return program.run([&] {{
    for (const Case &one : cases) {{
      for (nereid::DType dtype : types) {{
        program.begin(one.name, dtype);
        std::vector<std::pair<std::string, Sizes>> shapes;
        for (Kind kind : {{{kinds}}}) {{
          shapes = check(program, one, dtype, kind);
        }}
        program.end(shapes);
      }}
    }}
  }});
}}
)",
             fmt::arg("made", program.madeOutputs()),
             fmt::arg("special", isFloating ? special : ""),
             fmt::arg("launch", program.call("  triton::Launch(", ").run();\n", true)),
             fmt::arg("judge", packed("  const nereid::Verdict verdict = definition().verify(",
                                      {program.inputs(), program.outputs()}, ");\n") +
                                   "  program.add(text(kind), \"kernel\", verdict);\n"),
             fmt::arg("baseline",
                      program.call("  const auto unfused = baseline::" + called.op.name + "(",
                                   ");\n", false)),
             fmt::arg("judgeBaseline",
                      packed("  const nereid::Verdict other = definition().verify(",
                             {program.inputs(), unfusedResults(called),
                              "nereid::Rounding::EachOperation"},
                             ");\n") +
                          "  program.add(text(kind), \"baseline\", other);\n"),
             fmt::arg("shapes", packed("  return {", program.shapes(), "};\n")),
             fmt::arg("kinds", isFloating ? "Kind::Plain, Kind::Strided, Kind::Special"
                                          : "Kind::Plain, Kind::Strided"),
             fmt::arg("op", called.op.name));
}

} // namespace nereid::generator
