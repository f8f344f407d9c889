// SPDX-License-Identifier: Apache-2.0
// Drives the phase table: which phases run, how long they take, what is dumped, what comes from the
// cache, and what is said when a phase fails without saying why.
#include "lib/pipeline/Compiler.h"

#include "lib/language/host/KernelDecorators.h"
#include "lib/pipeline/KernelCache.h"
#include "lib/pipeline/OutOfMemory.h"
#include "lib/pipeline/Phases.h"
#include "lib/pipeline/Recorder.h"
#include "lib/pipeline/kernel/FittingConfigs.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"
#include "runtime/Device.h"
#include "runtime/cpu/CpuFeatures.h"

#include "mlir/IR/Verifier.h"

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

/// The phases that one compilation goes through.
struct Way {
  std::vector<Phase> phases; ///< all of the target's
  int first = 0, last = 0;   ///< numbers in `phases`
  bool isWhole() const { return first == 0 && last + 1 == static_cast<int>(phases.size()); }
};

/// "source, tile, …": all phases, or those that can be fed back in.
std::string listed(std::span<const Phase> phases, bool readable) {
  std::string text;
  for (const Phase &phase : phases) {
    if (phase.read || !readable) {
      text += (text.empty() ? "" : ", ") + std::string(phase.name);
    }
  }
  return text;
}

/// E0392 for unknown names and for a way that does not exist.
Result<Way> findWay(const Target &target, const std::string &from, const std::string &to) {
  Way way{phasesOf(target)};
  way.first = findPhase(way.phases, from);
  way.last = to.empty() ? static_cast<int>(way.phases.size()) - 1 : findPhase(way.phases, to);
  if (way.first < 0 || way.last < 0) {
    const std::string &unknown = way.first < 0 ? from : to;
    Diagnostic error = makeError("E0392", "unknown phase '" + unknown + "'");
    std::vector<std::string> names;
    for (const Phase &phase : way.phases) {
      names.emplace_back(phase.name);
    }
    if (auto near = nearestNames(unknown, names); !near.empty()) {
      error.note("nearest phase: '" + near[0] + "'");
    }
    return error.withHelp("the phases of target '" + target.name() + "' are " +
                          listed(way.phases, /*readable=*/false));
  }
  if (!way.phases[way.first].read) {
    return makeError("E0392", "compilation cannot start from phase '" + from + "'")
        .withHelp("start from one of " + listed(way.phases, /*readable=*/true));
  }
  if (way.last < way.first) {
    return makeError("E0392", "phase '" + to + "' comes before '" + from + "'")
        .withHelp("the order is " + listed(way.phases, /*readable=*/false));
  }
  return way;
}

