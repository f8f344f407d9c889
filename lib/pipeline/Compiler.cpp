// SPDX-License-Identifier: Apache-2.0
// Drives the phase table: which phases run, how long they take, what is dumped, what comes from the
// cache, and what is said when a phase fails without saying why.
#include "lib/pipeline/Compiler.h"

#include "lib/pipeline/KernelCache.h"
#include "lib/pipeline/KernelFunction.h"
#include "lib/pipeline/OutOfMemory.h"
#include "lib/pipeline/Phases.h"
#include "lib/pipeline/Recorder.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"
#include "runtime/cpu/CpuFeatures.h"

#include <chrono>
#include <cstdlib>
#include <set>

namespace nereid::pipeline {
namespace {

class Stopwatch {
public:
  double millis() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

struct PhaseRange {
  int first = 0, last = 0;
};

/// E0392 for unknown names and for a way that does not exist.
std::optional<PhaseRange> phaseRange(const CompileOptions &options, Diagnostics &diags) {
  auto refuse = [&](std::string message, std::string help) {
    diags.add(makeError("E0392", std::move(message)).withHelp(std::move(help)));
    return std::nullopt;
  };
  std::string known;
  for (const Phase &phase : allPhases()) {
    known += (known.empty() ? "" : ", ") + std::string(phase.name);
  }
  PhaseRange range{findPhase(options.from), findPhase(options.to)};
  if (range.first < 0 || range.last < 0) {
    return refuse("unknown phase '" + (range.first < 0 ? options.from : options.to) + "'",
                  "the phases are " + known);
  }
  if (!allPhases()[range.first].read) {
    return refuse("compilation cannot start from phase '" + options.from + "'",
                  "start from one of source, tile, tile-opt, loops, llvm");
  }
  if (range.last < range.first) {
    return refuse("phase '" + options.to + "' comes before '" + options.from + "'",
                  "the order is " + known);
  }
  return range;
}

bool dump(const CompileState &state, int index, Diagnostics &diags) {
  const Phase &phase = allPhases()[index];
  std::string kernel = state.input.function;
  if (state.kernel) {
    kernel = state.kernel->function->name;
  }
  std::string path = state.options.dumpTo + "/" + (kernel.empty() ? "kernel" : kernel) + "-" +
                     std::to_string(index) + "-" + phase.name + phase.extension;
  const std::string_view object(reinterpret_cast<const char *>(state.object.data()),
                                state.object.size());
  Status written =
      phase.print ? writeOwnFile(path, phase.print(state)) : writeOwnFile(path, object);
  if (!written) {
    diags.add(written.error());
  }
  return static_cast<bool>(written);
}

bool isErrorIn(const Diagnostics &diags, size_t first) {
  for (size_t i = first; i < diags.all().size(); ++i) {
    if (diags.all()[i].severity == Severity::Error) {
      return true;
    }
  }
  return false;
}

/// Saves the input of the phase that failed, made again from the start, and returns its path.
std::string writeReproducer(const CompileState &state, int failed) {
  std::string text = state.inputText;
  const Phase *input = &allPhases()[findPhase(state.options.from)];
  for (int i = failed - 1; i > findPhase(state.options.from); --i) {
    if (allPhases()[i].isSideExit) {
      continue;
    }
    CompileOptions options = state.options;
    options.to = allPhases()[i].name;
    options.dumpTo.clear();
    Diagnostics ignored;
    if (auto output = compile(state.input, options, ignored)) {
      text = output->text;
      input = &allPhases()[i];
    }
    break;
  }
  std::string folder = cacheDirectory();
  if (folder.empty() || !createFolders(folder)) {
    const char *temporary = std::getenv("TMPDIR");
    folder = temporary && *temporary ? temporary : "/tmp";
  }
  std::string path = folder + "/nereid-" + allPhases()[failed].name + "-" +
                     toHex(sha256(text)).substr(0, 12) + input->extension;
  return writeFileAtomically(path, text) ? path : std::string();
}

/// A phase failed: either it said why, or it is our own bug.
void explainFailure(const CompileState &state, int index, size_t firstDiagnostic) {
  bool isInternal = !isErrorIn(state.diags, firstDiagnostic);
  for (size_t i = firstDiagnostic; i < state.diags.all().size(); ++i) {
    isInternal |= state.diags.all()[i].code == "E0390";
  }
  if (!isInternal) {
    return;
  }
  std::string name = allPhases()[index].name;
  Diagnostic error = makeError("E0390", "phase '" + name + "' failed on this kernel");
  error.file = state.input.path;
  std::string path = writeReproducer(state, index);
  if (!path.empty()) {
    error.note("its input is in '" + path + "'");
  }
  error.note("kernel '" + state.input.function + "' for '" + state.input.signature + "', target '" +
             state.target->name() + "'");
  error.withHelp("this is a bug in nereid; please report it with that file");
  state.diags.add(std::move(error));
}

bool runEach(CompileState &state, std::optional<Session> &session, PhaseRange range,
             std::vector<PhaseTime> &times) {
  if (!state.options.dumpTo.empty()) {
    if (Status made = createFolders(state.options.dumpTo); !made) {
      state.diags.add(made.error());
      return false;
    }
  }
  std::optional<DiagnosticCapture> capture;
  for (int i = range.first; i <= range.last; ++i) {
    const Phase &phase = allPhases()[i];
    if (phase.isSideExit && i != range.last) {
      continue;
    }
    if (!session && phase.read != readSource) {
      session.emplace(state.target);
      state.session = &*session;
      capture.emplace(session->context(), state.options.from == "source" ? "E0390" : "E0391",
                      state.input.path, state.inputText, state.diags);
    }
    size_t firstDiagnostic = state.diags.all().size();
    Stopwatch watch;
    bool succeeded = i == range.first ? phase.read(state) : phase.run(state);
    times.push_back({phase.name, watch.millis()});
    if (!succeeded) {
      explainFailure(state, i, firstDiagnostic);
      return false;
    }
    if (!state.options.dumpTo.empty() && !dump(state, i, state.diags)) {
      return false;
    }
  }
  if (state.module && !state.code) {
    state.info = readKernelInfo(kernelFunctions(*state.module).front());
  }
  state.info.features = state.target->features();
  const Phase &last = allPhases()[range.last];
  if (last.print) {
    state.printed = last.print(state);
  }
  return true;
}

/// Runs the phases of `range` on state.inputText.
bool runPhases(CompileState &state, PhaseRange range, std::vector<PhaseTime> &times) {
  const ReportingNew reporting;
  std::optional<Session> session; // parsing alone needs none
  bool succeeded = runEach(state, session, range, times);
  state.module = {}; // before its context goes to the next compilation
  state.session = nullptr;
  return succeeded;
}

} // namespace

/// A file that was looked for and is absent decided as well, but cannot be listed as one.
static std::vector<std::string> sourcesOf(const CompileInput &input,
                                          const std::vector<language::FileState> &dependencies) {
  std::set<std::string> paths;
  if (!input.source) {
    paths.insert(language::absolutePath(input.path));
  }
  for (const language::FileState &file : dependencies) {
    if (file.digest != language::absentFile) {
      paths.insert(file.path);
    }
  }
  return {paths.begin(), paths.end()};
}

Result<std::string> sourceText(const CompileInput &input) {
  return input.kernel   ? Result<std::string>(input.kernel->text)
         : input.source ? Result<std::string>(*input.source)
                        : readTextFile(input.path);
}

std::optional<CompileOutput> compile(const CompileInput &input, const CompileOptions &options,
                                     Diagnostics &diags) {
  std::optional<PhaseRange> range = phaseRange(options, diags);
  if (!range) {
    return std::nullopt;
  }
  Result<Target *> target = findTarget(options.target);
  if (!target) {
    diags.add(target.error());
    return std::nullopt;
  }
  Result<std::string> text = sourceText(input);
  if (!text) {
    diags.add(text.error());
    return std::nullopt;
  }
  if (Status recorded = recordKernel(input, *text); !recorded) {
    diags.add(recorded.error());
    return std::nullopt;
  }

  CompileOutput output;
  bool isCached = options.useCache && options.from == "source" && options.to == "object" &&
                  options.dumpTo.empty() && !options.verifyEach;
  std::string key;
  if (isCached) {
    Stopwatch watch;
    key = kernelCacheKey(*text, input, (*target)->name());
    if (auto cached = findCachedKernel(key, input)) {
      output.info = std::move(cached->info);
      output.object = std::move(cached->object);
      output.fromCache = true;
      output.sources = sourcesOf(input, cached->dependencies);
      output.times.push_back({"cache", watch.millis()});
      return output;
    }
  }

  CompileState state{.input = input, .options = options, .diags = diags, .target = *target};
  state.inputText = std::move(*text);
  if (!runPhases(state, *range, output.times)) {
    return std::nullopt;
  }
  output.sources = sourcesOf(input, state.dependencies);
  output.specialization = state.kernel ? state.kernel->specialization : std::string();
  output.text = std::move(state.printed);
  output.object = std::move(state.object);
  output.info = std::move(state.info);
  if (isCached) {
    storeCachedKernel(key, input, {output.info, output.object, state.dependencies});
  }
  return output;
}

/// E0305 when the code needs what this machine does not have.
static std::optional<Diagnostic> foreignCode(const runtime::KernelInfo &info,
                                             const std::string &target) {
  std::string missing;
  for (const std::string &feature : runtime::missingCpuFeatures(info.features)) {
    missing += (missing.empty() ? "'" : ", '") + feature + "'";
  }
  if (missing.empty()) {
    return std::nullopt;
  }
  return makeError("E0305", "kernel '" + info.name + "' is compiled for '" + target +
                                "' and needs " + missing + ", which this " +
                                std::string(runtime::cpuArchitecture()) + " machine lacks")
      .withHelp("compile for 'cpu', which is this machine");
}

std::string staticOutput(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &diagnostic : diags.all()) {
    text += diagnostic.code == "R0201" ? diagnostic.message + "\n" : "";
  }
  return text;
}

std::optional<runtime::Kernel> compileKernel(const CompileInput &input,
                                             const CompileOptions &options, Diagnostics &diags) {
  CompileOptions wanted = options;
  wanted.to = "object";
  // A second try without the cache: an entry may be intact and still not loadable.
  for (bool isRetry : {false, true}) {
    wanted.useCache = options.useCache && !isRetry;
    std::optional<CompileOutput> output = compile(input, wanted, diags);
    if (!output) {
      return std::nullopt;
    }
    std::fputs(staticOutput(diags).c_str(), stdout);
    if (auto refused = foreignCode(output->info, (*findTarget(options.target))->name())) {
      diags.add(std::move(*refused));
      return std::nullopt;
    }
    auto loaded = runtime::loadObject(output->object);
    auto *code = std::get_if<std::shared_ptr<runtime::LoadedCode>>(&loaded);
    void *entry = code ? (*code)->symbol(output->info.name) : nullptr;
    if (entry) {
      runtime::Kernel kernel;
      kernel.info = std::move(output->info);
      kernel.code = *code;
      kernel.entry = reinterpret_cast<runtime::KernelEntry>(entry);
      return kernel;
    }
    if (!output->fromCache) {
      std::string reason =
          code ? "it has no symbol '" + output->info.name + "'" : std::get<std::string>(loaded);
      diags.add(makeError("E0390", "the compiled kernel cannot be loaded: " + reason)
                    .withHelp("this is a bug in nereid; please report it"));
      return std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace nereid::pipeline
