// SPDX-License-Identifier: Apache-2.0
// A generated operator compiled for concrete tensors: what verification, timing and optimisation
// launch. Owns whatever must live as long as the launch.
#pragma once

#include "lib/bench/measurement/KernelLaunch.h"
#include "lib/check/Check.h"
#include "lib/definition/cases/CaseGrid.h"
#include "lib/develop/CompiledKernels.h"
#include "lib/eager/reference/Reference.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/pipeline/Compiler.h"
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"

#include <memory>
#include <optional>
#include <set>

namespace nereid::develop {

/// Where the kernel's source is and for which target it is compiled.
struct KernelSource {
  std::string path; ///< `<op>_triton.py`
  std::string target = "cpu";
  std::vector<std::string> importPaths = {};
  std::string chip = {};                ///< see pipeline::CompileOptions
  std::optional<std::string> text = {}; ///< instead of what stands in the file
  /// What many launches of a source that stays as it is compile once; null = each compiles, or
  /// finds in the cache, what the file says now.
  std::shared_ptr<CompiledKernels> compiled = nullptr;
};

class PreparedLaunch {
public:
  /// Plans, compiles (or finds in the cache) and binds the arguments. The tensors must outlive it.
  /// Inputs that the operator writes are read where their outputs are, and stay as they were:
  /// renewOutputs(), which this calls once for such an operator, makes every launch see them.
  /// Workspaces that are not given are its own.
  static Result<PreparedLaunch> prepare(const KernelSource &source,
                                        const generator::Generation &generation,
                                        const generator::Schedule &schedule,
                                        std::span<const runtime::Tensor> inputs,
                                        std::span<const runtime::Tensor> outputs,
                                        std::span<const runtime::Tensor> workspaces = {});
  /// The memory that launches of a call leave to each other, for who brings it: see prepare().
  static Result<std::vector<generator::CallPlan::Scratch>>
  workspaces(const generator::Generation &generation, const generator::Schedule &schedule,
             std::span<const runtime::Tensor> inputs, std::span<const runtime::Tensor> outputs);

  runtime::LaunchError run(runtime::ThreadPool &pool,
                           runtime::ProgramOrder order = runtime::ProgramOrder::Ascending) const;
  /// What is launched, in order, and with what; nothing where there is nothing to compute.
  std::vector<bench::Launch> launches() const;
  bool isEmpty() const { return callPlan.isEmpty(); }
  /// Of the launches, in order.
  std::vector<std::string> kernelNames() const;
  /// As it is shown; Flat becomes Tiles for strided tensors.
  const generator::Schedule &schedule() const { return callPlan.schedule; }
  /// Whether it is of this schedule, which the tensors may have turned into another one.
  bool isOf(const generator::Schedule &wanted) const;
  /// The first finding of `nereid check` on this launch. Runs the kernel on the tensors, in the
  /// interpreter.
  Result<check::FirstFinding> check() const;

private:
  struct Step {
    pipeline::CompileInput input;
    runtime::Kernel kernel;
    std::set<std::string> emptyTensors; ///< parameters of what no launch has written yet
  };
  std::vector<runtime::Tensor> inputs; ///< as the launches take them
  generator::CallPlan callPlan;
  std::vector<Step> steps; ///< one for each launch of the plan
  generator::CallArguments arguments;
};

/// Inputs (tensor parameters only) and poisoned outputs of one case.
struct CaseTensors {
  std::vector<runtime::Tensor> inputs, outputs;
  std::vector<definition::LaidOut> memory; ///< what the tensors look into
};
/// E0506 when they do not fit in memory; `reserve` is what must stay free besides.
Result<CaseTensors> makeTensors(const generator::Generation &generation,
                                const definition::GridCase &grid, DType dtype, double reserve = 0);

/// Makes outputs what they are before a launch: poison, or what the input holds that is written.
Status renewOutputs(const definition::Operator &op, std::span<const runtime::Tensor> inputs,
                    std::span<const runtime::Tensor> outputs);

/// The outputs against the float64 reference, within bounds derived for each element.
Result<eager::Comparison> compareOutputs(const definition::Operator &op, const CaseTensors &tensors,
                                         DType dtype);

} // namespace nereid::develop
