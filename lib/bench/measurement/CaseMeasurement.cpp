// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/CaseMeasurement.h"

#include "lib/bench/measurement/CasePeer.h"
#include "lib/bench/measurement/ForeignLaunch.h"
#include "lib/bench/measurement/KernelLaunch.h"
#include "lib/bench/measurement/Measurement.h"
#include "lib/bench/measurement/OutputReset.h"
#include "lib/language/IntegerExpression.h"
#include "lib/launch/CaseReference.h"
#include "lib/launch/KernelRunning.h"
#include "lib/launch/LostDevice.h"
#include "lib/launch/PreparedCase.h"
#include "lib/measure/PeakMemory.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/support/FirstError.h"
#include "lib/support/Interrupt.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;
using launch::PreparedKernel;

namespace {

Result<double> evaluate(const std::string &what, const std::string &text,
                        const KernelArguments &arguments) {
  if (text.empty()) {
    return 0.0;
  }
  auto value = language::evaluateInteger(what, text, arguments.integers);
  if (!value) {
    return value.error();
  }
  return static_cast<double>(*value);
}

/// The launch's threads are awake behind it, whatever ran before.
void wakeThreads() {
  runtime::ThreadPool &pool = runtime::defaultPool();
  pool.parallelFor(pool.threadCount(), 1, [](int64_t, int64_t, int) {});
}

/// Runs for longer than the threads of any other library keep spinning.
void repeatUntilAlone(const std::function<void()> &run) {
  constexpr double longestSpin = 500e-6;
  const measure::Clock clock = measure::steadyClock();
  const double end = clock() + longestSpin;
  do {
    run();
  } while (clock() < end);
}

/// The case's largest input that no launch changes and that can be copied as one piece; null =
/// none.
const runtime::Tensor *largestInput(const KernelCase &one, const KernelArguments &arguments) {
  const runtime::Tensor *largest = nullptr;
  const std::set<std::string> changed = changedNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (!changed.contains(name) && tensor.isContiguous() &&
        (!largest || tensor.byteCount() > largest->byteCount())) {
      largest = &tensor;
    }
  }
  return largest;
}

/// Whether the kernel runs on this processor, in whatever way.
bool runsHere(const PreparedKernel &kernel) {
  const runtime::Kernel &compiled = kernel.compiled();
  return !compiled.code || compiled.code->device().isHost();
}

/// What speaks against a time on another device: the rates of the descriptor that its code was
/// shaped for, else those that were calibrated there, if they were.
Result<Machine> chipOfDevice(const PreparedKernel &kernel, const launch::Execution &execution) {
  Result<Machine> chip = execution.chip.empty()
                             ? Result(measure::deviceChip(kernel.compiled().code->device()))
                             : loadMachine(execution.chip);
  if (chip) {
    chip->isDevice = true;
  }
  return chip;
}

/// One launch on threads of its own, so that their scratch memory counts; the outputs must be
/// resident.
std::optional<uint64_t> memoryOf(const PreparedKernel &kernel, runtime::Grid grid,
                                 const KernelArguments &arguments) {
  auto values = arguments.values();
  return measure::peakGrowth([&] {
    runtime::ThreadPool pool(runtime::defaultPool().threadCount());
    (void)launch::launchHere(kernel.compiled(), grid, values, pool);
  });
}

/// The type of all tensors whose arithmetic may be quickest.
DType peakTypeOf(const KernelArguments &arguments, const Machine &chip) {
  DType quickest = DType::F32;
  for (const auto &[name, tensor] : arguments.tensors) {
    const DType own = measure::peakType(chip, tensor.dtype());
    // A machine without a peak of its own for doubles computes them at most as quickly as floats.
    quickest = chip.peakFor(own) > chip.peakFor(quickest) ? own : quickest;
  }
  return quickest;
}

/// The tensors of a case, its peer and what is timed on them.
class Measuring {
public:
  Measuring(const KernelCase &one, const KernelMeasurement &how, const Machine &chip,
            Diagnostics &diags)
      : one(one), how(how), chip(&chip), diags(diags) {}

