// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/sweep/OperatorProcess.h"

#include "lib/cli/Command.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/measure/Timer.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace nereid::cli {

using develop::OperatorResult;
using develop::OperatorState;
using Json = nlohmann::ordered_json;

namespace {

/// The last so many bytes of a file that another process writes.
std::string endOf(const std::string &path) {
  constexpr std::streamoff most = 4096;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    return "";
  }
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of its end the last complete line that begins with these words.
std::string lastLine(const std::string &text, const std::string &words) {
  std::string found;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    found = !line.empty() && line.starts_with(words) ? line : found;
  }
  return found;
}

/// "error: no memory is left [E0506]" of a process that could say no more.
void takeLastError(OperatorResult &result, const std::string &log) {
  const std::string start = "error: ";
  std::string line = lastLine(endOf(log), start);
  if (line.empty()) {
    return;
  }
  line.erase(0, start.size());
  const size_t bracket = line.rfind(" [");
  if (bracket != std::string::npos && line.ends_with("]")) {
    result.code = line.substr(bracket + 2, line.size() - bracket - 3);
    line.resize(bracket);
  }
  result.message = line;
}

void takeReport(OperatorResult &result, const ChildResult &child) {
  const Json &report = *child.report;
  if (report.contains("development")) {
    develop::takeDevelopment(result, report.at("development"));
  }
  if (report.contains("failure")) {
    result.code = report.at("failure").at("code");
    result.message = report.at("failure").at("message");
    for (const std::string note : report.at("failure").at("notes")) {
      result.message += "; " + note;
    }
    result.state = result.code == "E0607" ? OperatorState::Refused : OperatorState::Failed;
  } else if (child.status == exitDone) {
    result.state = OperatorState::Right;
  } else {
    result.state = result.cases().failed > 0 ? OperatorState::Wrong : OperatorState::Failed;
    if (result.message.empty()) {
      result.message = "every case was skipped";
    }
  }
}

} // namespace

void OperatorProcess::run(OperatorResult &result) const {
  const std::string log = folder + "/" + developLog;
  std::vector<std::string> line = {"develop", definition, "--out", folder};
  line.insert(line.end(), words.begin(), words.end());
  for (DType dtype : dtypes) {
    line.insert(line.end(), {"--dtype", std::string(torchName(dtype))});
  }
  if (isFresh) {
    line.emplace_back("--fresh");
  }
  ChildOptions options;
  options.log = log;
  options.mostSeconds = mostSeconds;
  std::string shown;
  options.whileItRuns = [&] {
    const std::string line = lastLine(endOf(log), "");
    if (line != shown) {
      show(shown = line);
    }
  };
  const measure::Clock clock = measure::steadyClock();
  const double begin = clock();
  const ChildResult child = runChild(line, options);
  result.seconds = clock() - begin;
  // From 128 on it was interrupted, by whom so ever.
  if (child.report && child.fate.empty() && child.status < 128) {
    OperatorResult reported = result;
    takeReport(reported, child);
    if (!isInterrupted() || reported.isFinished()) { // it may have been done a moment before
      result = std::move(reported);
    }
  } else if (isInterrupted()) {
    return;
  } else if (child.isOutOfTime) {
    result.state = OperatorState::OutOfTime;
    result.message =
        fmt::format("not done after {:g} s; --seconds-per-operator gives it more", mostSeconds);
  } else {
    result.state = OperatorState::Crashed;
    result.message = child.fate.empty() ? fmt::format("its process ended with status {} and no "
                                                      "result",
                                                      child.status)
                                        : child.fate;
    takeLastError(result, log);
  }
}

} // namespace nereid::cli