bool dump(const CompileState &state, const Way &way, int index, Diagnostics &diags) {
  const Phase &phase = way.phases[index];
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
std::string writeReproducer(const CompileState &state, const Way &way, int failed) {
  std::string text = state.inputText;
  const Phase *input = &way.phases[way.first];
  for (int i = failed - 1; i > way.first; --i) {
    if (way.phases[i].isSideExit) {
      continue;
    }
    CompileOptions options = state.options;
    options.to = way.phases[i].name;
    options.dumpTo.clear();
    Diagnostics ignored;
    if (auto output = compile(state.input, options, ignored)) {
      text = output->text;
      input = &way.phases[i];
    }
    break;
  }
  std::string folder = cacheDirectory();
  if (folder.empty() || !createFolders(folder)) {
    const char *temporary = std::getenv("TMPDIR");
    folder = temporary && *temporary ? temporary : "/tmp";
  }
  std::string path = folder + "/nereid-" + way.phases[failed].name + "-" +
                     toHex(sha256(text)).substr(0, 12) + input->extension;
  return writeFileAtomically(path, text) ? path : std::string();
}

/// A phase failed: either it said why, or it is our own bug.
void explainFailure(const CompileState &state, const Way &way, int index, size_t firstDiagnostic) {
  bool isInternal = !isErrorIn(state.diags, firstDiagnostic);
  for (size_t i = firstDiagnostic; i < state.diags.all().size(); ++i) {
    isInternal |= state.diags.all()[i].code == "E0390";
  }
  if (!isInternal) {
    return;
  }
  std::string name = way.phases[index].name;
  Diagnostic error = makeError("E0390", "phase '" + name + "' failed on this kernel");
  error.file = state.input.path;
  std::string path = writeReproducer(state, way, index);
  if (!path.empty()) {
    error.note("its input is in '" + path + "'");
  }
  error.note("kernel '" + state.input.function + "' for '" + state.input.signature + "', target '" +
             state.target->name() + "'");
  error.withHelp("this is a bug in nereid; please report it with that file");
  state.diags.add(std::move(error));
}

/// Of what was read, or of what a phase left.
bool verifyOutput(CompileState &state, const Phase &phase, bool isRead) {
  const bool isMlir = state.module && !state.code;
  return (isRead || !isMlir || succeeded(mlir::verify(*state.module))) &&
         (!phase.verify || phase.verify(state));
}

bool runEach(CompileState &state, std::optional<Session> &session, const Way &way,
             std::vector<PhaseTime> &times) {
  if (!state.options.dumpTo.empty()) {
    if (Status made = createFolders(state.options.dumpTo); !made) {
      state.diags.add(made.error());
      return false;
    }
  }
  std::optional<DiagnosticCapture> capture;
  for (int i = way.first; i <= way.last; ++i) {
    const Phase &phase = way.phases[i];
    if (phase.isSideExit && i != way.last) {
      continue;
    }
    if (!session && phase.read != readSource) {
      session.emplace(state.target);
      state.session = &*session;
      capture.emplace(session->context(), state.options.from == "source" ? "E0390" : "E0391",
                      state.input.path, state.inputText, state.options.remarks, state.diags);
    }
    size_t firstDiagnostic = state.diags.all().size();
    Stopwatch watch;
    const bool isRead = i == way.first;
    bool succeeded = isRead ? phase.read(state) : phase.run(state);
    if (succeeded && (isRead || state.options.verifyEach)) {
      succeeded = verifyOutput(state, phase, isRead);
    }
    if (succeeded && state.options.remarks && phase.remark) {
      phase.remark(state);
    }
    times.push_back({phase.name, watch.millis()});
    if (!succeeded) {
      explainFailure(state, way, i, firstDiagnostic);
      return false;
    }
    if (!state.options.dumpTo.empty() && !dump(state, way, i, state.diags)) {
      return false;
    }
  }
  if (state.module && !state.code) {
    state.info = readKernelInfo(kernelFunctions(*state.module).front());
  }
  state.info.features = state.target->features();
  if (state.options.layouts) {
    state.layouts = state.target->layouts(state);
  }
  const Phase &last = way.phases[way.last];
  if (last.print) {
    state.printed = last.print(state);
  }
  return true;
}

/// Runs the phases of `way` on state.inputText.
bool runPhases(CompileState &state, const Way &way, std::vector<PhaseTime> &times) {
  const ReportingNew reporting;
  std::optional<Session> session; // parsing alone needs none
  bool succeeded = runEach(state, session, way, times);
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

/// Targets place what they refuse by file and line; every diagnostic carries the line itself.
static void quoteLines(CompileState &state) {
  Diagnostics quoted;
  for (Diagnostic one : state.diags.all()) {
    if (one.range.line > 0 && one.lineText.empty()) {
      const std::string file = one.file;
      if (auto text = file == state.input.path ? sourceText(state.input) : readTextFile(file)) {
        one.at(file, *text, one.range);
      }
    }
    quoted.add(std::move(one));
  }
  state.diags = std::move(quoted);
}

/// Adds to E0501 what near the kernel's sizes fits, as far as the phase that has refused them.
static void tellFitting(CompileState &state, const std::string &phase) {
  constexpr double mostMillis = 5000;
  const Stopwatch watch;
  Diagnostics told;
  for (Diagnostic one : state.diags.all()) {
    if (one.code == "E0501") {
      const SourceKernel &kernel = *state.kernel;
      const auto fits = [&](const language::Signature &signature) -> std::optional<bool> {
        if (watch.millis() > mostMillis) {
          return std::nullopt;
        }
        CompileInput input = state.input;
        input.kernel = nullptr;
        input.source = kernel.text;
        input.signature = signature.text();
        CompileOptions options = state.options;
        options.to = phase;
        options.dumpTo.clear();
        options.useCache = options.findsFitting = false;
        Diagnostics ignored;
        return compile(input, options, ignored).has_value();
      };
      const std::string text =
          fittingText(kernel.signature, readDecorators(*kernel.module, *kernel.function).configs,
                      !state.target->layoutPhase().empty(), fits);
      one.help += text.empty() ? "" : (one.help.empty() ? "" : ": ") + text;
    }
    told.add(std::move(one));
  }
  state.diags = std::move(told);
}

std::optional<CompileOutput> compile(const CompileInput &input, const CompileOptions &options,
                                     Diagnostics &diags) {
  Result<Target *> target = findTarget(options.target, options.chip);
  if (!target) {
    diags.add(target.error());
    return std::nullopt;
  }
  if (options.layouts && (*target)->layoutPhase().empty()) {
    diags.add(makeError("E0310", "a program of target '" + (*target)->name() +
                                     "' is one thread, and its tiles have no layouts")
                  .withHelp("name a target whose programs have threads, such as a GPU"));
    return std::nullopt;
  }
  Result<Way> way = findWay(**target, options.from,
                            options.layouts ? std::string((*target)->layoutPhase()) : options.to);
  if (!way) {
    diags.add(way.error());
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
  const bool isCached = options.useCache && way->isWhole() && options.dumpTo.empty() &&
                        !options.verifyEach && !options.remarks;
  std::string key;
  if (isCached) {
    Stopwatch watch;
    key = kernelCacheKey(*text, input, (*target)->name());
    if (auto cached = findCachedKernel(key, input)) {
      output.info = std::move(cached->info);
      output.object = std::move(cached->object);
      if (way->phases.back().print) {
        output.text.assign(output.object.begin(), output.object.end());
      }
      output.fromCache = true;
      output.sources = sourcesOf(input, cached->dependencies);
      output.times.push_back({"cache", watch.millis()});
      return output;
    }
  }

  CompileState state{.input = input, .options = options, .diags = diags, .target = *target};
  state.inputText = std::move(*text);
  if (!runPhases(state, *way, output.times)) {
    quoteLines(state);
    if (options.findsFitting && state.kernel) {
      tellFitting(state, output.times.back().phase);
    }
    return std::nullopt;
  }
  output.sources = sourcesOf(input, state.dependencies);
  output.specialization = state.kernel ? state.kernel->specialization : std::string();
  output.text = std::move(state.printed);
  output.object = std::move(state.object);
  output.layouts = std::move(state.layouts);
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

/// What the code is loaded on, by default the device that names the target, else the first one of
/// its kind. E0415 when there
/// is none, E0416 when it is of another kind, E0305 when this host does not run the code; other
/// devices say when they load it.
static Result<runtime::Device *> deviceOf(const runtime::KernelInfo &info,
                                          const CompileOptions &options) {
  const std::string &target = options.target;
  const std::string kind = target.substr(0, target.find(':'));
  Result<runtime::Device *> found =
      options.device.empty() ? deviceFor(target) : deviceNamed(options.device);
  if (!found) {
    return found;
  }
  runtime::Device *device = *found;
  if (device->kind() != kind) {
    return makeError("E0416", "code for target '" + target + "' expects a device of kind '" + kind +
                                  "', but got '" + device->name() + "'")
        .withHelp("compile for the target '" + device->kind() + "'");
  }
  if (device->isHost()) {
    if (auto refused = foreignCode(info, target)) {
      return std::move(*refused);
    }
  }
  return device;
}

std::optional<runtime::Kernel> compileKernel(const CompileInput &input,
                                             const CompileOptions &options, Diagnostics &diags) {
  CompileOptions wanted = options;
  wanted.to.clear();
  // A second try without the cache: an entry may be intact and still not loadable.
  for (bool isRetry : {false, true}) {
    wanted.useCache = options.useCache && !isRetry;
    std::optional<CompileOutput> output = compile(input, wanted, diags);
    if (!output) {
      return std::nullopt;
    }
    std::fputs(staticOutput(diags).c_str(), stdout);
    Result<runtime::Device *> device = deviceOf(output->info, options);
    if (!device) {
      diags.add(device.error());
      return std::nullopt;
    }
    auto loaded = (*device)->load(output->object);
    auto *code = std::get_if<std::shared_ptr<runtime::Module>>(&loaded);
    void *entry = code ? (*code)->symbol(output->info.name) : nullptr;
    if (entry) {
      runtime::Kernel kernel;
      kernel.info = std::move(output->info);
      kernel.code = *code;
      kernel.entry = reinterpret_cast<runtime::KernelEntry>(entry);
      return kernel;
    }
    const runtime::LaunchError error =
        code ? runtime::LaunchError{"E0390", "it has no symbol '" + output->info.name + "'"}
             : std::get<runtime::LaunchError>(std::move(loaded));
    const bool isOurs = error.code == "E0390"; // all else is of the device, whatever code it is
    if (!isOurs || !output->fromCache) {
      Diagnostic refused = makeError(error.code, "the compiled kernel '" + output->info.name +
                                                     "' cannot be loaded on '" + (*device)->name() +
                                                     "': " + error.message);
      diags.add(isOurs ? refused.withHelp("this is a bug in nereid; please report it") : refused);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace nereid::pipeline
