// SPDX-License-Identifier: Apache-2.0
// Code for registers of unknown length runs on several lengths, also longer than it was written
// for; code for AArch64's first version runs on a processor without anything newer.
#include "test/language/Engine.h"

#include "runtime/ThreadPool.h"
#include "runtime/remote/Runner.h"

#include <cstdio>

namespace nereid::conformance {
namespace {

class Interpreter final : public Engine {
public:
  std::string name() const override { return "interpreter"; }
  std::string run(const pipeline::CompileInput &input, runtime::Grid grid,
                  std::span<const runtime::ArgumentValue> arguments) override {
    Diagnostics diags;
    return pipeline::interpretKernel(input, grid, arguments, diags) ? "" : diags.render();
  }
};

class Host final : public Engine {
public:
  std::string name() const override { return "cpu"; }
  std::string run(const pipeline::CompileInput &input, runtime::Grid grid,
                  std::span<const runtime::ArgumentValue> arguments) override {
    Diagnostics diags;
    pipeline::CompileOptions options;
    options.useCache = false;
    auto kernel = pipeline::compileKernel(input, options, diags);
    if (!kernel) {
      return diags.render();
    }
    return runtime::launch(*kernel, grid, arguments, runtime::defaultPool()).message;
  }
};

struct Emulated {
  const char *name;
  const char *target;
  const char *architecture; ///< folder of the runner
  const char *emulator;
};

const Emulated emulations[] = {
    {"aarch64", "cpu:aarch64", "aarch64", "qemu-aarch64 -cpu cortex-a53"},
    {"aarch64+sve, 128 bits", "cpu:aarch64+lse+sve", "aarch64",
     "qemu-aarch64 -cpu max,sve128=on,sve256=off,sve384=off,sve512=off"},
    {"aarch64+sve256, 256 bits", "cpu:aarch64+lse+sve256", "aarch64",
     "qemu-aarch64 -cpu max,sve256=on,sve-default-vector-length=32"},
    {"aarch64+sve256, 512 bits", "cpu:aarch64+lse+sve256", "aarch64",
     "qemu-aarch64 -cpu max,sve512=on,sve-default-vector-length=64"},
    {"rv64gcv, 128 bits", "cpu:rv64gcv", "riscv64",
     "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0"},
    {"rv64gcv, 256 bits", "cpu:rv64gcv", "riscv64",
     "qemu-riscv64 -cpu rv64,v=true,vlen=256,vext_spec=v1.0"},
    {"rv64gcv, 512 bits", "cpu:rv64gcv", "riscv64",
     "qemu-riscv64 -cpu rv64,v=true,vlen=512,vext_spec=v1.0"},
    {"rv64gcv+zvl256b, 512 bits", "cpu:rv64gcv+zvl256b", "riscv64",
     "qemu-riscv64 -cpu rv64,v=true,vlen=512,vext_spec=v1.0"},
};

/// 7 for "qemu-riscv64 version 7.2.22"; 0 when it says nothing.
int majorVersion(const std::string &program) {
  FILE *output = ::popen((program + " --version").c_str(), "r");
  int version = 0;
  if (!output || std::fscanf(output, "%*s version %d", &version) != 1) {
    version = 0;
  }
  if (output) {
    ::pclose(output);
  }
  return version;
}

class Remote final : public Engine {
public:
  explicit Remote(const Emulated &emulated) : emulated(emulated), target(emulated.target) {
    if (std::string_view(emulated.architecture) == "riscv64" && majorVersion("qemu-riscv64") < 8) {
      target += "+qemu7"; // it ends when it meets vfcvt.rtz
    }
  }
  std::string name() const override { return emulated.name; }

  /// Empty = started.
  std::string startRunner() {
    auto started = runtime::remote::Runner::start(std::string(emulated.emulator) + " " +
                                                  NEREID_BINARY_DIR "/cross/" +
                                                  emulated.architecture + "/nereid-runner");
    if (auto *problem = std::get_if<std::string>(&started)) {
      return *problem;
    }
    runner = std::move(std::get<0>(started));
    return "";
  }

  std::string run(const pipeline::CompileInput &input, runtime::Grid grid,
                  std::span<const runtime::ArgumentValue> arguments) override {
    Diagnostics diags;
    pipeline::CompileOptions options;
    options.useCache = false;
    options.target = target;
    auto output = pipeline::compile(input, options, diags);
    if (!output) {
      return diags.render();
    }
    if (!runner) {
      if (std::string problem = startRunner(); !problem.empty()) {
        return problem;
      }
    }
    auto loaded = runner->load(output->info, output->object);
    if (auto *refused = std::get_if<runtime::LaunchError>(&loaded)) {
      return refused->message;
    }
    uint64_t kernel = std::get<uint64_t>(loaded);
    runtime::LaunchError error = runner->launch(kernel, grid, arguments);
    if (error.code == "E0414") {
      runner = nullptr; // the next case gets a process of its own
    } else {
      runner->unload(kernel);
    }
    return error.message;
  }

private:
  const Emulated &emulated;
  std::string target;
  std::unique_ptr<runtime::remote::Runner> runner;
};

} // namespace

std::unique_ptr<Engine> Engine::start(const std::string &name, std::string &problem) {
  if (name == "interpreter") {
    return std::make_unique<Interpreter>();
  }
  if (name == "cpu") {
    return std::make_unique<Host>();
  }
  for (const Emulated &emulated : emulations) {
    if (name == emulated.name) {
      auto engine = std::make_unique<Remote>(emulated);
      problem = engine->startRunner();
      return problem.empty() ? std::move(engine) : nullptr;
    }
  }
  problem = "unknown engine '" + name + "'; there are " + knownNames();
  return nullptr;
}

std::string Engine::knownNames() {
  std::string names = "interpreter;cpu";
  for (const Emulated &emulated : emulations) {
    names += std::string(";") + emulated.name;
  }
  return names;
}

} // namespace nereid::conformance
