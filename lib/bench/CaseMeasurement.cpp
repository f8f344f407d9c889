// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/CaseMeasurement.h"

#include "lib/bench/OutputReset.h"
#include "lib/bench/PeerCall.h"
#include "lib/eager/Compare.h"
#include "lib/language/IntegerExpression.h"
#include "lib/launch/CaseReference.h"
#include "lib/launch/PreparedCase.h"
#include "lib/measure/FloorPeers.h"
#include "lib/measure/PeakMemory.h"
#include "lib/measure/Peers.h"
#include "lib/measure/ThisChip.h"
#include "lib/report/RooflineReport.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/Canaries.h"
#include "lib/verify/Digest.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
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

double timeLaunch(const PreparedKernel &kernel, const KernelArguments &arguments) {
  auto values = arguments.values();
  measure::TimerOptions options;
  options.secondsBudget = 0.05;
  measure::Version version{
      "launch",
      [&] { (void)runtime::launch(kernel.compiled(), {0, 1, 1}, values, runtime::defaultPool()); }};
  return measure::timeInterleaved({version}, options)[0].summary.median;
}

/// What the case names as peer, else what its one reference is, when it is one operation.
std::optional<measure::Peer> peerOf(const KernelCase &one, const KernelArguments &arguments) {
  const auto &expressions = one.peer.empty() ? one.reference : one.peer;
  if (expressions.size() != 1) {
    return std::nullopt;
  }
  const auto &[output, expression] = *expressions.begin();
  auto call = parsePeerCall(expression);
  auto tensor = arguments.tensors.find(output);
  if (!call || tensor == arguments.tensors.end()) {
    return std::nullopt;
  }
  return measure::findPeer(*call, arguments.tensors, tensor->second);
}

/// Where a reference would take too long: another implementation, on the same data.
Result<eager::Comparison> compareWithPeer(const KernelCase &one, const measure::Peer &peer,
                                          const KernelArguments &arguments) {
  peer.run();
  const runtime::Tensor &actual = arguments.tensors.at(one.peer.begin()->first);
  return eager::compare(actual, peer.output, one.tolerance ? one.tolerance->relative : 0,
                        one.tolerance ? one.tolerance->absolute : 0);
}

/// The case's largest input that is no output and can be copied as one piece; null = none.
const runtime::Tensor *largestInput(const KernelCase &one, const KernelArguments &arguments) {
  const runtime::Tensor *largest = nullptr;
  std::set<std::string> outputs = outputNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (!outputs.contains(name) && tensor.isContiguous() &&
        (!largest || tensor.byteCount() > largest->byteCount())) {
      largest = &tensor;
    }
  }
  return largest;
}

/// One launch on threads of its own, so that their scratch memory counts; the outputs must be
/// resident.
std::optional<uint64_t> memoryOf(const PreparedKernel &kernel, runtime::Grid grid,
                                 const KernelArguments &arguments) {
  auto values = arguments.values();
  return measure::peakGrowth([&] {
    runtime::ThreadPool pool(runtime::defaultPool().threadCount());
    (void)runtime::launch(kernel.compiled(), grid, values, pool);
  });
}

/// Of opening and running a peer that was loaded and run before, without its copy of the output.
std::optional<uint64_t> memoryOfPeer(const KernelCase &one, const KernelArguments &arguments) {
  uint64_t output = 0;
  auto growth = measure::peakGrowth([&] {
    if (auto peer = peerOf(one, arguments)) {
      output = peer->output.byteCount();
      peer->run();
    }
  });
  return growth && *growth > output ? *growth - output : growth ? std::optional(0) : std::nullopt;
}

/// The type of all tensors whose arithmetic may be quickest.
DType peakTypeOf(const KernelArguments &arguments, const measure::Chip &chip) {
  DType quickest = DType::F32;
  for (const auto &[name, tensor] : arguments.tensors) {
    const DType own = measure::peakType(chip, tensor.dtype());
    // A machine without a peak of its own for doubles computes them at most as quickly as floats.
    quickest = chip.peakFor(own) > chip.peakFor(quickest) ? own : quickest;
  }
  return quickest;
}

/// A case between its preparation and its row.
class Measuring {
public:
  Measuring(const KernelCase &one, const KernelMeasurement &how, const measure::Chip &chip,
            Diagnostics &diags)
      : one(one), how(how), chip(chip), diags(diags) {}

