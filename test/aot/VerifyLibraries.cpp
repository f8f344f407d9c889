// SPDX-License-Identifier: Apache-2.0
// Every case of the kernel library through its library for C: each different specialization is
// compiled ahead of time, all objects are linked with one runtime part into one shared library, and
// every case is launched by its C function and compared with its reference in float64.
//   aot_verify KERNELS RUNTIME.a FOLDER
#include "lib/aot/Library.h"
#include "lib/language/ChooseKernel.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/language/syntax/Parser.h"
#include "lib/launch/CaseReference.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"
#include "nereid/aot.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace nereid {
namespace {

struct Specialization {
  std::string symbol;
  aot::CompiledLibrary library;
  language::Signature signature;
};

[[noreturn]] void fail(const std::string &text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

template <class Value> Value must(Result<Value> result, const std::string &where) {
  return result ? std::move(*result) : (fail(where + ": " + render(result.error())), Value());
}

Specialization compile(const launch::KernelCase &one, const std::string &symbol) {
  Diagnostics diags;
  const size_t colon = one.kernel.rfind(':');
  const std::string path = one.kernel.substr(0, colon);
  auto module = language::parseFile(path, diags);
  if (!module) {
    fail(diags.render());
  }
  const language::FunctionDef *function =
      must(language::chooseKernel(*module, one.kernel.substr(colon + 1), diags), one.name);
  aot::LibraryRequest request;
  request.kernel.path = path;
  request.signatures = {one.signature};
  request.targets = {"cpu:x86-64-v2", "cpu"};
  request.grid = one.grid;
  request.name = symbol;
  request.useCache = false;
  auto library = aot::compileLibrary(request, *module, *function, diags);
  if (!library) {
    fail(one.name + ": " + diags.render());
  }
  auto special = must(language::specialize(one.signature, *module, *function,
                                           language::readDecorators(*module, *function)),
                      one.name);
  return {symbol, std::move(*library), std::move(special.signature)};
}

constexpr size_t wholeLimit = 24, realLimit = 8;

/// Integers and floating-point numbers are passed apart from each other, and the function takes
/// those it has parameters for: one type serves all launchers.
using AnyLauncher = int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                            uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                            uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                            uint64_t, uint64_t, uint64_t, double, double, double, double, double,
                            double, double, double);

int call(void *symbol, const aot::Interface &interface, const launch::KernelArguments &arguments,
         const nereid_aot_options &options) {
  uint64_t w[wholeLimit] = {};
  double r[realLimit] = {};
  size_t wholes = 0, reals = 0;
  for (const aot::CParameter &parameter : interface.parameters) {
    if (wholes + 1 >= wholeLimit || reals >= realLimit) {
      fail("a kernel has more parameters than this test passes");
    }
    if (parameter.kind == aot::ParameterKind::Pointer) {
      w[wholes++] = reinterpret_cast<uintptr_t>(arguments.tensors.at(parameter.kernelName).data());
    } else if (parameter.kind == aot::ParameterKind::Integer) {
      w[wholes++] = static_cast<uint64_t>(arguments.integers.at(parameter.kernelName));
    } else {
      const double value = arguments.reals.at(parameter.kernelName);
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      r[reals++] = parameter.dtype == DType::F64 ? value : std::bit_cast<double>(uint64_t{bits});
    }
  }
  w[wholes] = reinterpret_cast<uintptr_t>(&options);
  return reinterpret_cast<AnyLauncher>(symbol)(
      w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
      w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], r[0], r[1], r[2], r[3], r[4],
      r[5], r[6], r[7]);
}

std::string verify(const launch::KernelCase &one, const Specialization &special, void *symbol) {
  auto arguments = must(launch::makeArguments(special.signature, one.arguments), one.name);
  must(launch::computeInputs(one, arguments), one.name);
  must(launch::resetOutputs(one, arguments), one.name);
  char text[400] = "";
  nereid_aot_options options = {};
  options.message = text;
  options.message_bytes = sizeof text;
  if (const int status = call(symbol, special.library.interface, arguments, options)) {
    return fmt::format("status {}: {}", status, text);
  }
  const eager::Comparison comparison = must(launch::compareOutputs(one, arguments), one.name);
  return comparison.passed() ? "" : comparison.text();
}

int run(const std::string &kernels, const std::string &runtime, const std::string &folder) {
  registerTargets();
  std::filesystem::create_directories(folder);
  std::vector<launch::KernelCase> cases;
  for (const auto &entry : std::filesystem::directory_iterator(kernels)) {
    if (std::filesystem::exists(entry.path() / "cases.toml")) {
      for (launch::KernelCase &one : must(launch::loadCases(entry.path()), entry.path())) {
        if (one.isTest) {
          cases.push_back(std::move(one));
        }
      }
    }
  }
  std::map<std::string, Specialization> specials;
  const std::string library = folder + "/all.so";
  std::string command = "cc -shared -o " + library;
  for (const launch::KernelCase &one : cases) {
    const std::string key = one.kernel + "|" + one.signature + "|" + one.grid;
    if (!specials.count(key)) {
      Specialization made = compile(one, fmt::format("k{}", specials.size()));
      const std::string path = fmt::format("{}/{}.o", folder, made.symbol);
      must(writeFileAtomically(path, made.library.object), path);
      command += " " + path;
      specials.emplace(key, std::move(made));
    }
  }
  if (std::system((command + " " + runtime + " -lpthread -lm").c_str()) != 0) {
    fail("linking failed");
  }
  void *loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) {
    fail(::dlerror());
  }
  int wrong = 0;
  for (const launch::KernelCase &one : cases) {
    const Specialization &special = specials.at(one.kernel + "|" + one.signature + "|" + one.grid);
    const std::string problem = verify(one, special, ::dlsym(loaded, special.symbol.c_str()));
    if (!problem.empty()) {
      fmt::print("{} {}: {}\n", one.kernel, one.name, problem);
      ++wrong;
    }
  }
  fmt::print("{} cases in {} specializations, {} wrong\n", cases.size(), specials.size(), wrong);
  return wrong == 0 && !cases.empty() ? 0 : 1;
}

} // namespace
} // namespace nereid

int main(int argc, char **argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: {} KERNELS RUNTIME.a FOLDER\n", argv[0]);
    return 2;
  }
  return nereid::run(argv[1], argv[2], argv[3]);
}
