// SPDX-License-Identifier: Apache-2.0
// A generated kernel compiled for concrete tensors: what verification, timing and optimisation
// launch. Owns whatever must live as long as the launch.
#pragma once

#include "lib/definition/cases/CaseGrid.h"
#include "lib/develop/CompiledKernels.h"
#include "lib/eager/reference/Reference.h"
#include "lib/generator/LaunchPlan.h"
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
  static Result<PreparedLaunch> prepare(const KernelSource &source,
                                        const generator::FusedOperator &fused,
                                        const generator::Schedule &schedule,
                                        std::span<const runtime::Tensor> inputs,
                                        std::span<const runtime::Tensor> outputs);

  runtime::LaunchError run(runtime::ThreadPool &pool,
                           runtime::ProgramOrder order = runtime::ProgramOrder::Ascending) const;
  /// What is launched, and with what, unless the plan is empty.
  const runtime::Kernel &compiled() const { return kernel; }
  std::span<const runtime::ArgumentValue> values() const { return arguments; }
  /// The first finding of `nereid check` on this launch, "x.py:7:5: load reads outside 'x' …"; ""
  /// = none. Runs the kernel on the tensors, in the interpreter.
  Result<std::string> check() const;
  const generator::LaunchPlan &plan() const { return launchPlan; }

private:
  generator::LaunchPlan launchPlan;
  pipeline::CompileInput input;
  runtime::Kernel kernel;
  std::vector<runtime::ArgumentValue> arguments;
  std::vector<runtime::Tensor> copies;
  std::set<std::string> emptyTensors; ///< parameters of outputs
};

/// Inputs (tensor parameters only) and poisoned outputs of one case.
struct CaseTensors {
  std::vector<runtime::Tensor> inputs, outputs;
  std::vector<definition::LaidOut> memory; ///< what the tensors look into
};
/// E0506 when they do not fit in memory; `reserve` is what must stay free besides.
Result<CaseTensors> makeTensors(const generator::FusedOperator &fused,
                                const definition::GridCase &grid, DType dtype, double reserve = 0);

/// The outputs against the float64 reference, within bounds derived for each element.
Result<eager::Comparison> compareOutputs(const generator::FusedOperator &fused,
                                         const CaseTensors &tensors, DType dtype);

} // namespace nereid::develop
