// SPDX-License-Identifier: Apache-2.0
#include "lib/llvm/OptionScope.h"

#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nereid::codegen {
namespace {

using Option = llvm::cl::opt<unsigned>;

/// As LlvmOption, whose name is the caller's.
struct Held {
  std::string name;
  unsigned value;
};

bool isEqual(const Held &a, const LlvmOption &b) { return a.name == b.name && a.value == b.value; }

struct Holding {
  std::mutex lock;
  std::condition_variable changed;
  uint64_t nextTicket = 0, turn = 0; ///< first come, first served
  int scopes = 0;                    ///< that hold
  std::vector<Held> options;
  std::vector<std::pair<Option *, unsigned>> before;

  bool takes(std::span<const LlvmOption> wanted) const {
    return scopes == 0 ||
           std::equal(options.begin(), options.end(), wanted.begin(), wanted.end(), isEqual);
  }
};

Holding &holding() {
  static Holding *instance = new Holding; // may be needed while the process shuts down
  return *instance;
}

} // namespace

OptionScope::OptionScope(std::span<const LlvmOption> options) {
  Holding &all = holding();
  std::unique_lock guard(all.lock);
  const uint64_t ticket = all.nextTicket++;
  all.changed.wait(guard, [&] { return all.turn == ticket && all.takes(options); });
  if (all.scopes++ == 0) {
    all.options.clear();
    for (const LlvmOption &option : options) {
      all.options.push_back({option.name, option.value});
      auto *known = static_cast<Option *>(llvm::cl::getRegisteredOptions().lookup(option.name));
      all.before.emplace_back(known, known->getValue());
      known->setValue(option.value);
    }
  }
  ++all.turn;
  all.changed.notify_all();
}

OptionScope::~OptionScope() {
  Holding &all = holding();
  std::lock_guard guard(all.lock);
  if (--all.scopes == 0) {
    for (const auto &[option, value] : all.before) {
      option->setValue(value);
    }
    all.before.clear();
  }
  all.changed.notify_all();
}

} // namespace nereid::codegen
