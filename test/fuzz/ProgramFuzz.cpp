// SPDX-License-Identifier: Apache-2.0
// Random programs, interpreter against CPU target, to the last bit. A difference is minimised by
// dropping statements and written to a file; the exit status is then 1.
//   program_fuzz [--count N] [--seed S] [--target T] [--runner COMMAND] [--out DIR] [--print]
#include "lib/pipeline/Compiler.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "runtime/Tensor.h"
#include "runtime/ThreadPool.h"
#include "runtime/remote/Runner.h"
#include "test/fuzz/ProgramWriter.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstring>

namespace nereid::fuzz {
namespace {

using runtime::Tensor;

struct Inputs {
  Tensor integers = Tensor::empty({inputElements}, DType::I32);
  Tensor reals = Tensor::empty({inputElements}, DType::F32);
  explicit Inputs(uint64_t seed) {
    runtime::fillIntegers(integers, seed, -1000, 1000);
    runtime::fillIntegers(reals, seed + 1, -64, 65);
  }
};

enum class Verdict : uint8_t { Same, Different, Refused };

struct Outcome {
  Verdict verdict = Verdict::Same;
  std::string text;
};

/// Where compiled programs run.
struct Machine {
  std::string target = "cpu";
  std::unique_ptr<runtime::remote::Runner> runner; ///< null = this process

  /// Empty = ran, and `diags` has no errors; else what refused it.
  std::string run(const pipeline::CompileInput &input,
                  std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags) const {
    pipeline::CompileOptions options;
    options.target = target;
    options.useCache = false;
    if (!runner) {
      auto kernel = pipeline::compileKernel(input, options, diags);
      return kernel ? runtime::launch(*kernel, {1, 1, 1}, arguments, runtime::defaultPool()).message
                    : diags.render();
    }
    auto output = pipeline::compile(input, options, diags);
    if (!output) {
      return diags.render();
    }
    auto loaded = runner->load(output->info, output->object);
    if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
      return error->message;
    }
    const uint64_t kernel = std::get<uint64_t>(loaded);
    const runtime::LaunchError error = runner->launch(kernel, {1, 1, 1}, arguments);
    runner->unload(kernel);
    return error.message;
  }
};

Outcome compareEngines(const std::string &source, const Inputs &inputs, const Machine &machine) {
  pipeline::CompileInput input{"program.py", "kernel", signature, source};
  Tensor expected = Tensor::empty({outputElements}, DType::I64);
  Tensor actual = Tensor::empty({outputElements}, DType::I64);
  expected.poison();
  actual.poison();
  Diagnostics diags;
  auto arguments = [&](const Tensor &out) {
    return std::vector<runtime::ArgumentValue>{&inputs.integers, &inputs.reals, &out, int64_t{7},
                                               int64_t{11}};
  };
  if (std::string refused = machine.run(input, arguments(actual), diags); !refused.empty()) {
    return {Verdict::Refused, refused};
  }
  if (!pipeline::interpretKernel(input, {1, 1, 1}, arguments(expected), diags)) {
    return {Verdict::Refused, diags.render()};
  }
  for (int64_t i = 0; i < outputElements; ++i) {
    if (expected.as<int64_t>()[i] != actual.as<int64_t>()[i]) {
      return {Verdict::Different,
              fmt::format("OUT[{}]: the interpreter has {}, {} has {}", i,
                          expected.as<int64_t>()[i], machine.target, actual.as<int64_t>()[i])};
    }
  }
  return {};
}

/// The same verdict with as few statements as possible.
Program minimised(Program program, Verdict verdict, const Inputs &inputs, const Machine &machine) {
  for (bool hasShrunk = true; hasShrunk;) {
    hasShrunk = false;
    for (size_t i = program.statements.size(); i-- > 0;) {
      Program smaller = program;
      smaller.statements.erase(smaller.statements.begin() + static_cast<ptrdiff_t>(i));
      if (compareEngines(smaller.source(), inputs, machine).verdict == verdict &&
          verdict == Verdict::Different) {
        program = std::move(smaller);
        hasShrunk = true;
      }
    }
  }
  return program;
}

int run(uint64_t seed, int64_t count, const Machine &machine, const std::string &folder,
        bool print) {
  int failures = 0;
  for (int64_t i = 0; i < count; ++i, ++seed) {
    Program program = writeProgram(seed);
    Inputs inputs(seed);
    if (print) {
      fmt::print("{}", program.source());
    }
    Outcome outcome = compareEngines(program.source(), inputs, machine);
    if (outcome.verdict == Verdict::Same) {
      continue;
    }
    ++failures;
    Program small = minimised(program, outcome.verdict, inputs, machine);
    outcome = compareEngines(small.source(), inputs, machine);
    std::string path = fmt::format("{}/program-{}.py", folder, seed);
    std::string text = fmt::format("# seed {}: {}\n{}", seed,
                                   outcome.text.substr(0, outcome.text.find('\n')), small.source());
    (void)createFolders(folder);
    (void)writeFileAtomically(path, text);
    fmt::print("seed {}: {}\n{}\n", seed, outcome.text, path);
    if (failures >= 20) {
      break;
    }
  }
  fmt::print("{} programs, {} failures\n", count, failures);
  return failures == 0 ? 0 : 1;
}

} // namespace
} // namespace nereid::fuzz

int main(int argc, char **argv) {
  nereid::cpu::registerCpuTarget();
  uint64_t seed = 1;
  int64_t count = 1000;
  std::string target = "cpu", runner, folder = "fuzz";
  bool print = false;
  CLI::App app{"random kernels, interpreter against a target"};
  app.add_option("--seed", seed, "of the first program");
  app.add_option("--count", count, "programs");
  app.add_option("--target", target, "cpu, cpu:x86-64-v3, …");
  app.add_option("--runner", runner, "where programs run: a command that starts nereid-runner");
  app.add_option("--out", folder, "folder for programs that fail");
  app.add_flag("--print", print, "show every program");
  CLI11_PARSE(app, argc, argv);
  nereid::fuzz::Machine machine{target, nullptr};
  if (!runner.empty()) {
    auto started = nereid::runtime::remote::Runner::start(runner);
    if (const auto *problem = std::get_if<std::string>(&started)) {
      fmt::print(stderr, "{}\n", *problem);
      return 2;
    }
    machine.runner = std::move(std::get<0>(started));
  }
  return nereid::fuzz::run(seed, count, machine, folder, print);
}
