// SPDX-License-Identifier: Apache-2.0
#include "unittests/target_cpu/LowerHarness.h"

#include "lib/interpreter/Interpreter.h"
#include "lib/language/emit/Emit.h"
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"
#include "lib/targets/cpu/codegen/Codegen.h"
#include "lib/targets/cpu/codegen/Passes.h"
#include "lib/targets/cpu/loops/Passes.h"
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "lib/tile/ir/Tile.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace nereid::cpu::test {

size_t countOf(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

uint64_t floatBits(float value) { return std::bit_cast<uint32_t>(value); }

std::vector<std::string> runnableArchitectures() {
  std::vector<std::string> result{"x86-64-v2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    result.push_back("x86-64-v3");
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    result.push_back("x86-64-v4");
    if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni")) {
      result.push_back(narrowDots);
    }
  }
  return result;
}

LoweredKernel lowerKernel(const std::string &text, const std::string &architecture,
                          LowerLimits limits) {
  LoweredKernel result;
  Result<CpuMachine> machine = parseMachine(architecture);
  if (!machine) {
    result.error = render(machine.error());
    return result;
  }
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  loadLoweringDialects(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    result.error = "the test's text does not parse";
    return result;
  }
  machine->scratchLimitBytes = limits.scratchBytes;
  Diagnostics diags;
  {
    mlir::ScopedDiagnosticHandler listener(&context, [&](mlir::Diagnostic &diagnostic) {
      result.remarks += diagnostic.str() + "\n";
      return mlir::success();
    });
    const std::vector<RecogniserCount> before = recogniserCounts();
    mlir::PassManager prepares(&context);
    buildTileCpuPipeline(prepares, *machine);
    if (failed(checkTileKernel(*module, diags)) || failed(prepares.run(*module)) ||
        failed(lowerTileToLoops(*module, *machine, diags))) {
      result.error = diags.hasErrors() ? diags.render() : "the phase tile-cpu fails";
      return result;
    }
    const std::vector<RecogniserCount> after = recogniserCounts();
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i].fired > before[i].fired) {
        result.recognised.insert(after[i].name);
      }
    }
  }
  llvm::raw_string_ostream(result.loops) << *module;
  if (failed(mlir::verify(*module))) {
    result.error = "the loops do not verify:\n" + result.loops;
    return result;
  }
  auto again = mlir::parseSourceString<mlir::ModuleOp>(result.loops, &context);
  if (!again) {
    result.error = "the loops do not parse back:\n" + result.loops;
    return result;
  }
  std::string name;
  again->walk([&](mlir::func::FuncOp function) {
    name = function.getName().str();
    auto bytes = function->getAttrOfType<mlir::IntegerAttr>("nereid.scratch_bytes");
    result.scratchBytes = bytes ? bytes.getInt() : 0;
    result.takesRanges = function->hasAttr("nereid.takes_ranges");
  });
  mlir::PassManager passes(&context);
  buildLoopsOptPipeline(passes, *machine);
  buildLoopsToLlvmPipeline(passes);
  if (failed(passes.run(*again))) {
    result.error = "codegen refuses the loops:\n" + result.loops;
    return result;
  }
  CodeGenerator generator(*machine);
  auto code = generator.translate(*again, diags);
  std::vector<uint8_t> object;
  if (!code || !generator.emitObject(*code, object, diags)) {
    result.error = diags.render();
    return result;
  }
  if (auto twice = generator.parse(code->text(), "loops", diags)) {
    generator.emitAssembly(*twice, result.assembly, diags);
  }
  auto loaded = runtime::loadObject(object);
  if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
    result.error = error->message;
    return result;
  }
  result.code = std::get<0>(loaded);
  result.entry = reinterpret_cast<runtime::KernelEntry>(result.code->symbol(name));
  if (!result.entry) {
    result.error = "no symbol '" + name + "'";
  }
  return result;
}

bool LoweredKernel::launch(std::array<int32_t, 3> grid, std::vector<uint64_t> slots) const {
  constexpr size_t guard = 256;
  std::vector<uint8_t> memory(scratchBytes + 2 * guard + 64, 0xA5);
  auto start = reinterpret_cast<uintptr_t>(memory.data()) + guard;
  auto *scratch = reinterpret_cast<uint8_t *>((start + 63) / 64 * 64);
  int run = 1, left = 0; // the calls of a run find the scratch memory of the call before
  for (int32_t z = 0; z < grid[2]; ++z) {
    for (int32_t y = 0; y < grid[1]; ++y) {
      for (int32_t x = 0, count = 1; x < grid[0]; x += count, ++count) {
        count = takesRanges ? std::min(count, grid[0] - x) : 1;
        const int32_t id[5] = {x, y, z, x + count, left > 0 ? 1 : 0};
        if (left == 0) {
          std::memset(scratch, 0xFF, scratchBytes); // NaN: nothing may rely on what was there
          left = ++run;
        }
        --left;
        entry(slots.data(), id, grid.data(), scratch);
      }
    }
  }
  for (uint8_t *p = memory.data(); p < scratch; ++p) {
    if (*p != 0xA5) {
      return false;
    }
  }
  for (uint8_t *p = scratch + scratchBytes; p < memory.data() + memory.size(); ++p) {
    if (*p != 0xA5) {
      return false;
    }
  }
  return true;
}