  /// Compiled, launched once and right, with its peers: ready to be timed, unless `bench` has a
  /// failure. False with errors in `diags`.
  bool begin();
  bool isReady() const { return bench.row.failure.empty(); }
  bool hasPeer() const { return peer.has_value(); }
  /// By a launch that failed.
  bool isDeviceLost() const {
    return !isReady() && !bench.isHere && launch::isDeviceLost(prepared->kernel.compiled());
  }
  /// `isBesidePeers`: libraries of this processor are timed in the same turns.
  Contestant contestant(bool isBesidePeers) { return {&bench, {timedKernel(isBesidePeers)}}; }
  const Machine &chipOfCase() const { return *chip; }
  /// With the times, if it was timed.
  KernelRow finish(const std::vector<Row> &timed);

private:
  bool prepare();
  bool fillWork();
  void findPeer();
  /// Adds the peer; one that cannot be had here is told and left out. `note` is of an error.
  template <class Peer>
  bool keep(Result<Peer> made, std::vector<Peer> &peers, const std::string &note = "");
  /// Those of the case that this machine and the target have.
  bool findForeign();
  bool findForms();
  std::string verifyPeers() const;
  /// Makes the outputs, and the peer's, what they are before a launch.
  bool reset();
  /// The first launch, whose results are compared; false with errors in `diags`.
  bool tryOut();
  std::string compare() const;
  TimedLaunch timedKernel(bool isBesidePeers) const;
  void addVersions();
  DeviceLaunch deviceLaunch() const;
  bool fail(const Diagnostic &error) {
    diags.add(error);
    return false;
  }

  const KernelCase &one;
  const KernelMeasurement &how;
  const Machine *chip;
  std::optional<Machine> chipElsewhere; ///< of another device than this processor
  Diagnostics &diags;
  std::optional<launch::PreparedCase> prepared;
  std::optional<measure::Peer> peer;
  std::vector<std::unique_ptr<ForeignLaunch>> foreign;
  std::vector<FormPeer> forms;
  Bench bench;
};

bool Measuring::fillWork() {
  Row &row = bench.row;
  for (const auto &[what, text, value] :
       {std::tuple("bytes", &one.bytes, &row.bytes), std::tuple("flops", &one.flops, &row.flops),
        std::tuple("unfused_bytes", &one.unfusedBytes, &row.unfusedBytes)}) {
    auto number = evaluate(what, *text, prepared->arguments);
    if (!number) {
      return fail(number.error());
    }
    *value = *number;
  }
  row.caseName = one.name;
  row.peakType = peakTypeOf(prepared->arguments, *chip);
  row.isBeyondCache = row.bytes > static_cast<double>(chip->lastCacheBytes());
  return true;
}

void Measuring::findPeer() {
  if (!how.hasPeers) {
    return;
  }
  peer = peerOf(one, prepared->arguments);
  if (peer) {
    peer->run();
    peer.reset();
    bench.row.peerMemory = memoryOfPeer(one, prepared->arguments);
    peer = peerOf(one, prepared->arguments);
  }
}

template <class Peer>
bool Measuring::keep(Result<Peer> made, std::vector<Peer> &peers, const std::string &note) {
  if (made) {
    peers.push_back(std::move(*made));
  } else if (isPeerMissing(made.error())) {
    made.error().severity = Severity::Warning;
    diags.add(made.error());
  } else {
    return fail(note.empty() ? made.error() : made.error().note(note));
  }
  return true;
}

bool Measuring::findForeign() {
  return !how.hasPeers ||
         std::all_of(one.foreignPeers.begin(), one.foreignPeers.end(), [&](const auto &asked) {
           return keep(ForeignLaunch::make(one, asked, *prepared, how.execution), foreign);
         });
}

bool Measuring::findForms() {
  if (!how.hasPeers || !how.makeForm) {
    return true;
  }
  runtime::Device *device = bench.isHere ? nullptr : &prepared->kernel.compiled().code->device();
  return std::all_of(one.forms.begin(), one.forms.end(), [&](launch::ReferenceForm asked) {
    auto what = launch::formOperator(one, prepared->arguments);
    return keep(what ? how.makeForm({asked, std::move(*what), how.execution, *chip, device})
                     : Result<FormPeer>(what.error()),
                forms,
                fmt::format("it is the peer '{}' of case '{}'", launch::formName(asked), one.name));
  });
}

