// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/ForeignLaunch.h"

#include "lib/bench/measurement/KernelLaunch.h"
#include "lib/language/IntegerExpression.h"
#include "lib/launch/CaseReference.h"
#include "lib/pipeline/kernel/ForeignKernel.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace nereid::bench {

using language::ParamType;
using launch::ForeignPeer;
using launch::KernelArguments;
using launch::KernelCase;
using runtime::ArgumentInfo;
using runtime::ArgumentKind;
using runtime::Tensor;

namespace {

std::string nameOf(const ForeignPeer &peer) {
  return std::filesystem::path(peer.path).filename().string() + ":" + peer.function;
}

/// As a parameter of a function that knows pointers and numbers.
ArgumentInfo argumentOf(const ParamType &param) {
  ArgumentInfo info;
  info.name = param.name;
  info.dtype = param.dtype;
  info.kind = param.kind == ParamType::Kind::Pointer      ? ArgumentKind::Pointer
              : param.kind == ParamType::Kind::Descriptor ? ArgumentKind::Descriptor
              : isFloat(param.dtype)                      ? ArgumentKind::Float
                                                          : ArgumentKind::Integer;
  return info;
}

/// Those that the peer names, else the run-time parameters of the case's kernel.
Result<std::vector<ArgumentInfo>> argumentsOf(const KernelCase &one, const ForeignPeer &peer,
                                              const language::Signature &signature) {
  std::vector<ArgumentInfo> all, chosen;
  for (const ParamType &param : signature.flattened()) {
    if (param.kind != ParamType::Kind::Constexpr) {
      all.push_back(argumentOf(param));
    }
  }
  if (peer.arguments.empty()) {
    return all;
  }
  for (const std::string &name : peer.arguments) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const ArgumentInfo &info) { return info.name == name; });
    if (found == all.end()) {
      std::vector<std::string> names;
      std::transform(all.begin(), all.end(), std::back_inserter(names),
                     [](const ArgumentInfo &info) { return info.name; });
      return makeError("E0016",
                       fmt::format("peer '{}' of case '{}' expects the argument '{}', which "
                                   "the case has not",
                                   nameOf(peer), one.name, name))
          .note(fmt::format("its run-time arguments: {}", fmt::join(names, ", ")));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

/// Booleans and numbers among the constexprs, as macros.
std::vector<std::pair<std::string, std::string>> macrosOf(const language::Signature &signature) {
  std::vector<std::pair<std::string, std::string>> macros;
  for (const ParamType &param : signature.params) {
    if (param.kind != ParamType::Kind::Constexpr) {
      continue;
    }
    if (const auto *flag = std::get_if<bool>(&param.constant)) {
      macros.emplace_back(param.name, *flag ? "1" : "0");
    } else if (const auto *integer = std::get_if<int64_t>(&param.constant)) {
      macros.emplace_back(param.name, std::to_string(*integer));
    } else if (const auto *real = std::get_if<double>(&param.constant)) {
      macros.emplace_back(param.name, fmt::format("{:#}", *real));
    }
  }
  return macros;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// "m, n" with the values of the integers.
Result<std::vector<int64_t>> evaluateShape(const std::string &text,
                                           const KernelArguments &arguments) {
  std::vector<int64_t> shape;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    depth += at < text.size() ? (text[at] == '(') - (text[at] == ')') : 0;
    if (at < text.size() && (text[at] != ',' || depth > 0)) {
      continue;
    }
    auto size =
        language::evaluateInteger("shape", text.substr(begin, at - begin), arguments.integers);
    if (!size) {
      return size.error();
    }
    shape.push_back(*size);
    begin = at + 1;
  }
  return shape;
}

/// E0317.
Status checkTensors(const ForeignPeer &peer, const std::vector<ArgumentInfo> &infos,
                    const KernelArguments &arguments) {
  for (const ArgumentInfo &info : infos) {
    const auto tensor = arguments.tensors.find(info.name);
    if (tensor != arguments.tensors.end() && !tensor->second.isContiguous()) {
      return makeError("E0317",
                       fmt::format("peer '{}' expects a contiguous tensor '{}', but got one "
                                   "of shape {} with strides {}",
                                   nameOf(peer), info.name, shapeText(tensor->second.shape()),
                                   shapeText(tensor->second.strides())))
          .withHelp("make the tensor contiguous in the case");
    }
  }
  for (const auto &[name, text] : peer.shapes) {
    const auto tensor = arguments.tensors.find(name);
    if (tensor == arguments.tensors.end()) {
      return makeError("E0016", fmt::format("peer '{}' states a shape for '{}', which is no tensor "
                                            "argument",
                                            nameOf(peer), name));
    }
    auto shape = evaluateShape(text, arguments);
    if (!shape) {
      return shape.error();
    }
    if (*shape != tensor->second.shape()) {
      return makeError("E0317", fmt::format("peer '{}' expects '{}' of shape {} = ({}), but got {}",
                                            nameOf(peer), name, shapeText(*shape), text,
                                            shapeText(tensor->second.shape())))
          .withHelp("make the tensor as large as the sizes that are passed say");
    }
  }
  return Done{};
}

/// 0 = as the source says.
Result<uint32_t> threadsOf(const ForeignPeer &peer, const KernelArguments &arguments) {
  if (peer.threads.empty()) {
    return uint32_t{0};
  }
  auto threads = language::evaluateInteger("threads", peer.threads, arguments.integers);
  if (!threads) {
    return threads.error();
  }
  if (*threads < 1 || *threads > std::numeric_limits<int32_t>::max()) {
    return makeError("E0316",
                     fmt::format("peer '{}' expects a number of threads from 1 on, but got "
                                 "{} = {}",
                                 nameOf(peer), peer.threads, *threads));
  }
  return static_cast<uint32_t>(*threads);
}

std::vector<runtime::ArgumentValue> valuesOf(const std::vector<ArgumentInfo> &infos,
                                             const KernelArguments &arguments) {
  KernelArguments chosen = arguments;
  chosen.names.clear();
  for (const ArgumentInfo &info : infos) {
    chosen.names.push_back(info.name);
  }
  std::vector<runtime::ArgumentValue> values = chosen.values();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (std::holds_alternative<const Tensor *>(values[i])) {
      values[i] = &arguments.tensors.at(infos[i].name); // which stays
    }
  }
  return values;
}

} // namespace