  std::optional<KernelRow> run();

private:
  bool prepare();
  /// Moves the tensors between patterns.
  Status surround();
  bool reset();
  /// Launches on outputs made new and compares; false when the case ends here.
  bool verifyOnce();
  /// Fails the row if the outputs that stand there now are wrong. `what` was launched.
  void judgeOutputs(const std::string &what);
  measure::Version kernelVersion();
  void time();
  /// Fails the row for what no comparison of outputs sees.
  void judgeLaunches();
  bool launch() { return kernel->launch(grid, *arguments, diags); }
  bool fail(const Diagnostic &error) {
    diags.add(error);
    return false;
  }

  const KernelCase &one;
  const KernelMeasurement &how;
  const measure::Chip &chip;
  Diagnostics &diags;
  KernelRow row;
  std::optional<PreparedKernel> kernel;
  std::optional<KernelArguments> arguments;
  runtime::Grid grid;
  std::optional<measure::Peer> peer;
  std::vector<runtime::Tensor> inputs, outputs;
  uint64_t inputsBefore = 0, agreed = 0;
  verify::Canaries canaries;
};

bool Measuring::prepare() {
  row.name = one.name;
  row.kernel = std::filesystem::path(one.kernel).filename().string();
  auto prepared = launch::prepareCase(one, how.execution, diags);
  if (!prepared) {
    return diags.hasErrors() ? false : fail(prepared.error());
  }
  kernel = std::move(prepared->kernel);
  arguments = std::move(prepared->arguments);
  grid = prepared->grid;
  for (const auto &[what, text, value] :
       {std::tuple("bytes", &one.bytes, &row.bytes), std::tuple("flops", &one.flops, &row.flops),
        std::tuple("unfused_bytes", &one.unfusedBytes, &row.unfusedBytes)}) {
    auto number = evaluate(what, *text, *arguments);
    if (!number) {
      return fail(number.error());
    }
    *value = *number;
  }
  row.peakType = peakTypeOf(*arguments, chip);
  if (auto moved = surround(); !moved) {
    return fail(moved.error());
  }
  peer = peerOf(one, *arguments);
  if (peer) {
    peer->run();
    peer.reset();
    row.peerMemory = memoryOfPeer(one, *arguments);
    peer = peerOf(one, *arguments);
  }
  inputs = tensorsOf(one, *arguments, false);
  outputs = tensorsOf(one, *arguments, true);
  inputsBefore = verify::digestOf(inputs);
  return true;
}

Status Measuring::surround() {
  std::vector<verify::Canaries::Named> named;
  for (auto &[name, tensor] : arguments->tensors) {
    named.push_back({name, &tensor});
  }
  return canaries.surround(std::move(named));
}

bool Measuring::reset() {
  if (Status done = resetOutputs(one, *arguments); !done) {
    return fail(done.error());
  }
  if (peer) {
    const runtime::Tensor &output = arguments->tensors.at(*outputNames(one).begin());
    std::memcpy(peer->output.data(), output.data(), output.byteCount());
  }
  return true;
}

void Measuring::judgeOutputs(const std::string &what) {
  auto comparison = one.reference.empty() ? compareWithPeer(one, *peer, *arguments)
                                          : compareOutputs(one, *arguments);
  row.failed = !comparison || !comparison->passed();
  if (row.failed) {
    row.state = !comparison ? comparison.error().message : what + comparison->text();
  }
}

bool Measuring::verifyOnce() {
  if (!reset() || !launch()) {
    return false;
  }
  row.state = "not verified";
  if (one.reference.empty() && !peer) {
    return true;
  }
  row.state = "verified";
  judgeOutputs("");
  return !row.failed;
}

measure::Version Measuring::kernelVersion() {
  measure::Version version{"kernel", [this] { (void)launch(); }};
  // What one of the samples left is compared, and nobody knows which.
  const auto chosen =
      static_cast<int>(std::random_device()() % measure::TimerOptions().minimumSamples);
  version.finish = [this, chosen, taken = 0]() mutable {
    if (taken++ == chosen && !row.failed && row.state == "verified" &&
        verify::digestOf(outputs) != agreed) {
      judgeOutputs("a timed launch: ");
    }
  };
  version.renew = [renewed = OutputReset(one, *arguments)] {
    renewed();
    wakeThreads();
  };
  return version;
}