std::string tileText(const std::string &source, const std::string &signature, std::string &error) {
  Diagnostics diags;
  auto module = language::parseModule("kernel.py", source, diags);
  // The last function; helpers stand before it.
  const language::FunctionDef *kernel = module && !module->jitFunctions().empty()
                                            ? module->find(module->jitFunctions().back())
                                            : nullptr;
  if (!kernel) {
    error = "no kernel\n" + diags.render();
    return "";
  }
  auto parsed = language::parseSignature(signature, *kernel);
  if (!parsed) {
    error = render(parsed.error());
    return "";
  }
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  tile::loadDialects(context);
  auto tiles = language::emitKernel(context, *module, *kernel, *parsed, diags);
  if (!tiles) {
    error = diags.render();
    return "";
  }
  mlir::PassManager passes(&context);
  tile::buildTileOptPipeline(passes);
  if (failed(passes.run(*tiles))) {
    error = "tile-opt fails";
    return "";
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true);
  tiles->print(stream, flags);
  return text;
}

runtime::Tensor randomTensor(std::vector<int64_t> shape, DType dtype, uint64_t seed) {
  auto tensor = runtime::Tensor::empty(std::move(shape), dtype);
  if (isFloat(dtype)) {
    runtime::fillNormal(tensor, seed);
  } else if (dtype == DType::Bool) {
    runtime::fillIntegers(tensor, seed, 0, 2);
  } else {
    runtime::fillIntegers(tensor, seed, -100, 100);
  }
  return tensor;
}

namespace {
/// Copies of the tensors and the argument list that refers to the copies.
struct Launch {
  std::vector<runtime::Tensor> tensors;
  Arguments arguments;

  explicit Launch(const Arguments &originals) {
    tensors.reserve(originals.size());
    for (const auto &argument : originals) {
      if (auto *tensor = std::get_if<const runtime::Tensor *>(&argument)) {
        tensors.push_back((*tensor)->to((*tensor)->dtype()));
        arguments.push_back(&tensors.back());
      } else {
        arguments.push_back(argument);
      }
    }
  }

  std::vector<uint64_t> slots() const {
    std::vector<uint64_t> packed;
    for (const auto &argument : arguments) {
      if (auto *tensor = std::get_if<const runtime::Tensor *>(&argument)) {
        packed.push_back(address((*tensor)->as<uint8_t>()));
      } else if (auto *integer = std::get_if<int64_t>(&argument)) {
        packed.push_back(number(*integer));
      } else {
        packed.push_back(floatBits(static_cast<float>(std::get<double>(argument))));
      }
    }
    return packed;
  }
};

std::string compareTensors(const Launch &actual, const Launch &expected, double tolerance) {
  for (size_t t = 0; t < actual.tensors.size(); ++t) {
    for (int64_t i = 0; i < actual.tensors[t].elementCount(); ++i) {
      double a = actual.tensors[t].at(i), e = expected.tensors[t].at(i);
      bool same = a == e || (std::isnan(a) && std::isnan(e)) ||
                  std::abs(a - e) <= tolerance * std::max(1.0, std::abs(e));
      if (!same) {
        return "tensor " + std::to_string(t) + " element " + std::to_string(i) + " is " +
               std::to_string(a) + ", expected " + std::to_string(e);
      }
    }
  }
  return "";
}
} // namespace

std::string compareWithOracle(const std::string &source, const std::string &signature,
                              std::array<int32_t, 3> grid, const Arguments &arguments,
                              double tolerance, std::vector<runtime::Tensor> *results) {
  std::string error;
  std::string text = tileText(source, signature, error);
  if (!error.empty()) {
    return error;
  }
  Launch expected(arguments);
  {
    mlir::DialectRegistry registry;
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    tile::loadDialects(context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    Diagnostics diags;
    if (!module || !interpret(*module, {grid[0], grid[1], grid[2]}, expected.arguments, diags)) {
      return "the interpreter: " + diags.render();
    }
  }
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerKernel(text, architecture);
    if (!kernel.error.empty()) {
      return architecture + ": " + kernel.error;
    }
    Launch actual(arguments);
    if (!kernel.launch(grid, actual.slots())) {
      return architecture + ": wrote outside its scratch area\n" + kernel.loops;
    }
    std::string wrong = compareTensors(actual, expected, tolerance);
    if (!wrong.empty()) {
      return architecture + ": " + wrong + "\n" + kernel.loops;
    }
    if (results) {
      *results = actual.tensors;
    }
  }
  return "";
}

LoweredKernel lowerSource(const std::string &source, const std::string &signature,
                          const std::string &architecture, LowerLimits limits) {
  std::string error;
  std::string text = tileText(source, signature, error);
  EXPECT_EQ(error, "");
  if (!error.empty()) {
    LoweredKernel refused;
    refused.error = error;
    return refused;
  }
  return lowerKernel(text, architecture, limits);
}

LoweredKernel lowerBody(const std::string &body, const std::string &signature) {
  return lowerSource("\n@triton.jit\ndef kernel(x, out, n, BLOCK: tl.constexpr):\n"
                     "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n" +
                         body,
                     signature, "x86-64-v3");
}

} // namespace nereid::cpu::test
