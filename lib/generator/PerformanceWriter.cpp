// SPDX-License-Identifier: Apache-2.0
// `<op>_performance.cpp`: accuracy on the very tensors that are timed, then kernel and baseline in
// turns. The float64 reference is made for some rows at a time, so that large cases need little
// memory besides their tensors.
#include "lib/generator/TestProgram.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace nereid::generator {
namespace {

using definition::Dim;

/// How often a dimension appears in an operand.
ptrdiff_t appearances(const Operand &operand, const Dim &dim) {
  return std::count(operand.shape.begin(), operand.shape.end(), dim);
}

/// Along it the operator may be cut into parts: nothing is reduced over it, every output has it.
bool isCuttable(const FusedOperator &fused, const Dim &dim) {
  const auto &columns = fused.columns.dims;
  bool isReduced =
      fused.hasReduction && std::find(columns.begin(), columns.end(), dim) != columns.end();
  return !dim.symbol.empty() && !isReduced &&
         std::all_of(fused.operands.begin(), fused.operands.end(), [&](const Operand &operand) {
           ptrdiff_t count = appearances(operand, dim);
           return count == 1 || (count == 0 && !operand.isOutput);
         });
}

/// The leading dimensions together, else the symbol that is largest in one of the cases.
std::optional<Dim> cutDimension(const FusedOperator &fused) {
  std::optional<Dim> best;
  int64_t largest = 0;
  for (const Operand &operand : fused.operands) {
    for (const Dim &dim : operand.shape) {
      if (!isCuttable(fused, dim)) {
        continue;
      }
      if (dim.isRest()) {
        return dim;
      }
      for (const definition::Case &one : fused.op.performanceCases) {
        auto found = one.binding.symbols.find(dim.symbol);
        if (found != one.binding.symbols.end() && found->second > largest) {
          largest = found->second;
          best = dim;
        }
      }
    }
  }
  return best;
}

constexpr const char *leadingRows = R"(
/// Part of a contiguous tensor; what stands before its last `inner` dimensions counts as one.
nereid::Tensor part(const nereid::Tensor &tensor, size_t inner, int64_t begin, int64_t count) {
  const Sizes whole = tensor.shape();
  const Sizes row(whole.end() - static_cast<std::ptrdiff_t>(inner), whole.end());
  return tensor.view(begin * product(row), joined({count}, row));
}
)";

constexpr const char *oneDimension = R"(
/// Part of a tensor along dimension `along`.
nereid::Tensor part(const nereid::Tensor &tensor, size_t along, int64_t begin, int64_t count) {
  const Sizes strides = tensor.strides();
  Sizes shape = tensor.shape();
  shape[along] = count;
  return tensor.view(begin * strides[along], shape, strides);
}
)";

class PerformanceWriter {
public:
  explicit PerformanceWriter(const FusedOperator &fused)
      : program(fused, false), fused(fused), cut(cutDimension(fused)) {}

  std::string run() {
    text = program.beginning();
    if (cut) {
      text.pop_back();
      text += cut->isRest() ? leadingRows : oneDimension;
      text += "\n";
    }
    judge();
    measure();
    mainFunction();
    return text;
  }

private:
  std::string narrowed(const Operand &operand) const {
    std::string whole = (operand.isOutput ? "results." : "in.") + operand.name;
    if (!cut || appearances(operand, *cut) == 0) {
      return whole;
    }
    auto at = std::find(operand.shape.begin(), operand.shape.end(), *cut) - operand.shape.begin();
    size_t number = cut->isRest() ? operand.shape.size() - 1 : static_cast<size_t>(at);
    return fmt::format("part({}, {}, begin, count)", whole, number);
  }

  std::string firstOutput() const {
    auto found = std::find_if(fused.operands.begin(), fused.operands.end(),
                              [](const Operand &operand) { return operand.isOutput; });
    return "results." + found->name;
  }

  void judge() {
    auto source = [this](const Operand &operand) { return narrowed(operand); };
    std::string head = fmt::format("const auto expected = baseline::{}(", fused.op.name);
    std::vector<std::string> arguments = program.referenceArguments(source);
    text += "/// Against the baseline in float64";
    text += cut ? ", some rows at a time to save memory.\n" : ".\n";
    text +=
        R"(bool isCorrect(const Case &one, size_t type, const Inputs &in, const Outputs &results) {
  const Tolerance tolerance = one.tolerances[type];
  bool passed = true;
)";
    if (!cut) {
      text += "  const std::string title = std::string(one.name) + \":\";\n";
      text += packed("  " + head, arguments, ");\n") + program.compareOutputs("  ", source);
    } else {
      std::string variable = "one." + program.names.variable(*cut);
      text += fmt::format(R"(  const int64_t rows = {};
  const int64_t rowElements = {}.elementCount() / std::max<int64_t>(rows, 1);
  const int64_t step = std::max<int64_t>((1 << 21) / std::max<int64_t>(rowElements, 1), 1);
  for (int64_t begin = 0; begin < rows && passed; begin += step) {{
    const int64_t count = std::min(step, rows - begin);
    const std::string title = std::string(one.name) + " from row " + std::to_string(begin) + ":";
)",
                          cut->isRest() ? "product(" + variable + ")" : variable, firstOutput());
      text += packed("    " + head, arguments, ");\n") + program.compareOutputs("    ", source);
      text += "  }\n";
    }
    text += "  return passed;\n}\n\n";
  }

  void measure() {
    text +=
        R"(/// Accuracy on these very tensors first; then both versions alternately in one run; then the
/// result of one more launch.
bool measure(const Case &one, size_t type) {
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, false);
  const Outputs results = makeOutputs(one, dtype);
)";
    text += program.call("  const triton::Launch launch(", ");\n", true);
    text += R"(  results.poison();
  launch.run();
  if (!isCorrect(one, type, in, results)) {
    std::printf("%-32s %-9s not timed: the result is wrong\n", one.name, nereid::name(dtype));
    return false;
  }
  nereid::TimeOptions options;
  options.beforeSample = [&] { results.poison(); };
)";
    std::string body = fmt::format("(void)baseline::{}(", fused.op.name);
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
  results.poison();
  launch.run();
  return isCorrect(one, type, in, results);
}

} // namespace

)";
  }

  void mainFunction() {
    text += R"(/// Times the first type; with the argument "all" every type.
int main(int count, char **arguments) {
  const bool isAll = count > 1 && std::string(arguments[1]) == "all";
  std::printf("%-32s %-9s %12s %12s %9s %9s\n", "case", "type", "baseline us", "kernel us",
              "speed-up", "GB/s");
  bool passed = true;
  for (const Case &one : cases) {
    for (size_t type = 0; type < (isAll ? types.size() : 1); ++type) {
      try {
        passed &= measure(one, type);
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
  return passed ? 0 : 1;
}
)";
  }

  TestProgram program;
  const FusedOperator &fused;
  std::optional<Dim> cut;
  std::string text;
};

} // namespace

std::string writePerformance(const Generation &generation) {
  return PerformanceWriter(generation.fused).run();
}

} // namespace nereid::generator
