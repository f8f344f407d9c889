// SPDX-License-Identifier: Apache-2.0
// `<op>_accuracy.cpp` and `<op>_performance.cpp`. Both are the definition's cases as a table, a
// function that makes the tensors of a case, and a loop over them.
#include "lib/generator/CompanionWriter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

using definition::Binding;
using definition::Case;

/// Parameters whose square root, logarithm or the like is taken get positive data.
std::set<int> positiveParameters(const FusedOperator &fused) {
  std::vector<bool> needsPositive(fused.nodes.size(), false);
  for (size_t i = fused.nodes.size(); i-- > 0;) {
    const FusedNode &node = fused.nodes[i];
    static const std::set<std::string> positiveOnly = {"sqrt", "rsqrt", "log", "log2", "pow",
                                                       "log1p"};
    bool passesOn = needsPositive[i] && (node.op == "add" || node.op == "mul" || node.op == "div");
    for (int input : node.inputs) {
      if (positiveOnly.contains(node.op) || passesOn) {
        needsPositive[static_cast<size_t>(input)] = true;
      }
    }
  }
  std::set<int> result;
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    if (fused.nodes[i].op == "input" && needsPositive[i]) {
      result.insert(fused.nodes[i].parameter);
    }
  }
  return result;
}

/// Odd sizes, one element, none: what every operator is checked on besides its own cases.
std::vector<Case> standardCases(const FusedOperator &fused) {
  std::vector<std::string> symbols;
  for (const Operand &operand : fused.operands) {
    for (const definition::Dim &dim : operand.shape) {
      bool isSymbol = !dim.symbol.empty() && !dim.isRest();
      if (isSymbol && std::find(symbols.begin(), symbols.end(), dim.symbol) == symbols.end()) {
        symbols.push_back(dim.symbol);
      }
    }
  }
  struct Sizes {
    const char *name;
    std::vector<int64_t> rest;
    int64_t others, last;
  };
  const Sizes list[] = {{"one element", {}, 1, 1},     {"nothing", {3}, 2, 0},
                        {"no rows", {0}, 1, 7},        {"3 columns", {5}, 3, 3},
                        {"17 columns", {3, 7}, 2, 17}, {"127 columns", {129}, 5, 127},
                        {"129 columns", {2, 3}, 3, 129}, {"1000 columns", {33}, 2, 1000},
                        {"5000 columns", {3}, 1, 5000}};
  std::vector<Case> cases;
  for (const Sizes &sizes : list) {
    Case made;
    made.name = sizes.name;
    made.binding.rest = sizes.rest;
    for (const std::string &symbol : symbols) {
      made.binding.symbols[symbol] = symbol == symbols.back() ? sizes.last : sizes.others;
    }
    cases.push_back(std::move(made));
  }
  return cases;
}

class ProgramWriter {
public:
  ProgramWriter(const FusedOperator &fused, bool isAccuracy)
      : fused(fused), names(fused), positive(positiveParameters(fused)), isAccuracy(isAccuracy) {}

  std::string run() {
    text = cppHead(fused, isAccuracy ? "checks the kernel against the baseline in float64."
                                     : "times the kernel against the baseline.");
    text += fmt::format("\n#include \"{}_kernel.hpp\"\n\n#include <cmath>\n#include <cstdio>\n"
                        "#include <exception>\n#include <string>\n#include <vector>\n\n"
                        "namespace baseline {{\n{} {}({});\n}}\n\nnamespace {{\n\n",
                        fused.op.name, cppResult(fused), fused.op.name,
                        cppParameters(fused, false));
    caseTable();
    inputs();
    text += isAccuracy ? accuracyBody() : performanceBody();
    return text;
  }

private:
  void line(const std::string &content) { text += "  " + content + "\n"; }

  std::string sizesInit(const Binding &binding) const {
    std::string list;
    for (const SizeNames::Step &step : names.steps) {
      std::string value = "0";
      if (step.isRest) {
        value = fmt::format("{{{}}}", fmt::join(binding.rest, ", "));
      } else {
        for (const auto &[symbol, size] : binding.symbols) {
          definition::Dim dim;
          dim.symbol = symbol;
          if (names.variable(dim) == step.variable) {
            value = std::to_string(size);
          }
        }
      }
      list += ", " + value;
    }
    return list;
  }

