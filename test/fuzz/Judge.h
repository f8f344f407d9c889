// SPDX-License-Identifier: Apache-2.0
// Runs a program in the interpreter and on an engine and compares the memory that both leave.
#pragma once

#include "test/fuzz/programs/Program.h"
#include "test/language/engines/Engine.h"

namespace nereid::fuzz {

enum class Verdict : uint8_t { Same, Different, Refused, Crashed };

struct Outcome {
  Verdict verdict = Verdict::Same;
  std::string text;
};

Outcome judge(const Program &program, conformance::Engine &engine);

/// The same in a process of its own, which may crash or run on: then the text names the signal.
Outcome judgeApart(const Program &program, const std::string &engine);

/// "signal 11 (Segmentation fault)", or that the time was over.
std::string signalText(int signal);

/// Seconds after which a program counts as endless.
inline constexpr unsigned secondsPerProgram = 60;

} // namespace nereid::fuzz
