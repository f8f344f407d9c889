// SPDX-License-Identifier: Apache-2.0
#include "lib/language/ChooseKernel.h"

#include "lib/language/host/KernelDecorators.h"

#include <algorithm>

namespace nereid::language {

namespace {

std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Diagnostic unknownKernel(const std::string &path, const std::vector<std::string> &kernels,
                         const std::string &wanted) {
  Diagnostic error = makeError("E0014", "'" + path + "' has no kernel '" + wanted + "'");
  for (const std::string &near : nearestNames(wanted, kernels)) {
    error.note("nearest name: '" + near + "'");
    break;
  }
  return error.withHelp("name a function decorated with @triton.jit");
}

/// Of a kernel whose name the file gives to something else behind it, to `later` where that is a
/// function: Python keeps what came last.
Diagnostic hiddenKernel(const SourceModule &module, const std::string &name,
                        const FunctionDef *later) {
  Diagnostic error = makeError("E0014", "'" + module.path + "' has no kernel '" + name + "'");
  if (later == nullptr) {
    error.note("the file gives the name '" + name + "' to something else than the kernel");
  } else {
    error.at(module.path, module.text, later->nameRange)
        .note(
            "this function without @triton.jit comes later and replaces the kernel of its name, as "
            "it does in Python");
  }
  return error.withHelp("give the kernel and what replaces it names of their own");
}

} // namespace

Result<std::string> chooseKernelName(const std::string &path,
                                     const std::vector<std::string> &kernels,
                                     const std::string &wanted) {
  if (wanted.empty() && kernels.size() == 1) {
    return kernels.front();
  }
  if (wanted.empty()) {
    return makeError("E0014",
                     "'" + path + "' expects one kernel, but has " + std::to_string(kernels.size()))
        .withHelp(kernels.empty() ? "decorate a function with @triton.jit"
                                  : "name one of them: " + path + ":{" + listed(kernels) + "}");
  }
  if (std::find(kernels.begin(), kernels.end(), wanted) == kernels.end()) {
    return unknownKernel(path, kernels, wanted);
  }
  return wanted;
}

Result<const FunctionDef *> chooseKernel(const SourceModule &module, const std::string &wanted,
                                         Diagnostics &remarks) {
  if (!wanted.empty()) { // of a file with hundreds, nobody needs to know the others
    Diagnostics own;
    const FunctionDef *known = kernelNamed(module, wanted, own);
    if (known != nullptr && known->isJit()) {
      for (const Diagnostic &remark : own.all()) {
        remarks.add(remark);
      }
      return known;
    }
  }
  const std::vector<std::string> kernels = module.jitFunctions();
  Result<std::string> name = chooseKernelName(module.path, kernels, wanted);
  if (!name) {
    return name.error();
  }
  const FunctionDef *found = kernelNamed(module, *name, remarks);
  if (found == nullptr || !found->isJit()) {
    return hiddenKernel(module, *name, found);
  }
  return found;
}

} // namespace nereid::language
