// SPDX-License-Identifier: Apache-2.0
// What `<op>_accuracy.cpp` and `<op>_performance.cpp` have in common: the definition's cases as a
// table, and functions that make the tensors of a case and judge a result.
#pragma once

#include "lib/generator/CompanionWriter.h"

namespace nereid::generator {

/// Which random data an input gets: normal, or evenly between two ends.
struct Filling {
  enum class Kind { Normal, Uniform, Integers };
  Kind kind = Kind::Normal;
  double low = 0, high = 0;  ///< of integers the high end is not among them
  bool isConstraint = false; ///< the definition allows no others
};
/// Of the float types that the operand may have, or of the others.
Filling fillingOf(const Generation &generation, const Operand &operand, bool ofFloats);
/// Whether it may have types of both: what it gets is known when a case has its type.
bool hasFloatsAndOthers(const Generation &generation, const Operand &operand);
bool mayBeFloat(const Generation &generation, const Operand &operand);
/// What is promised of an input of indices; null when nothing is.
const definition::IndexRange *rangeOf(const Generation &generation, const Operand &operand);
/// An end of it in the variables of a case, each with `prefix`: "one.N - 1".
std::string endText(const std::string &end, const SizeNames &names, const std::string &prefix);

class TestProgram {
public:
  TestProgram(const Generation &generation, bool isAccuracy);

  /// File head up to the program's own functions.
  std::string beginning() const;
  /// "in.x, in.bias, 1e-05, results.out", packed between head and tail.
  std::string call(const std::string &head, const std::string &tail, bool withOutputs) const;
  std::string madeOutputs() const; ///< the call that makes the results of a case
  std::string inputs() const;      ///< "{in.x, in.bias}"
  std::string outputs() const;     ///< "{results.out}"
  /// {"x", in.x.shape()} and the like.
  std::vector<std::string> shapes() const;
  /// The widest input of the operator's own type: where special values are put.
  std::string widestInput() const;
  /// The definition's cases; for accuracy behind those that every operator is checked on.
  std::vector<definition::Case> cases() const;

  const CalledOperator &called;
  const SizeNames names;

private:
  std::string caseTable() const;
  std::string caseRow(const definition::Case &one) const;
  std::string tensors() const;
  std::string fill(const Operand &operand, int seed) const;
  std::string tensorOf(const CallParameter &parameter, bool isLaunch) const;
  std::string computedData() const;
  std::string caseShape(const definition::SymbolicShape &shape) const;

  const Generation &generation;
  bool isAccuracy;
};

} // namespace nereid::generator