  void caseTable() {
    text += "struct Tolerance {\n  double relative, absolute;\n};\n\n";
    text += "struct Case {\n  const char *name;\n";
    for (const SizeNames::Step &step : names.steps) {
      line((step.isRest ? "Sizes " : "int64_t ") + step.variable + ";");
    }
    line("std::vector<Tolerance> tolerances; // in the order of `types`");
    if (!isAccuracy) {
      line("std::vector<double> bytes;         // that must be read and written at least");
    }
    text += "};\n\n";
    std::string types;
    for (DType type : fused.op.dtypes) {
      types += (types.empty() ? "" : ", ") + cppType(type);
    }
    text += "const std::vector<nereid::DType> types = {" + types + "};\n\n";
    std::vector<Case> cases = isAccuracy ? fused.op.accuracyCases : fused.op.performanceCases;
    if (isAccuracy) {
      std::vector<Case> standard = standardCases(fused);
      cases.insert(cases.begin(), standard.begin(), standard.end());
    }
    if (!cases.empty()) {
      auto tolerance = definition::toleranceFor(fused.op, cases.back().binding,
                                                fused.op.dtypes.front());
      text += "// Tolerances follow from type and reduction length. The last one: " +
              tolerance.derivation + "\n";
    }
    text += "const std::vector<Case> cases = {\n";
    for (const Case &one : cases) {
      std::string tolerances, bytes;
      for (DType type : fused.op.dtypes) {
        auto tolerance = definition::toleranceFor(fused.op, one.binding, type);
        tolerances += fmt::format("{}{{{}, {}}}", tolerances.empty() ? "" : ", ",
                                  cppNumber(tolerance.relative), cppNumber(tolerance.absolute));
        bytes += fmt::format("{}{}", bytes.empty() ? "" : ", ",
                             cppNumber(definition::countWork(fused.op, one.binding, type).bytes()));
      }
      text += fmt::format("    {{\"{}\"{},\n     {{{}}}{}}},\n", one.name, sizesInit(one.binding),
                          tolerances, isAccuracy ? "" : ",\n     {" + bytes + "}");
    }
    text += "};\n\n";
  }

