// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/CudaKernel.h"

#include "lib/targets/nvidia/cuda/CudaCache.h"
#include "lib/targets/nvidia/cuda/CudaLog.h"
#include "lib/targets/nvidia/cuda/CudaTypes.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace nereid::nvidia {
namespace {

using pipeline::ForeignSource;

/// "extern "C" __global__ void gelu(float *x, int n)": what would fit.
std::string wanted(const ForeignSource &source) {
  std::vector<std::string> parameters;
  for (const runtime::ArgumentInfo &argument : source.arguments) {
    parameters.push_back(declarationOf(argument));
  }
  return "__global__ void " + source.function + "(" + llvm::join(parameters, ", ") + ")";
}

bool isWordOf(std::string_view text, std::string_view word) {
  const auto isPart = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (!(at > 0 && isPart(at - 1)) && !isPart(at + word.size())) {
      return true;
    }
  }
  return false;
}

Diagnostic noKernel(const ForeignSource &source, const std::vector<CudaFunction> &functions) {
  Diagnostic error =
      makeError("E0315", "'" + source.path + "' has no kernel '" + source.function + "'");
  std::vector<std::string> names;
  for (const CudaFunction &function : functions) {
    names.push_back(function.name);
  }
  if (isWordOf(source.text, source.function)) {
    error.note("the text names '" + source.function +
               "', but no code comes of it: it is no __global__ function, is compiled under a "
               "condition, or is a template that nothing instantiates");
  } else if (const auto near = nearestNames(source.function, names); !near.empty()) {
    error.note("nearest name: '" + near.front() + "'");
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  error.note(names.empty() ? "it has no kernel at all" : "its kernels: " + llvm::join(names, ", "));
  return error.withHelp("write " + wanted(source) + ", with or without extern \"C\"");
}

/// Of the kernels of that name the one that takes the arguments.
Result<CudaFunction> choose(const ForeignSource &source, std::vector<CudaFunction> all) {
  std::vector<CudaFunction> named, fitting;
  for (const CudaFunction &function : all) {
    if (function.name == source.function || function.entry.name == source.function) {
      named.push_back(function);
      if (problemOfCall(function, source.arguments).empty()) {
        fitting.push_back(function);
      }
    }
  }
  if (named.empty()) {
    return noKernel(source, all);
  }
  if (fitting.size() == 1) {
    return std::move(fitting.front());
  }
  if (fitting.empty()) {
    Diagnostic error = makeError("E0316", "kernel '" + source.function + "' of '" + source.path +
                                              "' does not take the arguments of the case: " +
                                              problemOfCall(named.front(), source.arguments));
    for (const CudaFunction &function : named) {
      error.note("there is " + function.text);
    }
    return error.withHelp("write " + wanted(source) +
                          ", or name the arguments by 'args' in the case's peer");
  }
  Diagnostic error =
      makeError("E0315", "'" + source.path + "' has " + std::to_string(fitting.size()) +
                             " kernels '" + source.function + "' that take the arguments");
  for (const CudaFunction &function : fitting) {
    error.note("there is " + function.text);
  }
  return error.withHelp("give them different names");
}

} // namespace

Result<pipeline::ForeignCode> compileCuda(const ForeignSource &source,
                                          const std::string &architecture) {
  auto compiler = findCudaCompiler();
  if (!compiler) {
    return compiler.error();
  }
  const CudaSource asked{.path = source.path,
                         .text = source.text,
                         .architecture = architecture,
                         .macros = source.macros,
                         .flags = source.flags};
  CudaCache cache(asked, **compiler, source.useCache);
  std::optional<std::string> ptx = cache.find();
  const bool isFromCache = ptx.has_value();
  if (!ptx) {
    Result<CompiledCuda> compiled = (*compiler)->compile(asked);
    if (!compiled) {
      return compiled.error();
    }
    if (!compiled->isRight) {
      return errorOfLog(compiled->log, source.path, source.text, (*compiler)->name());
    }
    ptx = std::move(compiled->ptx);
    cache.store(*ptx);
  }
  std::vector<CudaFunction> functions;
  for (PtxEntry &entry : readPtxEntries(*ptx)) {
    functions.push_back(describeEntry(std::move(entry)));
  }
  Result<CudaFunction> chosen = choose(source, std::move(functions));
  if (!chosen) {
    return chosen.error();
  }
  return pipeline::ForeignCode{.object = {ptx->begin(), ptx->end()},
                               .symbol = chosen->entry.name,
                               .threads = chosen->entry.threads,
                               .isThreadsMost = chosen->entry.isThreadsMost,
                               .compiler = (*compiler)->name(),
                               .isFromCache = isFromCache};
}

} // namespace nereid::nvidia