bool isPeerMissing(const Diagnostic &error) {
  return error.code == "E0313" || error.code == "E0028" || error.code == "E0423";
}

Result<std::unique_ptr<ForeignLaunch>> ForeignLaunch::make(const KernelCase &one,
                                                           const ForeignPeer &peer,
                                                           const launch::PreparedCase &prepared,
                                                           const launch::Execution &execution) {
  const language::Signature &signature = prepared.kernel.signature();
  auto text = readTextFile(peer.path);
  if (!text) {
    return text.error();
  }
  auto infos = argumentsOf(one, peer, signature);
  if (!infos) {
    return infos.error();
  }
  auto threads = threadsOf(peer, prepared.arguments);
  if (!threads) {
    return threads.error();
  }
  auto grid = launch::evaluateGrid(peer.grid.empty() ? one.grid : peer.grid, prepared.arguments);
  if (!grid) {
    return grid.error();
  }
  if (Status fits = checkTensors(peer, *infos, prepared.arguments); !fits) {
    return fits.error();
  }
  auto kernel = pipeline::loadForeign({.path = peer.path,
                                       .text = std::move(*text),
                                       .function = peer.function,
                                       .arguments = *infos,
                                       .macros = macrosOf(signature),
                                       .flags = peer.flags,
                                       .useCache = execution.useCache},
                                      execution.target, *threads);
  if (!kernel) {
    return kernel.error();
  }
  std::unique_ptr<ForeignLaunch> made(new ForeignLaunch(one, peer));
  made->kernel = std::move(*kernel);
  made->grid = *grid;
  made->arguments = prepared.arguments.clone();
  made->launch =
      launchOf(nameOf(peer), made->kernel, made->grid, valuesOf(*infos, made->arguments));
  return made;
}

std::string ForeignLaunch::renew() {
  if (Status done = launch::resetOutputs(one, arguments); !done) {
    return done.error().message;
  }
  return launch.send();
}

std::string ForeignLaunch::verify() {
  std::string wrong = renew();
  wrong = wrong.empty() ? launch.run() : wrong;
  wrong = wrong.empty() ? launch.fetch() : wrong;
  if (!wrong.empty() || one.reference.empty()) {
    return wrong;
  }
  auto comparison = launch::compareOutputs(one, arguments);
  if (!comparison) {
    return comparison.error().message;
  }
  return comparison->passed() ? "" : "wrong result: " + comparison->text();
}

TimedLaunch ForeignLaunch::timed() {
  TimedLaunch timed = launch;
  // As for the case's kernel: the outputs are new before each sample, and the device has just
  // written all tensors.
  timed.prepare = [this] { (void)renew(); };
  return timed;
}

} // namespace nereid::bench