std::string Measuring::verifyPeers() const {
  auto wrongOf = [](const std::string &name, const std::string &wrong) {
    return wrong.empty() ? "" : "peer " + name + ": " + wrong;
  };
  std::string wrong;
  for (const auto &launch : foreign) {
    wrong = wrong.empty() ? wrongOf(launch->timed().name, launch->verify()) : wrong;
  }
  for (const FormPeer &form : forms) {
    wrong = wrong.empty() ? wrongOf(form.timed.name, form.verify()) : wrong;
  }
  return wrong;
}

bool Measuring::prepare() {
  auto made = launch::prepareCase(one, how.execution, diags);
  if (!made) {
    return diags.hasErrors() ? false : fail(made.error());
  }
  prepared = std::move(*made);
  bench.isHere = runsHere(prepared->kernel);
  if (!bench.isHere) {
    auto described = chipOfDevice(prepared->kernel, how.execution);
    if (!described) {
      return fail(described.error());
    }
    chipElsewhere = std::move(*described);
    chip = &*chipElsewhere;
  }
  if (!fillWork() || !findForeign()) {
    return false;
  }
  std::vector<verify::Canaries::Named> named;
  for (auto &[name, tensor] : prepared->arguments.tensors) {
    named.push_back({name, &tensor});
  }
  if (auto moved = bench.check.surround(std::move(named)); !moved) {
    return fail(moved.error());
  }
  findPeer();
  if (!findForms()) {
    return false;
  }
  std::vector<runtime::Tensor> outputs = outputsOf(one, prepared->arguments);
  // A file without cases does not say which tensors are outputs.
  const bool knowsOutputs = !outputs.empty();
  const bool hasReference = !one.reference.empty() || peer;
  bench.check.watch(knowsOutputs ? inputsOf(one, prepared->arguments)
                                 : std::vector<runtime::Tensor>(),
                    std::move(outputs),
                    hasReference ? OutputCheck::Judge([this] { return compare(); }) : nullptr);
  return true;
}

bool Measuring::reset() {
  if (Status done = resetOutputs(one, prepared->arguments); !done) {
    return fail(done.error());
  }
  if (peer) {
    const runtime::Tensor &output = prepared->arguments.tensors.at(*outputNames(one).begin());
    std::memcpy(peer->output.data(), output.data(), output.byteCount());
  }
  return true;
}

std::string Measuring::compare() const {
  auto comparison = one.reference.empty() ? compareWithPeer(one, *peer, prepared->arguments)
                                          : compareOutputs(one, prepared->arguments);
  if (!comparison) {
    return comparison.error().message;
  }
  return comparison->passed() ? "" : comparison->text();
}

TimedLaunch Measuring::timedKernel(bool isBesidePeers) const {
  TimedLaunch timed =
      launchOf("kernel", prepared->kernel.compiled(), prepared->grid, prepared->arguments.values());
  if (!prepared->kernel.compiled().entry) { // it is interpreted, or in another process
    timed.run = [this] {
      Diagnostics own;
      return prepared->launch(own) ? std::string() : firstError(own).message;
    };
  }
  // A peer has threads of its own, which spin for a while after a run before they fall asleep. Both
  // begin with their own threads awake and the other's asleep.
  if (isBesidePeers && bench.isHere) {
    timed.prepare = [run = timed.run] { repeatUntilAlone(run); };
  }
  return timed;
}

void Measuring::addVersions() {
  bench.renew = [renewed = OutputReset(one, prepared->arguments)] {
    renewed();
    wakeThreads();
  };
  auto add = [this](TimedLaunch timed) {
    if (bench.peer) {
      bench.otherPeers.push_back(std::move(timed));
    } else {
      bench.peer = std::move(timed);
    }
  };
  if (peer && bench.isHere) { // a library on this processor is no peer of a kernel elsewhere
    add({.name = peer->name,
         .run =
             [this] {
               peer->run();
               return std::string();
             },
         .prepare = [this] { repeatUntilAlone(peer->run); }});
  }
  for (const auto &launch : foreign) {
    add(launch->timed());
  }
  for (const FormPeer &form : forms) {
    add(form.timed);
  }
  if (!bench.isHere) {
    return;
  }
  const runtime::Tensor *from =
      bench.row.isBeyondCache ? largestInput(one, prepared->arguments) : nullptr;
  if (!from) {
    return;
  }
  auto to = runtime::Tensor::empty({static_cast<int64_t>(from->byteCount())}, DType::U8);
  if (to.isValid()) {
    bench.copy = CopyTensors{to, *from};
  }
}

