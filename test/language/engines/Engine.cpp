// SPDX-License-Identifier: Apache-2.0
#include "test/language/engines/Engine.h"

#include "lib/launch/KernelRunning.h"
#include "lib/pipeline/Target.h"
#include "runtime/ThreadPool.h"
#include "runtime/remote/Runner.h"
#include "test/language/engines/ToyTarget.h"

#include <algorithm>
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
  /// "nvidia:0", or "nvidia:0, num_ctas=2" with options for all kernels.
  explicit Host(const std::string &name)
      : target(name.substr(0, name.find(','))), optionsOfKernel(name.substr(target.size())) {}
  std::string name() const override { return target + optionsOfKernel; }
  std::string run(const pipeline::CompileInput &input, runtime::Grid grid,
                  std::span<const runtime::ArgumentValue> arguments) override {
    Diagnostics diags;
    pipeline::CompileOptions options;
    options.target = target;
    options.useCache = false;
    pipeline::CompileInput own = input;
    own.signature += optionsOfKernel;
    auto kernel = pipeline::compileKernel(own, options, diags);
    if (!kernel) {
      return diags.render();
    }
    return launch::launchHere(*kernel, grid, arguments, runtime::defaultPool()).message;
  }

private:
  std::string target, optionsOfKernel;
};

struct Emulated {
  const char *name;
  const char *target;
  const char *architecture; ///< folder of the runner
  const char *emulator;
};

const Emulated emulations[] = {
#define NEREID_PROCESSOR(NAME, TARGET, ARCHITECTURE, EMULATOR)                                     \
  {NAME, TARGET, ARCHITECTURE, EMULATOR},
#include "test/language/Processors.def"
#undef NEREID_PROCESSOR
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

std::string targetOf(const Emulated &emulated) {
  bool needsHelp =
      std::string_view(emulated.architecture) == "riscv64" && majorVersion("qemu-riscv64") < 8;
  return std::string(emulated.target) + (needsHelp ? "+qemu7" : ""); // it ends at vfcvt.rtz
}

std::string runnerOf(const Emulated &emulated) {
  return std::string(emulated.emulator) + " " + NEREID_BINARY_DIR "/cross/" +
         emulated.architecture + "/nereid-runner";
}

/// "aarch64+sve256" is the first of its names, "aarch64+sve256, 256 bits".
const Emulated *findEmulated(const std::string &name) {
  for (const Emulated &emulated : emulations) {
    if (name == emulated.name) {
      return &emulated;
    }
  }
  for (const Emulated &emulated : emulations) {
    if (std::string_view(emulated.name).starts_with(name + ", ")) {
      return &emulated;
    }
  }
  return nullptr;
}

class Remote final : public Engine {
public:
  explicit Remote(const Emulated &emulated) : emulated(emulated), target(targetOf(emulated)) {}
  std::string name() const override { return emulated.name; }

  /// Empty = started.
  std::string startRunner() {
    auto started = runtime::remote::Runner::start(runnerOf(emulated));
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
  const std::vector<std::string> vendors = pipeline::targetVendors();
  if (std::find(vendors.begin(), vendors.end(), name.substr(0, name.find(':'))) != vendors.end()) {
    auto target = pipeline::findTarget(name.substr(0, name.find(',')));
    problem = target ? "" : target.error().message;
    return target ? std::make_unique<Host>(name) : nullptr;
  }
  if (name == "toy") {
    registerToy();
    return std::make_unique<Host>(name);
  }
  if (const Emulated *emulated = findEmulated(name)) {
    auto engine = std::make_unique<Remote>(*emulated);
    problem = engine->startRunner();
    return problem.empty() ? std::move(engine) : nullptr;
  }
  problem = "unknown engine '" + name + "'; there are " + knownNames();
  return nullptr;
}

std::string Engine::commandLineOptions(const std::string &name) {
  const Emulated *emulated = findEmulated(name);
  return emulated ? "--target\n" + targetOf(*emulated) + "\n--runner\n" + runnerOf(*emulated) : "";
}

std::string Engine::knownNames() {
  std::string names = "interpreter;cpu";
  for (const Emulated &emulated : emulations) {
    names += std::string(";") + emulated.name;
  }
  return names;
}

} // namespace nereid::conformance
