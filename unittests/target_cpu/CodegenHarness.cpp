// SPDX-License-Identifier: Apache-2.0
#include "unittests/target_cpu/CodegenHarness.h"

#include "lib/targets/cpu/codegen/Passes.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::cpu::test {
namespace {

struct Translated {
  std::unique_ptr<CodeGenerator> generator;
  std::unique_ptr<pipeline::CodeModule> code;
  std::string error;
};

Translated translate(const std::string &text, const std::string &architecture) {
  Translated result;
  Result<CpuMachine> machine = parseMachine(architecture);
  if (!machine) {
    result.error = render(machine.error());
    return result;
  }
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  mlir::PassManager passes(&context);
  buildLoopsOptPipeline(passes, *machine);
  buildLoopsToLlvmPipeline(passes);
  if (!module || failed(passes.run(*module))) {
    result.error = "loops level: cannot be parsed or lowered";
    return result;
  }
  result.generator = std::make_unique<CodeGenerator>(*machine);
  Diagnostics diags;
  result.code = result.generator->translate(*module, diags);
  result.error = diags.hasErrors() ? diags.render() : "";
  return result;
}

std::string vectorOf(const std::string &element, int lanes) {
  return lanes == 1 ? element : "vector<" + std::to_string(lanes) + "x" + element + ">";
}

} // namespace

void CompiledLoops::call(std::initializer_list<uint64_t> slots) const {
  std::vector<uint64_t> packed(slots);
  const int32_t id[3] = {0, 0, 0}, count[3] = {1, 1, 1};
  alignas(64) static thread_local uint8_t scratch[4096];
  entry(packed.data(), id, count, scratch);
}

CompiledLoops compileLoops(const std::string &text, const std::string &architecture) {
  CompiledLoops result;
  Translated translated = translate(text, architecture);
  result.error = translated.error;
  if (!result.error.empty()) {
    return result;
  }
  result.llvmText = translated.code->text();
  Diagnostics diags;
  if (!translated.generator->emitObject(*translated.code, result.object, diags)) {
    result.error = diags.render();
    return result;
  }
  auto loaded = runtime::loadObject(result.object);
  if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
    result.error = error->message;
    return result;
  }
  result.code = std::get<0>(loaded);
  result.entry = reinterpret_cast<runtime::KernelEntry>(result.code->symbol("kernel"));
  if (!result.entry) {
    result.error = "no symbol 'kernel'";
  }
  return result;
}

std::string assemblyOf(const std::string &text, const std::string &architecture) {
  Translated translated = translate(text, architecture);
  std::string assembly;
  Diagnostics diags;
  if (translated.error.empty()) {
    translated.generator->emitAssembly(*translated.code, assembly, diags);
  }
  return assembly;
}

std::string elementwiseKernel(const std::string &type, const std::string &resultType, int lanes,
                              int inputs, const std::string &body) {
  std::string text = "func.func @kernel(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, "
                     "%scratch: !llvm.ptr) attributes {tile.kernel} {\n"
                     "  %zero = arith.constant 0 : index\n"
                     "  %step = arith.constant " +
                     std::to_string(lanes) + " : index\n";
  for (int i = 0; i <= inputs + 1; ++i) {
    std::string n = std::to_string(i);
    text +=
        "  %s" + n + " = llvm.getelementptr %slots[" + n + "] : (!llvm.ptr) -> !llvm.ptr, i64\n";
    text += "  %p" + n + " = llvm.load %s" + n + " : !llvm.ptr -> " +
            (i == inputs + 1 ? "i64" : "!llvm.ptr") + "\n";
  }
  std::string last = std::to_string(inputs + 1), out = std::to_string(inputs);
  text += "  %size = arith.index_cast %p" + last +
          " : i64 to index\n"
          "  scf.for %i = %zero to %size step %step {\n"
          "    %at = arith.index_cast %i : index to i64\n";
  for (int i = 0; i < inputs; ++i) {
    std::string n = std::to_string(i);
    text += "    %a" + n + " = llvm.getelementptr %p" + n +
            "[%at] : (!llvm.ptr, i64) -> !llvm.ptr, " + type + "\n";
    text += "    %x" + n + " = llvm.load %a" + n + " {alignment = 1 : i64} : !llvm.ptr -> " +
            vectorOf(type, lanes) + "\n";
  }
  text += body + "\n";
  text += "    %b = llvm.getelementptr %p" + out + "[%at] : (!llvm.ptr, i64) -> !llvm.ptr, " +
          resultType + "\n";
  text += "    llvm.store %y, %b {alignment = 1 : i64} : " + vectorOf(resultType, lanes) +
          ", !llvm.ptr\n  }\n  return\n}\n";
  return text;
}

} // namespace nereid::cpu::test