  /// struct Inputs with one tensor per parameter, made for a case.
  void inputs() {
    text += "struct Inputs {\n";
    for (const Operand &operand : fused.operands) {
      if (!operand.isOutput) {
        line("nereid::Tensor " + operand.name + ";");
      }
    }
    text += "};\n\n";
    text += R"(/// Rows of a wider tensor when `isStrided`, so that they do not lie side by side.
nereid::Tensor made(const Sizes &shape, nereid::DType dtype, bool isStrided) {
  if (!isStrided || shape.size() < 2) {
    return nereid::Tensor::empty(shape, dtype);
  }
  Sizes wider = shape;
  wider.back() += 3;
  const nereid::Tensor whole = nereid::Tensor::empty(wider, dtype);
  return whole.view(0, shape, whole.strides());
}

)";
    text += "Inputs makeInputs(const Case &one, nereid::DType dtype, bool isStrided) {\n";
    line("Inputs in = {");
    int seed = 1;
    std::string fills;
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        continue;
      }
      std::string type = operand.fixedDtype ? cppType(*operand.fixedDtype) : "dtype";
      line(fmt::format("    made({}, {}, isStrided),", caseShape(operand.shape), type));
      bool isInteger = operand.fixedDtype && !isFloat(*operand.fixedDtype);
      bool isMixed = !operand.fixedDtype &&
                     std::any_of(fused.op.dtypes.begin(), fused.op.dtypes.end(),
                                 [](DType t) { return !isFloat(t); });
      std::string name = "in." + operand.name;
      fills += isInteger || isMixed ? fmt::format("  {}.fillIntegers({}, 0, 2);\n", name, seed)
               : positive.contains(operand.index)
                   ? fmt::format("  {}.fillUniform({}, 0.1, 3.0);\n", name, seed)
                   : fmt::format("  {}.fillNormal({});\n", name, seed);
      ++seed;
    }
    line("};");
    text += fills;
    line("return in;");
    text += "}\n\n";
  }

  std::string caseShape(const definition::SymbolicShape &shape) const {
    std::string fixed, rest = "{}";
    for (const definition::Dim &dim : shape) {
      std::string name = dim.symbol.empty() ? names.variable(dim) : "one." + names.variable(dim);
      if (dim.isRest()) {
        rest = name;
      } else {
        fixed += (fixed.empty() ? "" : ", ") + name;
      }
    }
    return fmt::format("joined({}, {{{}}})", rest, fixed);
  }

  std::string callText(bool isReference) const {
    std::string list;
    for (const CallParameter &parameter : callParameters(fused)) {
      list += list.empty() ? "" : ", ";
      if (parameter.operand < 0) {
        list += cppNumber(parameter.value);
        continue;
      }
      const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
      list += "in." + parameter.name;
      list += isReference && !operand.fixedDtype ? ".to(nereid::DType::F64)" : "";
    }
    return list;
  }
  std::string outputNames() const {
    std::string list;
    for (const Operand &operand : fused.operands) {
      list += !operand.isOutput ? "" : (list.empty() ? "" : ", ") + operand.name;
    }
    return list;
  }
  std::string makeOutputs() const {
    std::string made;
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        std::string type = operand.fixedDtype ? cppType(*operand.fixedDtype) : "dtype";
        made += fmt::format("  const nereid::Tensor {0} = nereid::Tensor::empty({1}, {2});\n",
                            operand.name, caseShape(operand.shape), type);
      }
    }
    return made;
  }
  std::string poisonOutputs(const std::string &pad) const {
    std::string lines;
    for (const Operand &operand : fused.operands) {
      lines += operand.isOutput ? pad + operand.name + ".poison();\n" : "";
    }
    return lines;
  }
  /// Statements that fold every output's comparison into `passed`.
  std::string compareOutputs(const std::string &pad) const {
    std::string lines;
    size_t number = 0, count = fused.outputNodes.size();
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        std::string expected =
            count == 1 ? "expected" : fmt::format("std::get<{}>(expected)", number);
        lines += fmt::format("{}passed &= agrees(title + \" {}\", {}, {}, tolerance);\n", pad,
                             operand.name, operand.name, expected);
        ++number;
      }
    }
    return lines;
  }

  std::string agreesFunction() const {
    return R"(bool agrees(const std::string &title, const nereid::Tensor &actual,
            const nereid::Tensor &expected, const Tolerance &tolerance) {
  const nereid::Comparison result =
      nereid::compare(actual, expected, tolerance.relative, tolerance.absolute);
  if (!result.passed) {
    std::printf("FAILED  %s: %lld elements differ, element %lld is %.9g, expected %.9g\n",
                title.c_str(), static_cast<long long>(result.mismatches),
                static_cast<long long>(result.firstMismatch), result.actual, result.expected);
  }
  return result.passed;
}

)";
  }

  /// The widest input: where special values are put.
  std::string widestInput() const {
    for (const Operand &operand : fused.operands) {
      if (!operand.isOutput && operand.extent == Extent::Full && !operand.fixedDtype) {
        return operand.name;
      }
    }
    return fused.operands.front().name;
  }

  std::string accuracyBody() const {
    bool isFloating = std::all_of(fused.op.dtypes.begin(), fused.op.dtypes.end(),
                                  [](DType type) { return isFloat(type); });
    std::string special =
        isFloating ? fmt::format(R"(  if (kind == Kind::Special && in.{0}.elementCount() > 2) {{
    // One of each, in different places of the tensor.
    const int64_t count = in.{0}.elementCount();
    in.{0}.set(0, INFINITY);
    in.{0}.set(count / 2, -INFINITY);
    in.{0}.set(count - 1, NAN);
  }}
)",
                                 widestInput())
                   : "";
    std::string lists = isFloating ? "Kind::Plain, Kind::Strided, Kind::Special"
                                   : "Kind::Plain, Kind::Strided";
    return agreesFunction() +
           fmt::format(R"(enum class Kind {{ Plain, Strided, Special }};

const char *text(Kind kind) {{
  return kind == Kind::Plain ? "plain" : kind == Kind::Strided ? "strided" : "inf and nan";
}}

bool check(const Case &one, size_t type, Kind kind) {{
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, kind == Kind::Strided);
{special}{outputs}{poison}  triton::Launch({call}, {outputNames}).run();
  const auto expected = baseline::{op}({reference});
  const Tolerance tolerance = one.tolerances[type];
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
                       fmt::arg("special", special), fmt::arg("outputs", makeOutputs()),
                       fmt::arg("poison", poisonOutputs("  ")), fmt::arg("call", callText(false)),
                       fmt::arg("outputNames", outputNames()), fmt::arg("op", fused.op.name),
                       fmt::arg("reference", callText(true)),
                       fmt::arg("compare", compareOutputs("  ")), fmt::arg("kinds", lists));
  }

  std::string performanceBody() const {
    return agreesFunction() +
           fmt::format(R"(/// Accuracy on this very shape first; then both versions alternately in one run; then the
/// outputs of the timed launches once more.
bool measure(const Case &one, size_t type) {{
  const nereid::DType dtype = types[type];
  const Inputs in = makeInputs(one, dtype, false);
{outputs}  const triton::Launch launch({call}, {outputNames});
  const auto expected = baseline::{op}({reference});
  const Tolerance tolerance = one.tolerances[type];
  const std::string title = std::string(one.name) + ", " + nereid::name(dtype) + ":";
  bool passed = true;
  const auto verify = [&] {{
{compare}  }};
{poison}  launch.run();
  verify();
  if (!passed) {{
    std::printf("%s not timed, because the result is wrong\n", title.c_str());
    return false;
  }}
  nereid::TimeOptions options;
  options.beforeSample = [&] {{
{poisonInner}  }};
  const nereid::PairTiming timing = nereid::timePair(
      [&] {{ (void)baseline::{op}({call}); }}, [&] {{ launch.run(); }}, options);
{poison}  launch.run();
  verify();
  std::printf("%-32s %-9s %12.1f %12.1f %8.2fx %9.2f  p=%.3g%s\n", one.name, nereid::name(dtype),
              timing.first.medianNanos / 1000, timing.second.medianNanos / 1000, timing.speedup,
              one.bytes[type] / timing.second.medianNanos, timing.pValue,
              timing.isNoisy ? "  noisy" : "");
  return passed;
}}

}} // namespace

