// SPDX-License-Identifier: Apache-2.0
// Loading and launching kernels through the C interface.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/capi/Texts.h"
#include "lib/pipeline/Compiler.h"
#include "lib/targets/Targets.h"
#include "runtime/tensor/Dlpack.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace nereid::capi {
namespace {

/// What nereid_import_path_add was given.
struct ImportPaths {
  std::mutex lock;
  std::vector<std::string> folders;
};
ImportPaths &importPaths() {
  static ImportPaths all;
  return all;
}

/// What is loaded and on what, as the C functions are given it.
struct Wanted {
  const char *device, *function, *signature, *target; ///< all but the signature may be null
};

nereid_status load(const char *caller, pipeline::CompileInput input, const Wanted &wanted,
                   nereid_kernel **kernel) {
  const auto &[device, function, signature, target] = wanted;
  for (const std::string &problem :
       {problemOfText("a signature", signature, longestList),
        problemOfOptionalText("the name of a function", function, longestName),
        problemOfOptionalText("the name of a target", target, longestName)}) {
    if (!problem.empty()) {
      return refuse(caller, problem);
    }
  }
  if (!kernel) {
    return refuse(caller, "expects a place for the kernel, but got a null pointer");
  }
  pipeline::CompileOptions options;
  if (device) {
    runtime::Device *found = nullptr;
    if (nereid_status status = findDevice(caller, device, found)) {
      return status;
    }
    options.device = found->name();
    options.target = found->kind();
  }
  if (target) {
    options.target = target;
  }
  registerTargets();
  input.function = function ? function : "";
  {
    std::lock_guard guard(importPaths().lock);
    input.importPaths = importPaths().folders;
  }
  input.signature = signature;
  Diagnostics diagnostics;
  std::optional<runtime::Kernel> compiled = pipeline::compileKernel(input, options, diagnostics);
  if (!compiled) {
    return fail(NEREID_ERROR_COMPILE, diagnostics);
  }
  *kernel = new nereid_kernel{std::move(*compiled)};
  return NEREID_OK;
}

nereid_status loadFile(const char *caller, const char *path, const Wanted &wanted,
                       nereid_kernel **kernel) {
  if (std::string problem = problemOfText("the path of a .py file", path, longestName);
      !problem.empty()) {
    return refuse(caller, problem);
  }
  pipeline::CompileInput input;
  input.path = path;
  return load(caller, std::move(input), wanted, kernel);
}

nereid_status loadSource(const char *caller, const char *source, const char *name,
                         const Wanted &wanted, nereid_kernel **kernel) {
  if (!source) {
    return refuse(caller, "expects the text of a kernel, but got a null pointer");
  }
  if (std::string problem = problemOfOptionalText("a name of the text", name, longestName);
      !problem.empty()) {
    return refuse(caller, problem);
  }
  pipeline::CompileInput input;
  input.path = name ? name : "<source>";
  input.source = source;
  return load(caller, std::move(input), wanted, kernel);
}

/// Launches with at most this many arguments keep them on the stack.
constexpr size_t fewArguments = 16;

/// The argument as the runtime takes it; `borrowed` keeps a DLPack tensor's description.
std::variant<runtime::ArgumentValue, std::string> valueOf(const nereid_argument &argument,
                                                          runtime::Tensor &borrowed) {
  switch (argument.kind) {
  case NEREID_ARGUMENT_TENSOR:
    if (!argument.value.tensor) {
      return std::string("is a null pointer");
    }
    return runtime::ArgumentValue(&argument.value.tensor->tensor);
  case NEREID_ARGUMENT_DLPACK: {
    if (!argument.value.dlpack) {
      return std::string("is a null pointer");
    }
    auto tensor = runtime::borrowDlpack(*static_cast<const DLTensor *>(argument.value.dlpack));
    if (std::string *text = std::get_if<std::string>(&tensor)) {
      return *text;
    }
    borrowed = std::move(std::get<runtime::Tensor>(tensor));
    return runtime::ArgumentValue(static_cast<const runtime::Tensor *>(&borrowed));
  }
  case NEREID_ARGUMENT_INTEGER:
    return runtime::ArgumentValue(argument.value.integer);
  case NEREID_ARGUMENT_FLOAT:
    return runtime::ArgumentValue(argument.value.number);
  }
  return "has the unknown kind " + std::to_string(argument.kind);
}

/// Checks what `caller` was given and launches on the stream, or without one on the pool.
nereid_status launch(const char *caller, const nereid_kernel *kernel, const int64_t grid[3],
                     const nereid_argument *arguments, size_t count, runtime::Stream *stream) {
  if (!kernel || !grid || (count > 0 && !arguments)) {
    return refuse(caller, "expects a kernel, a grid and arguments");
  }
  const size_t expected = kernel->kernel.info.arguments.size();
  if (count != expected) {
    return fail(NEREID_ERROR_LAUNCH,
                makeError("E0401", "kernel '" + kernel->kernel.info.name + "' expects " +
                                       std::to_string(expected) + " run-time arguments, but got " +
                                       std::to_string(count)));
  }
  runtime::ArgumentValue few[fewArguments];
  std::vector<runtime::ArgumentValue> many(count > fewArguments ? count : 0);
  runtime::ArgumentValue *values = count > fewArguments ? many.data() : few;
  std::vector<runtime::Tensor> borrowed; // only for DLPack: a launch allocates nothing else
  runtime::Tensor unused;
  for (size_t i = 0; i < count; ++i) {
    const bool isBorrowed = arguments[i].kind == NEREID_ARGUMENT_DLPACK;
    if (isBorrowed) {
      borrowed.reserve(count); // addresses stay
    }
    auto value = valueOf(arguments[i], isBorrowed ? borrowed.emplace_back() : unused);
    if (std::string *text = std::get_if<std::string>(&value)) {
      return fail(NEREID_ERROR_LAUNCH,
                  makeError("E0408", "argument '" + kernel->kernel.info.arguments[i].name +
                                         "' of kernel '" + kernel->kernel.info.name +
                                         "': " + *text));
    }
    values[i] = std::get<runtime::ArgumentValue>(value);
  }
  const runtime::Grid sizes = {grid[0], grid[1], grid[2]};
  const std::span<const runtime::ArgumentValue> given(values, count);
  const runtime::LaunchError error = stream ? runtime::launch(kernel->kernel, sizes, given, *stream)
                                            : runtime::launch(kernel->kernel, sizes, given, pool());
  return error ? failOf(error) : NEREID_OK;
}

} // namespace
} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_kernel_load(const char *path, const char *function, const char *signature,
                                 const char *target, nereid_kernel **kernel) {
  return guarded([&] {
    return loadFile("nereid_kernel_load", path, {nullptr, function, signature, target}, kernel);
  });
}

