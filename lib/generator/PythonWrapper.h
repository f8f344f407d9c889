// SPDX-License-Identifier: Apache-2.0
// The Python wrapper of an operator: what stands before and
// behind its launches, in the words that all Python files of operators share.
#pragma once

#include "lib/generator/WrapperNames.h"
#include "lib/generator/python/WrapperText.h"

#include <map>
#include <string>

namespace nereid::generator {

class WrapperVariables;

class PythonWrapper {
public:
  explicit PythonWrapper(const CalledOperator &called)
      : called(called), names(called), lead(generator::leadTensor(called)) {}

protected:
  struct Imports {
    bool math = false, functional = false, libdevice = false;
  };
  /// `note`: a sentence about what rewrites the file.
  void head(const Imports &imports, const std::string &note);
  bool hasRest() const; ///< sizes of "..."
  /// The function up to the last check of its inputs.
  void beginning();
  /// Results, and the way out for a call that computes none of them.
  void outputs();
  /// What apartInput() calls, where inputs are written.
  std::string apartFunction() const;
  /// Inputs that are written, as they came: results() copies to those that kernels get copied.
  void keepWritten(WrapperVariables &variables);
  /// The input in memory that no result is written to, unless it is its own.
  std::string apartInput(const Operand &operand) const;
  /// What the function returns.
  void results();

  void line(const std::string &content) { text += "    " + content + "\n"; }
  std::string restName() const; ///< variable of the leading sizes

  const CalledOperator &called;
  SizeNames names;
  const std::string lead; ///< the input whose type and device results have
  std::string text;

private:
  std::vector<std::string> writtenInputs() const;
  std::vector<std::string> memories() const; ///< of the outputs
  /// The name of what has the output's elements.
  static std::string memoryOf(const Operand &operand);
  std::map<std::string, std::string> given; ///< variables of inputs that are written, as they came
};

} // namespace nereid::generator