/// Times the first type; with the argument "all" every type.
int main(int count, char **arguments) {{
  const bool isAll = count > 1 && std::string(arguments[1]) == "all";
  std::printf("%-32s %-9s %12s %12s %9s %9s\n", "case", "type", "baseline us", "kernel us",
              "speed-up", "GB/s");
  bool passed = true;
  for (const Case &one : cases) {{
    for (size_t type = 0; type < (isAll ? types.size() : 1); ++type) {{
      try {{
        passed &= measure(one, type);
      }} catch (const nereid::Error &problem) {{
        if (problem.status() != NEREID_ERROR_MEMORY) {{
          std::fprintf(stderr, "%s\n", problem.what());
          return 2;
        }}
        std::printf("%-32s %-9s skipped: not enough memory\n", one.name, nereid::name(types[type]));
      }} catch (const std::exception &problem) {{
        std::fprintf(stderr, "%s\n", problem.what());
        return 2;
      }}
    }}
  }}
  return passed ? 0 : 1;
}}
)",
                       fmt::arg("outputs", makeOutputs()), fmt::arg("poison", poisonOutputs("  ")),
                       fmt::arg("poisonInner", poisonOutputs("    ")),
                       fmt::arg("call", callText(false)), fmt::arg("outputNames", outputNames()),
                       fmt::arg("op", fused.op.name), fmt::arg("reference", callText(true)),
                       fmt::arg("compare", compareOutputs("    ")));
  }

  const FusedOperator &fused;
  SizeNames names;
  std::set<int> positive;
  bool isAccuracy;
  std::string text;
};

} // namespace

std::string writeAccuracy(const Generation &generation) {
  return ProgramWriter(generation.fused, true).run();
}

std::string writePerformance(const Generation &generation) {
  return ProgramWriter(generation.fused, false).run();
}

} // namespace nereid::generator