nereid_status nereid_kernel_load_on(const char *device, const char *path, const char *function,
                                    const char *signature, const char *target,
                                    nereid_kernel **kernel) {
  return guarded([&] {
    return device ? loadFile("nereid_kernel_load_on", path, {device, function, signature, target},
                             kernel)
                  : refuse("nereid_kernel_load_on", "expects a device, but got a null pointer");
  });
}

nereid_status nereid_kernel_load_source(const char *source, const char *name, const char *function,
                                        const char *signature, const char *target,
                                        nereid_kernel **kernel) {
  return guarded([&] {
    return loadSource("nereid_kernel_load_source", source, name,
                      {nullptr, function, signature, target}, kernel);
  });
}

nereid_status nereid_kernel_load_source_on(const char *device, const char *source, const char *name,
                                           const char *function, const char *signature,
                                           const char *target, nereid_kernel **kernel) {
  return guarded([&] {
    return device
               ? loadSource("nereid_kernel_load_source_on", source, name,
                            {device, function, signature, target}, kernel)
               : refuse("nereid_kernel_load_source_on", "expects a device, but got a null pointer");
  });
}

nereid_status nereid_import_path_add(const char *folder) {
  return guarded([&] {
    std::string problem = problemOfText("the path of a folder", folder, longestName);
    if (problem.empty() && !*folder) {
      problem = "expects the path of a folder, but got an empty text";
    }
    if (!problem.empty()) {
      return refuse("nereid_import_path_add", problem);
    }
    std::lock_guard guard(importPaths().lock);
    std::vector<std::string> &folders = importPaths().folders;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.emplace_back(folder);
    }
    return NEREID_OK;
  });
}

void nereid_kernel_free(nereid_kernel *kernel) { delete kernel; }

const char *nereid_kernel_name(const nereid_kernel *kernel) {
  return kernel ? kernel->kernel.info.name.c_str() : "";
}
const char *nereid_kernel_signature(const nereid_kernel *kernel) {
  return kernel ? kernel->kernel.info.signature.c_str() : "";
}
int nereid_kernel_argument_count(const nereid_kernel *kernel) {
  return kernel ? static_cast<int>(kernel->kernel.info.arguments.size()) : 0;
}

nereid_status nereid_kernel_launch(const nereid_kernel *kernel, const int64_t grid[3],
                                   const nereid_argument *arguments, size_t count) {
  return guarded(
      [&] { return launch("nereid_kernel_launch", kernel, grid, arguments, count, nullptr); });
}

nereid_status nereid_stream_launch(nereid_stream *stream, const nereid_kernel *kernel,
                                   const int64_t grid[3], const nereid_argument *arguments,
                                   size_t count) {
  return guarded([&] {
    if (!stream) {
      return refuse("nereid_stream_launch", "expects a stream, but got a null pointer");
    }
    // The CPU's streams are its pool, unless they record.
    runtime::Stream &queue = *stream->stream;
    const bool isHost = queue.device().isHost() && !queue.isCapturing() && kernel &&
                        !runtime::otherDevice(kernel->kernel);
    return launch("nereid_stream_launch", kernel, grid, arguments, count,
                  isHost ? nullptr : &queue);
  });
}
}
