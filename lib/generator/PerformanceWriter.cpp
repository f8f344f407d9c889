// SPDX-License-Identifier: Apache-2.0
// `<op>_performance.cpp`: accuracy on the very tensors that are timed, then kernel and baseline in
// turns.
#include "lib/generator/TestProgram.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

class PerformanceWriter {
public:
  explicit PerformanceWriter(const Generation &generation)
      : program(generation, false), called(generation.called()) {}

  std::string run() {
    text = program.beginning();
    judge();
    measure();
    verdict();
    mainFunction();
    return text;
  }

private:
  void judge() {
    text += "bool isCorrect(const Case &one, const Inputs &in, const Outputs &results) {\n";
    text += packed("  return agrees(one.name, definition().verify(",
                   {program.inputs(), program.outputs()}, "));\n");
    text += "}\n\n";
  }

  void measure() {
    text +=
        R"(/// What the cases come to, counted as `nereid develop` does: noisy ones decide nothing.
struct Overall {
  int cases = 0, counted = 0, wrong = 0;
  double logarithms = 0; // of the speed-ups that count
};

/// Accuracy on these very tensors first; then both versions alternately in one run; then the
/// result of one more launch. False when a result is wrong.
bool measure(const Case &one, size_t type, Overall &overall) {
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, false, 0);
  const Outputs results = )" +
        program.madeOutputs() + R"(;
)";
    text += program.call("  const triton::Launch launch(", ");\n", true);
    text += R"(  results.poison();
  launch.run();
  if (!isCorrect(one, in, results)) {
    std::printf("%-32s %-9s not timed: the result is wrong\n", one.name, nereid::name(dtype));
    return false;
  }
  nereid::TimeOptions options;
  options.beforeSample = [&] { results.poison(); };
)";
    std::string body = fmt::format("(void)baseline::{}(", called.op.name);
    std::string unfused = program.call("  const auto unfused = [&] { " + body, "); };\n", false);
    if (unfused.find('\n') + 1 < unfused.size()) {
      unfused = "  const auto unfused = [&] {\n" + program.call("    " + body, ");\n  };\n", false);
    }
    text += unfused;
    text += R"(  const auto fused = [&] { launch.run(); };
  const nereid::PairTiming timing = nereid::timePair(unfused, fused, options);
  std::printf("%-32s %-9s %12.1f %12.1f %8.2fx %9.2f  p=%.3g%s\n", one.name, nereid::name(dtype),
              timing.first.medianNanos / 1000, timing.second.medianNanos / 1000, timing.speedup,
              one.bytes[type] / timing.second.medianNanos, timing.pValue,
              timing.isNoisy ? "  noisy" : "");
  std::fflush(stdout);
  if (!timing.isNoisy && std::min(timing.first.samples, timing.second.samples) >= 20) {
    ++overall.counted;
    overall.logarithms += std::log(timing.speedup);
  }
  results.poison();
  launch.run();
  return isCorrect(one, in, results);
}

)";
  }

  void verdict() {
    text += fmt::format(R"(/// All of it in one line, as `nereid develop` ends.
void printVerdict(const Overall &overall) {{
  const double target = {};
  const double speedup = overall.counted > 0 ? std::exp(overall.logarithms / overall.counted) : 0;
  std::string told = "speed-up over the unfused baseline ";
  if (overall.wrong > 0) {{
    told = std::to_string(overall.wrong) + " of " + std::to_string(overall.cases);
    told += " cases are wrong";
  }} else if (overall.counted == 0) {{
    told += "not told, no case was measured steadily enough";
  }} else {{
    char number[32];
    std::snprintf(number, sizeof number, "%.2fx", speedup);
    told += number + std::string(", the geometric mean of ") + std::to_string(overall.counted) +
            " of " + std::to_string(overall.cases) + " cases";
  }}
  const bool isReached = overall.wrong == 0 && overall.counted > 0 && speedup >= target;
  std::printf("%s: %s; the target is %.2fx\n", isReached ? "PASSED" : "NOT PASSED", told.c_str(),
              target);
}}

}} // namespace

)",
                        cppNumber(called.op.targetSpeedup));
  }

  void mainFunction() {
    text +=
        R"(/// Times the first type; with the argument "all" every type. A target that is missed is no
/// failure, a wrong result is.
int main(int count, char **arguments) {
  const bool isAll = count > 1 && std::string(arguments[1]) == "all";
  std::printf("%-32s %-9s %12s %12s %9s %9s\n", "case", "type", "baseline us", "kernel us",
              "speed-up", "GB/s");
  Overall overall;
  for (const Case &one : cases) {
    for (size_t type = 0; type < (isAll ? types.size() : 1); ++type) {
      ++overall.cases;
      try {
        overall.wrong += measure(one, type, overall) ? 0 : 1;
      } catch (const nereid::Error &problem) {
        if (problem.status() != NEREID_ERROR_MEMORY) {
          std::fprintf(stderr, "%s\n", problem.what());
          return 2;
        }
        std::printf("%-32s %-9s skipped: not enough memory\n", one.name, nereid::name(types[type]));
      } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 2;
      }
    }
  }
  printVerdict(overall);
  return overall.wrong == 0 ? 0 : 1;
}
)";
  }

  TestProgram program;
  const CalledOperator &called;
  std::string text;
};

} // namespace

std::string writePerformance(const Generation &generation) {
  return PerformanceWriter(generation).run();
}

} // namespace nereid::generator