bool Measuring::tryOut() {
  Diagnostics own;
  const bool isLaunched = prepared->launch(own);
  if (!isLaunched && launch::isDeviceLost(firstError(own))) {
    bench.row.failure = launch::lostDeviceText(firstError(own));
    return true;
  }
  for (const Diagnostic &remark : own.all()) {
    diags.add(remark);
  }
  bench.row.failure = isLaunched ? bench.check.verify() : "";
  return isLaunched;
}

bool Measuring::begin() {
  if (!prepare() || !reset() || !tryOut()) {
    return false;
  }
  if (isReady()) {
    bench.row.failure = verifyPeers();
  }
  if (!isReady()) {
    return true;
  }
  bench.row.memory = !bench.isHere
                         ? std::nullopt
                         : memoryOf(prepared->kernel, prepared->grid, prepared->arguments);
  if (!reset()) {
    return false;
  }
  addVersions();
  return true;
}

KernelRow Measuring::finish(const std::vector<Row> &timed) {
  if (!timed.empty()) {
    bench.row = timed.front();
  }
  KernelRow row{bench.row, std::filesystem::path(one.kernel).filename().string()};
  if (!bench.isHere) {
    row.isDeviceLost = isDeviceLost();
    row.onDevice = deviceLaunch();
  }
  return row;
}

DeviceLaunch Measuring::deviceLaunch() const {
  const runtime::Kernel &kernel = prepared->kernel.compiled();
  const runtime::Device &device = kernel.code->device();
  return {.device = device.name(),
          .info = kernel.info,
          .grid = prepared->grid,
          .resources = kernel.code->resources(kernel.info.name),
          .processors = device.processors()};
}

} // namespace

std::string KernelRow::state() const {
  return !failure.empty() ? failure : isVerified ? "verified" : "not verified";
}

std::string KernelRow::note() const {
  const std::string fault = failure.empty() ? rooflineFault() : "";
  return (failure.empty() ? "" : "FAILED: ") + state() +
         (config.empty() ? "" : ", config " + config) + (kernel.isNoisy ? ", noisy" : "") +
         (kernel.isShort ? ", few samples" : "") + (fault.empty() ? "" : ", ") + fault;
}

std::optional<KernelRow> measureKernel(const KernelCase &one, const KernelMeasurement &how,
                                       const Machine &chip, Diagnostics &diags) {
  Measuring measuring(one, how, chip, diags);
  if (!measuring.begin()) {
    return std::nullopt;
  }
  std::vector<std::vector<Row>> timed(1);
  if (measuring.isReady()) {
    timed = timeTogether({measuring.contestant(measuring.hasPeer())}, measuring.chipOfCase(),
                         how.secondsPerCase);
  }
  return measuring.finish(timed.front());
}

std::vector<MeasuredCase> measureTogether(const std::vector<KernelCase> &cases,
                                          const KernelMeasurement &how, const Machine &chip) {
  std::vector<MeasuredCase> measured(cases.size());
  std::vector<std::unique_ptr<Measuring>> all;
  bool isBesidePeers = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto one = std::make_unique<Measuring>(cases[i], how, chip, measured[i].diags);
    all.push_back(!isInterrupted() && one->begin() ? std::move(one) : nullptr);
    isBesidePeers = isBesidePeers || (all.back() && all.back()->hasPeer());
    if (all.back() && all.back()->isDeviceLost()) {
      measured[i].row = all.back()->finish({});
      return measured;
    }
  }
  std::vector<Contestant> contestants;
  std::vector<size_t> numbers; ///< of their cases
  for (size_t i = 0; i < cases.size(); ++i) {
    if (all[i] && all[i]->isReady()) {
      contestants.push_back(all[i]->contestant(isBesidePeers));
      numbers.push_back(i);
    }
  }
  std::vector<std::vector<Row>> timed(cases.size());
  if (!contestants.empty()) {
    auto rows = timeTogether(contestants, all[numbers.front()]->chipOfCase(),
                             how.secondsPerCase * static_cast<double>(contestants.size()));
    for (size_t i = 0; i < rows.size(); ++i) {
      timed[numbers[i]] = std::move(rows[i]);
    }
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (all[i]) {
      measured[i].row = all[i]->finish(timed[i]);
    }
  }
  return measured;
}

} // namespace nereid::bench