void Measuring::time() {
  measure::Version version = kernelVersion();
  std::vector<measure::Version> versions;
  if (peer) {
    // Each has threads of its own, which spin for a while after a run before they fall asleep. Both
    // begin with their own threads awake and the other's asleep.
    row.peerName = peer->name;
    versions.push_back({peer->name, peer->run, [this] { repeatUntilAlone(peer->run); }});
    version.prepare = [run = version.run] { repeatUntilAlone(run); };
  }
  const bool isBeyondCache = row.bytes > static_cast<double>(chip.lastCacheBytes());
  const runtime::Tensor *from = isBeyondCache ? largestInput(one, *arguments) : nullptr;
  const auto to = from
                      ? runtime::Tensor::empty({static_cast<int64_t>(from->byteCount())}, DType::U8)
                      : runtime::Tensor();
  auto copy = from && to.isValid() ? measure::copyPeer(chip, to, *from) : std::nullopt;
  if (copy) {
    copy->version.prepare = copy->version.run;
    versions.push_back(copy->version);
  }
  const bool isArithmetic = !row.floor(chip).isMemoryBound();
  auto peak = isArithmetic ? measure::peakPeer(row.flops, row.peakType)
              : copy       ? std::nullopt
                           : measure::clockPeer();
  if (peak) {
    versions.push_back(peak->version);
  }
  versions.push_back(version);
  measure::TimerOptions timer;
  timer.secondsBudget = how.secondsPerCase;
  timer.isStopped = isInterrupted;
  auto timings = measure::timeInterleaved(versions, timer);
  row.timing = timings.back();
  if (peer) {
    row.peer = timings.front();
  }
  const size_t copyIndex = peer ? 1 : 0, peakIndex = timings.size() - 2;
  if (copy) {
    row.copySeconds = copy->secondsFor(row.bytes, timings[copyIndex], row.timing);
  }
  if (peak && isArithmetic) {
    row.peakSeconds = peak->secondsFor(row.flops, timings[peakIndex], row.timing);
  }
  if (copy || peak) {
    row.yardstick = timings[copy ? copyIndex : peakIndex];
    row.yardstickAmount = copy ? copy->amount : peak->amount;
  }
  row.launchSeconds = timeLaunch(*kernel, *arguments);
}

std::optional<KernelRow> Measuring::run() {
  if (!prepare()) {
    return std::nullopt;
  }
  if (!verifyOnce()) {
    return row.failed ? std::optional(row) : std::nullopt;
  }
  agreed = verify::digestOf(outputs);
  row.memory = memoryOf(*kernel, grid, *arguments);
  if (!reset()) {
    return std::nullopt;
  }
  time();
  if (!row.failed) {
    verifyOnce();
  }
  if (!row.failed) {
    judgeLaunches();
  }
  return row;
}

void Measuring::judgeLaunches() {
  const double median = row.timing.summary.median;
  measure::Roofline timed;
  timed.memorySeconds = row.copySeconds;
  timed.computeSeconds = row.peakSeconds;
  const auto floor = measure::roofline(chip, row.bytes, row.flops, row.peakType);
  std::string wrong = canaries.violation();
  // A file without cases does not say which tensors are outputs.
  if (wrong.empty() && !outputs.empty() && verify::digestOf(inputs) != inputsBefore) {
    wrong = "an input is changed: nereid verify says which";
  }
  const measure::TimedWork work{row.bytes, row.flops, row.peakType, timed, median};
  if (wrong.empty() && median > 0 && measure::isImpossibleHere(chip, work)) {
    wrong = report::impossibleText(median, floor);
  }
  row.failed = !wrong.empty();
  row.state = row.failed ? wrong : row.state;
}

} // namespace

measure::Roofline KernelRow::floor(const measure::Chip &chip) const {
  auto floor = measure::roofline(chip, bytes, flops, peakType);
  floor.memorySeconds = copySeconds > 0 ? copySeconds : floor.memorySeconds;
  floor.computeSeconds = peakSeconds > 0 ? peakSeconds : floor.computeSeconds;
  return floor;
}

double KernelRow::rooflineShare(const measure::Chip &chip) const {
  return hasWork() && timing.summary.median > 0 ? floor(chip).floorSeconds() / timing.summary.median
                                                : 0;
}

std::string KernelRow::rooflineFault(const measure::Chip &chip) const {
  const bool isTimed = floor(chip).isMemoryBound() ? copySeconds > 0 : peakSeconds > 0;
  return measure::rooflineFault(rooflineShare(chip), isTimed);
}

std::string KernelRow::note(const measure::Chip &chip) const {
  const std::string fault = failed ? "" : rooflineFault(chip);
  return (failed ? "FAILED: " : "") + state + (timing.isNoisy ? ", noisy" : "") +
         (timing.isShort ? ", few samples" : "") + (fault.empty() ? "" : ", ") + fault;
}

std::optional<KernelRow> measureKernel(const KernelCase &one, const KernelMeasurement &how,
                                       const measure::Chip &chip, Diagnostics &diags) {
  return Measuring(one, how, chip, diags).run();
}

} // namespace nereid::bench
