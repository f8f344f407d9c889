// SPDX-License-Identifier: Apache-2.0
// What `<op>_accuracy.cpp` and `<op>_performance.cpp` have in common: the definition's cases as a
// table, and functions that make the tensors of a case and judge a result.
#pragma once

#include "lib/generator/CompanionWriter.h"

namespace nereid::generator {

class TestProgram {
public:
  TestProgram(const FusedOperator &fused, bool isAccuracy)
      : fused(fused), names(fused), isAccuracy(isAccuracy) {}

  /// File head up to the program's own functions.
  std::string beginning() const;
  /// "in.x, in.bias, 1e-05, results.out", packed between head and tail.
  std::string call(const std::string &head, const std::string &tail, bool withOutputs) const;
  /// Arguments for the baseline in float64; `narrowed` gives the source text of an input.
  template <class Narrow> std::vector<std::string> referenceArguments(Narrow narrowed) const {
    std::vector<std::string> list;
    for (const CallParameter &parameter : callParameters(fused)) {
      if (parameter.operand < 0) {
        list.push_back(cppNumber(parameter.value));
        continue;
      }
      const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
      list.push_back(narrowed(operand) + (operand.fixedDtype ? "" : ".to(f64)"));
    }
    return list;
  }
  /// Statements that set `passed` to false when an output disagrees with `expected`; `narrowed`
  /// gives the source text of an output.
  template <class Narrow>
  std::string compareOutputs(const std::string &pad, Narrow narrowed) const {
    std::string lines;
    size_t number = 0, count = fused.outputNodes.size();
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        std::string expected =
            count == 1 ? "expected" : "std::get<" + std::to_string(number) + ">(expected)";
        lines +=
            packed(pad + "passed &= agrees(",
                   {"title + \" " + operand.name + "\"", narrowed(operand), expected, "tolerance"},
                   ");\n");
        ++number;
      }
    }
    return lines;
  }
  /// The widest input of the operator's own type: where special values are put.
  std::string widestInput() const;

  const FusedOperator &fused;
  const SizeNames names;

private:
  std::vector<definition::Case> cases() const;
  std::string caseTable() const;
  std::string caseRow(const definition::Case &one) const;
  std::string tensors() const;
  std::string fill(const Operand &operand, int seed) const;
  std::string caseShape(const definition::SymbolicShape &shape) const;

  bool isAccuracy;
};

} // namespace nereid::generator
