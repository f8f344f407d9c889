// SPDX-License-Identifier: Apache-2.0
#include "unittests/develop/FarTarget.h"

#include "lib/pipeline/Phases.h"
#include "lib/targets/Targets.h"
#include "unittests/FarDevice.h"

#include <array>

namespace nereid::develop::test {
namespace {

using pipeline::CompileState;
using pipeline::Phase;
using pipeline::Target;

Target &cpu() { return **pipeline::findTarget("cpu"); }

/// The CPU's phase of that number, which sees the CPU's target.
template <size_t number, bool (*Phase::*step)(CompileState &)> bool forward(CompileState &state) {
  Target *own = std::exchange(state.target, &cpu());
  const bool done = (cpu().phases()[number].*step)(state);
  state.target = own;
  return done;
}

template <size_t... numbers> auto forwarded(std::index_sequence<numbers...>) {
  std::array<Phase, sizeof...(numbers)> phases = {cpu().phases()[numbers]...};
  ((phases[numbers].run = forward<numbers, &Phase::run>), ...);
  return phases;
}

class FarTarget final : public Target {
public:
  explicit FarTarget(std::string architecture) : architecture(std::move(architecture)) {}

  std::string name() const override { return "far:" + architecture; }
  std::string features() const override { return cpu().features(); }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    cpu().registerDialects(registry);
  }
  std::span<const Phase> phases() const override {
    static const auto all = forwarded(std::make_index_sequence<6>());
    return all;
  }
  std::string_view deviceRuntime() const override { return "far"; }

private:
  std::string architecture;
};

Result<std::unique_ptr<Target>> make(std::string_view architecture, const Machine *) {
  return std::unique_ptr<Target>(std::make_unique<FarTarget>(std::string(architecture)));
}

} // namespace

void registerFarTarget() {
  registerTargets();
  (void)runtime::test::FarDevice::get();
  pipeline::registerTarget("far", {.make = make, .anyArchitecture = "away0"});
}

} // namespace nereid::develop::test
