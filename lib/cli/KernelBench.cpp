// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelBench.h"

#include "lib/cli/KernelCases.h"
#include "lib/cli/KernelLauncher.h"
#include "lib/cli/OutputReset.h"
#include "lib/cli/PeerCall.h"
#include "lib/language/IntegerExpression.h"
#include "lib/measure/Chip.h"
#include "lib/measure/Environment.h"
#include "lib/measure/FloorPeers.h"
#include "lib/measure/PeakMemory.h"
#include "lib/measure/Peers.h"
#include "lib/measure/Roofline.h"
#include "lib/measure/Statistics.h"
#include "lib/measure/SummaryJson.h"
#include "lib/measure/Timer.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/Digest.h"
#include "lib/verify/KeptCase.h"
#include "runtime/ThreadPool.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

namespace nereid::cli {

namespace {

struct Row {
  std::string name, kernel, state; ///< state: "verified", "not verified" or what failed
  bool failed = false;
  double bytes = 0, flops = 0, launchSeconds = 0;
  double unfusedBytes = 0;
  /// What copying as many bytes takes and as many FLOPs at the peak rate, timed in turns; 0 = not
  /// measured: within caches, or it is clear which of the two binds.
  double copySeconds = 0, peakSeconds = 0;

  measure::Roofline floor(const measure::Chip &chip) const {
    auto floor = measure::roofline(chip, bytes, flops, DType::F32);
    floor.memorySeconds = copySeconds > 0 ? copySeconds : floor.memorySeconds;
    floor.computeSeconds = peakSeconds > 0 ? peakSeconds : floor.computeSeconds;
    return floor;
  }
  measure::Timing timing;
  std::string peerName;
  measure::Timing peer;
  std::optional<uint64_t> memory, peerMemory; ///< bytes of one run besides inputs and outputs
};

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

bool runOnce(const PreparedKernel &kernel, runtime::Grid grid, const KernelArguments &arguments,
             Diagnostics &diags) {
  return kernel.launch(grid, arguments, diags);
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
Result<measure::Comparison> compareWithPeer(const KernelCase &one, const measure::Peer &peer,
                                            const KernelArguments &arguments) {
  peer.run();
  const runtime::Tensor &actual = arguments.tensors.at(one.peer.begin()->first);
  return measure::compare(actual, peer.output, one.tolerance ? one.tolerance->relative : 0,
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

/// One case measured; diags has errors when it could not be.
std::optional<Row> measureCase(const KernelCase &one, const KernelBenchOptions &options,
                               const measure::Chip &chip,
                               const std::vector<std::string> &importPaths, Diagnostics &diags) {
  Row row;
  row.name = one.name;
  row.kernel = std::filesystem::path(one.kernel).filename().string();
  auto kernel = PreparedKernel::prepare(one.kernel, one.signature, importPaths,
                                        {.target = options.target}, diags);
  if (!kernel) {
    return std::nullopt;
  }
  auto fail = [&](const Diagnostic &error) {
    diags.add(error);
    return std::nullopt;
  };
  auto arguments = makeArguments(kernel->signature(), one.arguments);
  if (!arguments) {
    return fail(arguments.error());
  }
  if (auto computed = computeInputs(one, *arguments); !computed) {
    return fail(computed.error());
  }
  auto grid = evaluateGrid(one.grid, *arguments);
  if (!grid) {
    return fail(grid.error());
  }
  auto bytes = evaluate("bytes", one.bytes, *arguments);
  auto flops = evaluate("flops", one.flops, *arguments);
  auto unfused = evaluate("unfused_bytes", one.unfusedBytes, *arguments);
  if (!bytes || !flops || !unfused) {
    return fail(!bytes ? bytes.error() : !flops ? flops.error() : unfused.error());
  }
  row.unfusedBytes = *unfused;
  row.bytes = *bytes;
  row.flops = *flops;
  std::optional<measure::Peer> peer = peerOf(one, *arguments);
  if (peer) {
    peer->run();
    peer.reset();
    row.peerMemory = memoryOfPeer(one, *arguments);
    peer = peerOf(one, *arguments);
  }
  auto reset = [&]() -> bool {
    Status done = resetOutputs(one, *arguments);
    if (done && peer) {
      const runtime::Tensor &output = arguments->tensors.at(*outputNames(one).begin());
      std::memcpy(peer->output.data(), output.data(), output.byteCount());
    }
    if (!done) {
      diags.add(done.error());
    }
    return static_cast<bool>(done);
  };
  auto verifyOnce = [&]() -> bool {
    if (!reset() || !runOnce(*kernel, *grid, *arguments, diags)) {
      return false;
    }
    row.state = "not verified";
    if (one.reference.empty() && !peer) {
      return true;
    }
    auto comparison = one.reference.empty() ? compareWithPeer(one, *peer, *arguments)
                                            : compareOutputs(one, *arguments);
    row.failed = !comparison || !comparison->passed();
    row.state = !comparison ? comparison.error().message
                            : (row.failed ? comparison->text() : std::string("verified"));
    return !row.failed;
  };
  const std::vector<runtime::Tensor> inputs = tensorsOf(one, *arguments, false);
  const std::vector<runtime::Tensor> outputs = tensorsOf(one, *arguments, true);
  const uint64_t inputsBefore = verify::digestOf(inputs);
  if (!verifyOnce()) {
    return row.failed ? std::optional(row) : std::nullopt;
  }
  const uint64_t agreed = verify::digestOf(outputs);
  row.memory = memoryOf(*kernel, *grid, *arguments);
  measure::Version version{"kernel", [&] { (void)runOnce(*kernel, *grid, *arguments, diags); }};
  // What one of the samples left is compared, and nobody knows which.
  const auto chosen =
      static_cast<int>(std::random_device()() % measure::TimerOptions().minimumSamples);
  version.finish = [&, taken = 0]() mutable {
    if (taken++ != chosen || row.failed || row.state != "verified" ||
        verify::digestOf(outputs) == agreed) {
      return;
    }
    auto comparison = one.reference.empty() ? compareWithPeer(one, *peer, *arguments)
                                            : compareOutputs(one, *arguments);
    row.failed = !comparison || !comparison->passed();
    row.state = !comparison  ? comparison.error().message
                : row.failed ? "a timed launch: " + comparison->text()
                             : row.state;
  };
  std::optional<OutputReset> renewed;
  std::vector<measure::Version> versions;
  if (peer) {
    // Each has threads of its own, which spin for a while after a run before they fall asleep. Both
    // begin with their own threads awake and the other's asleep.
    row.peerName = peer->name;
    versions.push_back({peer->name, peer->run, [&] { repeatUntilAlone(peer->run); }});
    version.prepare = [run = version.run] { repeatUntilAlone(run); };
  }
  bool isBeyondCache = row.bytes > static_cast<double>(chip.lastCacheBytes());
  const runtime::Tensor *from = isBeyondCache ? largestInput(one, *arguments) : nullptr;
  const auto to = from
                      ? runtime::Tensor::empty({static_cast<int64_t>(from->byteCount())}, DType::U8)
                      : runtime::Tensor();
  auto copy = from && to.isValid() ? measure::copyPeer(chip, to, *from) : std::nullopt;
  auto peak = row.floor(chip).isMemoryBound() ? std::nullopt : measure::peakPeer(row.flops);
  if (copy) {
    copy->version.prepare = copy->version.run;
    versions.push_back(copy->version);
  }
  if (peak) {
    versions.push_back(peak->version);
  }
  versions.push_back(version);
  if (!reset()) {
    return std::nullopt;
  }
  renewed.emplace(one, *arguments);
  versions.back().renew = [&] {
    (*renewed)();
    wakeThreads();
  };
  measure::TimerOptions timer;
  timer.secondsBudget = options.secondsPerCase;
  timer.isStopped = isInterrupted;
  auto timings = measure::timeInterleaved(versions, timer);
  row.timing = timings.back();
  if (peer) {
    row.peer = timings.front();
  }
  if (copy) {
    row.copySeconds = copy->secondsFor(row.bytes, timings[peer ? 1 : 0], row.timing);
  }
  if (peak) {
    row.peakSeconds = peak->secondsFor(row.flops, timings[timings.size() - 2], row.timing);
  }
  row.launchSeconds = timeLaunch(*kernel, *arguments);
  if (!row.failed) {
    verifyOnce();
  }
  // A file without cases does not say which tensors are outputs.
  const bool knowsInputs = !outputs.empty();
  if (!row.failed && knowsInputs && verify::digestOf(inputs) != inputsBefore) {
    row.failed = true;
    row.state = "an input is changed: nereid verify says which";
  }
  return row;
}

void print(const std::vector<Row> &rows, const measure::Chip &chip, Session &session) {
  auto memoryText = [](const std::optional<uint64_t> &bytes) {
    return bytes ? report::formatBytes(static_cast<double>(*bytes)) : std::string("-");
  };
  std::vector<std::string> titles = {"case",  "kernel",   ">median",      ">p90",    ">RSD",
                                     ">rate", ">GFLOP/s", ">of roofline", ">launch", ">memory",
                                     ">peer", ">vs peer", ">its memory",  "state"};
  auto fewerBytes = [](const Row &row) {
    return row.unfusedBytes > 0 ? report::formatPercent(1 - row.bytes / row.unfusedBytes)
                                : std::string();
  };
  if (std::any_of(rows.begin(), rows.end(), [](const Row &row) { return row.unfusedBytes > 0; })) {
    titles.emplace_back(">fewer bytes than unfused");
  }
  report::Table table(titles);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &row : rows) {
    const auto &s = row.timing.summary;
    if (s.count == 0) {
      table.add({row.name, row.kernel, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
                 "FAILED: " + row.state});
      json.push_back({{"case", row.name}, {"kernel", row.kernel}, {"failure", row.state}});
      continue;
    }
    const auto floor = row.floor(chip);
    bool known = row.bytes > 0 || row.flops > 0;
    bool hasPeer = row.peer.summary.count > 0;
    table.add(
        {row.name, row.kernel, report::formatSeconds(s.median), report::formatSeconds(s.p90),
         report::formatPercent(s.relativeDeviation),
         row.bytes > 0 ? report::formatRate(row.bytes / s.median) : "-",
         row.flops > 0 ? fmt::format("{:.1f}", row.flops / s.median / 1e9) : "-",
         known ? report::formatPercent(floor.floorSeconds() / s.median) : "-",
         report::formatSeconds(row.launchSeconds), memoryText(row.memory),
         hasPeer
             ? fmt::format("{} {}", row.peerName, report::formatSeconds(row.peer.summary.median))
             : "-",
         hasPeer ? report::formatRatio(measure::medianRatio(row.peer.samples, row.timing.samples))
                 : "-",
         memoryText(row.peerMemory),
         (row.failed ? "FAILED: " : "") + row.state + (row.timing.isNoisy ? ", noisy" : ""),
         fewerBytes(row)});
    nlohmann::ordered_json entry = {{"case", row.name}, {"kernel", row.kernel}};
    measure::addSummary(entry, s);
    entry["bytes"] = row.bytes;
    entry["flops"] = row.flops;
    entry["launch_seconds"] = row.launchSeconds;
    entry["state"] = row.state;
    entry["copy_seconds"] = row.copySeconds;
    entry["peak_seconds"] = row.peakSeconds;
    if (known) {
      entry["roofline"] = floor.floorSeconds() / s.median;
    }
    if (row.unfusedBytes > 0) {
      entry["unfused_bytes"] = row.unfusedBytes;
    }
    if (row.memory) {
      entry["memory_bytes"] = *row.memory;
    }
    if (hasPeer) {
      entry["peer"] = {{"name", row.peerName},
                       {"median", row.peer.summary.median},
                       {"ratio", measure::medianRatio(row.peer.samples, row.timing.samples)}};
      if (row.peerMemory) {
        entry["peer"]["memory_bytes"] = *row.peerMemory;
      }
    }
    json.push_back(entry);
  }
  if (session.json) {
    nlohmann::ordered_json all;
    all["schema"] = 1;
    all["environment"] =
        nlohmann::ordered_json::parse(measure::toJson(measure::describeEnvironment(chip)));
    all["rows"] = json;
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{}", table.text());
  }
}

} // namespace

void addKernelBenchOptions(CLI::App &command, KernelBenchOptions &options) {
  command.add_option("--signature,-s", options.signature, "of a single .py kernel");
  command.add_option("--grid,-g", options.grid, "of a single .py kernel");
  command.add_option("--arg,-a", options.arguments, "name=maker, of a single .py kernel");
  command.add_option("--bytes", options.bytes, "expression: bytes the kernel must move");
  command.add_option("--flops", options.flops, "expression: floating-point operations");
  command.add_option("--case", options.caseName, "only this case of cases.toml");
}

bool isKernelBench(const std::string &input) {
  std::string path = parseKernelReference(input).path;
  std::error_code ignored;
  return std::filesystem::path(path).extension() == ".py" ||
         std::filesystem::exists(path + "/cases.toml", ignored);
}

void runKernelBench(const KernelBenchOptions &options, Session &session) {
  std::vector<KernelCase> cases;
  std::error_code ignored;
  if (std::filesystem::is_directory(options.input, ignored)) {
    auto loaded = loadCases(options.input);
    if (!loaded) {
      return session.fail(loaded.error());
    }
    std::vector<std::string> names;
    for (auto &one : *loaded) {
      names.push_back(one.name);
      if (options.caseName.empty() ? one.isBench : one.name == options.caseName) {
        cases.push_back(std::move(one));
      }
    }
    if (cases.empty()) {
      return session.fail(
          options.caseName.empty()
              ? makeError("E0016", fmt::format("'{}' has no case for bench", options.input))
              : verify::unknownCase(options.input, options.caseName, names));
    }
  } else {
    KernelCase one;
    one.name = "command line";
    one.kernel = options.input;
    one.signature = options.signature;
    one.grid = options.grid;
    one.arguments = options.arguments;
    one.bytes = options.bytes;
    one.flops = options.flops;
    cases.push_back(std::move(one));
  }
  measure::Chip chip = measure::thisChip();
  std::vector<Row> rows;
  for (const auto &one : cases) {
    Diagnostics diags;
    auto row = measureCase(one, options, chip, session.importPaths, diags);
    if (!row) {
      return session.fail(diags);
    }
    if (row->failed) {
      session.status = exitCheckFailed;
    }
    rows.push_back(std::move(*row));
  }
  print(rows, chip, session);
}

} // namespace nereid::cli
