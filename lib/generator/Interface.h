// SPDX-License-Identifier: Apache-2.0
// The interface of an operator as one of its files has it: function, parameters with types and
// defaults, result type and the checks that its inputs must pass. Read back from files that people
// edit; InterfaceCheck.h compares what is read.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <vector>

namespace nereid::generator {

struct Interface {
  /// A piece of the interface. Two pieces mean the same when their `meaning` is the same text, in
  /// which names of variables, spaces and the order of equal sides are gone.
  struct Part {
    std::string shown; ///< as the file writes it; "" = the file has none
    std::string meaning;
    SourceRange place;
  };
  struct Parameter {
    std::string name;
    Part type, value; ///< value: the default
    SourceRange place;
  };
  std::string file, source; ///< path and whole text
  std::string function;
  SourceRange place;
  std::vector<Parameter> parameters;
  /// In Python: keywords behind "*" whose default is None, tensors that take results.
  std::vector<Parameter> given;
  Part result;
  int outputs = 1;
  std::vector<Part> checks; ///< that are made whatever the inputs are, in order
  /// What each kernel is launched with, keywords apart, in the order of the wrapper; of variables
  /// the meaning is the name, of all else it is empty.
  std::vector<std::vector<Part>> launches;
  std::vector<Part> ofLaunch; ///< of the C++ class Launch: parameters, and the checks of a call

  std::string names() const; ///< "x, bias, *, out"
  std::string text() const;  ///< "'broadcast_add(x, bias) -> 1 tensor'"
};

/// The Python wrapper (a top-level function without @triton.jit) called `name`; E0610 without one.
Result<Interface> readPythonInterface(const std::string &path, const std::string &text,
                                      const std::string &name);
/// The C++ definition or declaration of function `name`; E0610 without one.
Result<Interface> readCppInterface(const std::string &path, const std::string &text,
                                   const std::string &name);

/// E0610: `path` has no function of this name; `present` are the functions it has.
Diagnostic missingFunction(const std::string &path, const std::string &name, const char *language,
                           const std::vector<std::string> &present);

} // namespace nereid::generator
