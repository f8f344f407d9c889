// SPDX-License-Identifier: Apache-2.0
#include "test/language/engines/ToyTarget.h"

#include "lib/pipeline/Phases.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "test/language/engines/ToyDevice.h"

namespace nereid::conformance {
namespace {

using pipeline::CompileState;

class ToyTarget final : public pipeline::Target {
public:
  std::string name() const override { return "toy:1"; }
  std::string features() const override { return ""; }
  void registerDialects(mlir::DialectRegistry &) const override {}
  bool takesDescriptors() const override { return true; }
  std::span<const pipeline::Phase> phases() const override;
};

bool keep(CompileState &state) {
  pipeline::noteKernelFacts(state);
  return true;
}

bool pack(CompileState &state) {
  const std::string text = pipeline::printMlir(state);
  state.object.assign(text.begin(), text.end());
  return true;
}

const pipeline::Phase toyPhases[] = {
    {"kept", ".mlir", "tile IR as it is", keep, pipeline::readTile, pipeline::printMlir},
    {"packed", ".toy", "its text", pack, nullptr, nullptr},
};

std::span<const pipeline::Phase> ToyTarget::phases() const { return toyPhases; }

Result<std::unique_ptr<pipeline::Target>> makeToy(std::string_view architecture, const Machine *) {
  if (!architecture.empty() && architecture != "1") {
    return makeError("E0303", "there is one toy, 'toy:1'");
  }
  return std::unique_ptr<pipeline::Target>(std::make_unique<ToyTarget>());
}

} // namespace

void registerToy() {
  pipeline::registerTarget("toy", {makeToy});
  registerToyDevices();
}

} // namespace nereid::conformance
