// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Judge.h"

#include "lib/check/Check.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::fuzz {
namespace {

/// `nereid check` says of the launch that nothing orders two accesses, or that the indices of a
/// mask wrap around, so that engines may differ.
bool isReported(const pipeline::CompileInput &input, runtime::Grid grid, const Program &program) {
  Memory memory(program);
  std::vector<check::Report> reports;
  Diagnostics diags;
  check::checkKernel(input, grid, memory.arguments(), {}, reports, diags);
  return std::any_of(reports.begin(), reports.end(), [&](const check::Report &report) {
    const std::string &code = report.diagnostic.code;
    return code == "E0808" || (program.sharesInPart && (code == "E0803" || code == "E0807"));
  });
}

} // namespace

Outcome judge(const Program &program, conformance::Engine &engine) {
  pipeline::CompileInput input{"program.py", "kernel", program.signature(), program.source()};
  runtime::Grid grid = {program.programs, 1, 1};
  Memory expected(program), actual(program);
  Diagnostics diags;
  // First the interpreter: it says so when an address is wrong, where compiled code would follow
  // it.
  if (!pipeline::interpretKernel(input, grid, expected.arguments(), diags)) {
    return {Verdict::Refused, diags.render()};
  }
  if (std::string refused = engine.run(input, grid, actual.arguments()); !refused.empty()) {
    return {Verdict::Refused, engine.name() + " alone: " + refused};
  }
  std::string text = expected.difference(actual, "the interpreter", engine.name());
  bool isSame = text.empty() || isReported(input, grid, program);
  return {isSame ? Verdict::Same : Verdict::Different, text};
}

std::string signalText(int signal) {
  return signal == SIGALRM || signal == SIGKILL
             ? fmt::format("no result after {} s", secondsPerProgram)
             : fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

Outcome judgeApart(const Program &program, const std::string &engine) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return {Verdict::Refused, "no pipe"};
  }
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(secondsPerProgram);
    std::string problem;
    auto own = conformance::Engine::start(engine, problem);
    Outcome outcome = own ? judge(program, *own) : Outcome{Verdict::Refused, problem};
    std::string text = std::to_string(static_cast<int>(outcome.verdict)) + outcome.text;
    ssize_t written = ::write(ends[1], text.data(), std::min<size_t>(text.size(), 60000));
    ::_exit(written < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) || text.empty()) {
    return {Verdict::Crashed, signalText(WIFSIGNALED(status) ? WTERMSIG(status) : 0)};
  }
  return {static_cast<Verdict>(text[0] - '0'), text.substr(1)};
}

} // namespace nereid::fuzz
