// SPDX-License-Identifier: Apache-2.0
// The four files of an operator promise one interface. This reads them back and compares: name,
// parameters in order, outputs. Run after generation and before verify, since people edit files.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <vector>

namespace nereid::generator {

struct Interface {
  std::string file;
  std::string function;
  std::vector<std::string> parameters;
  int outputs = 1;
  std::string text() const; ///< "broadcast_add(x, bias) -> 1 tensor"
};

/// The Python wrapper (a top-level function without @triton.jit) called `name`.
Result<Interface> readPythonInterface(const std::string &path, const std::string &text,
                                      const std::string &name);
/// The C++ definition or declaration of function `name`.
Result<Interface> readCppInterface(const std::string &path, const std::string &text,
                                   const std::string &name);

/// E0610 names the file and both versions for every disagreement; false when there was one.
bool checkInterfaces(const std::string &directory, const std::string &operatorName,
                     Diagnostics &diags);

} // namespace nereid::generator
