// SPDX-License-Identifier: Apache-2.0
// The Python wrapper of an operator, as far as it is the same whichever way the kernels are made:
// head of the file, signature, checks of what it is given, results. The writers of `<op>_triton.py`
// put kernels and launches between.
#pragma once

#include "lib/generator/InputChecks.h"
#include "lib/generator/WrapperNames.h"

#include <string>

namespace nereid::generator {

class PythonWrapper {
public:
  explicit PythonWrapper(const CalledOperator &called) : called(called), names(called) {}

protected:
  struct Imports {
    bool math = false, functional = false, libdevice = false;
  };
  /// `note`: a sentence about what rewrites the file.
  void head(const Imports &imports, const std::string &note);
  bool hasRest() const; ///< sizes of "..."
  /// The function that every wrapper checks its tensors with.
  void checkFunction();
  void signature();
  void documentation();
  void checks();
  /// Results, and the way out for a call that computes nothing: `joint` is "or" where every launch
  /// writes all of them.
  void outputs(const std::string &joint);
  std::string outputList() const;

  void line(const std::string &content) { text += "    " + content + "\n"; }
  std::string shapeTuple(const definition::SymbolicShape &shape) const;
  std::string restName() const; ///< variable of the leading sizes

  const CalledOperator &called;
  SizeNames names;
  std::string text, leadTensor;
};

} // namespace nereid::generator
