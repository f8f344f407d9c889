// SPDX-License-Identifier: Apache-2.0
// The CPU's entries for the phase table: lowering to loops, translation, machine code. One
// CodeGenerator serves one compilation at a time; several threads get one each.
#include "lib/targets/cpu/CpuTarget.h"

#include "lib/pipeline/Target.h"
#include "lib/targets/cpu/MachineOptions.h"
#include "lib/targets/cpu/codegen/Codegen.h"
#include "lib/targets/cpu/codegen/Passes.h"
#include "lib/targets/cpu/lower/Lower.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <mutex>

namespace nereid::cpu {
namespace {

class CpuTarget final : public pipeline::Target {
public:
  explicit CpuTarget(CpuMachine machine) : machine(std::move(machine)) {}

  std::string name() const override {
    std::string tuned = machine.tuneFor.empty() ? "" : " for " + machine.tuneFor;
    return "cpu:" + machine.name + tuned;
  }
  std::string features() const override { return machine.requirementText(); }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }

  bool lower(mlir::ModuleOp module, bool verifyEach, Diagnostics &diags) override {
    loadLoweringDialects(*module.getContext());
    return succeeded(lowerTileToLoops(module, loweringOptionsFor(machine), diags));
  }

  std::unique_ptr<pipeline::CodeModule> translate(mlir::ModuleOp module, bool verifyEach,
                                                  Diagnostics &diags) override {
    mlir::PassManager passes(module.getContext());
    passes.enableVerifier(verifyEach);
    buildLoopsToLlvmPipeline(passes, machine);
    if (failed(passes.run(module))) {
      return nullptr;
    }
    return Lease(*this)->translate(module, diags);
  }

  std::unique_ptr<pipeline::CodeModule> parse(std::string_view text, const std::string &path,
                                              Diagnostics &diags) override {
    return Lease(*this)->parse(text, path, diags);
  }

  bool emitObject(pipeline::CodeModule &code, std::vector<uint8_t> &object,
                  Diagnostics &diags) override {
    return Lease(*this)->emitObject(code, object, diags);
  }

  bool emitAssembly(pipeline::CodeModule &code, std::string &text, Diagnostics &diags) override {
    return Lease(*this)->emitAssembly(code, text, diags);
  }

  bool assemble(std::string_view text, std::vector<uint8_t> &object, Diagnostics &diags) override {
    return Lease(*this)->assemble(text, object, diags);
  }

private:
  /// A code generator for as long as the lease lives.
  class Lease {
  public:
    explicit Lease(CpuTarget &target) : target(target) {
      std::lock_guard guard(target.lock);
      if (target.idle.empty()) {
        target.idle.push_back(std::make_unique<CodeGenerator>(target.machine));
      }
      generator = std::move(target.idle.back());
      target.idle.pop_back();
    }
    ~Lease() {
      std::lock_guard guard(target.lock);
      target.idle.push_back(std::move(generator));
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    CodeGenerator *operator->() { return generator.get(); }

  private:
    CpuTarget &target;
    std::unique_ptr<CodeGenerator> generator;
  };

  CpuMachine machine;
  std::mutex lock;
  std::vector<std::unique_ptr<CodeGenerator>> idle;
};

Result<std::unique_ptr<pipeline::Target>> makeCpuTarget(std::string_view architecture) {
  Result<CpuMachine> machine = parseMachine(architecture);
  if (!machine) {
    return machine.error();
  }
  return std::unique_ptr<pipeline::Target>(std::make_unique<CpuTarget>(std::move(*machine)));
}

/// "cpu:aarch64+lse"; E0303 when the machine is too old.
Result<std::string> nameFor(std::string_view architecture,
                            const std::vector<std::string> &features) {
  Result<CpuMachine> machine = machineOffering(architecture, features);
  if (!machine) {
    return machine.error();
  }
  return "cpu:" + machine->name;
}

} // namespace

void registerCpuTarget() { pipeline::registerTarget("cpu", {makeCpuTarget, nameFor}); }

} // namespace nereid::cpu
