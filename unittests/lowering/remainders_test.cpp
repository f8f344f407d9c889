// SPDX-License-Identifier: Apache-2.0
// Remainders of floats by integers, run on this machine and compared with the C library's, which is
// exact as well, to the last bit.
#include "lib/lowering/Passes.h"
#include "lib/pipeline/Compiler.h"
#include "lib/targets/Targets.h"
#include "runtime/ThreadPool.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <regex>

namespace nereid::lowering {
namespace {

/// o[i] = x[i] % y[i], one element a program, as phase `loops` has it. T stands for the type.
constexpr const char *kernelText = R"(module {
  func.func @k(%args: !llvm.ptr, %ids: !llvm.ptr, %grid: !llvm.ptr, %scratch: !llvm.ptr) attributes {
      nereid.arguments = [
        {divisibility = 1 : i64, dtype = "TYPE", kind = "pointer", name = "X"},
        {divisibility = 1 : i64, dtype = "TYPE", kind = "pointer", name = "Y"},
        {divisibility = 1 : i64, dtype = "TYPE", kind = "pointer", name = "O"}],
      nereid.read_only = array<i64: 0, 1>, nereid.scratch_bytes = 0 : i64,
      nereid.signature = "X=*TYPE,Y=*TYPE,O=*TYPE", tile.kernel} {
    %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
    %1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %y = llvm.load %1 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %o = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %i = llvm.load %ids : !llvm.ptr -> i32
    %3 = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, MLIR
    %4 = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, MLIR
    %5 = llvm.getelementptr %o[%i] : (!llvm.ptr, i32) -> !llvm.ptr, MLIR
    %a = llvm.load %3 {alignment = 4 : i64} : !llvm.ptr -> MLIR
    %b = llvm.load %4 {alignment = 4 : i64} : !llvm.ptr -> MLIR
    %r = arith.remf %a, %b : MLIR
    llvm.store %r, %5 {alignment = 4 : i64} : MLIR, !llvm.ptr
    return
  }
})";

std::string withoutRemainders(const std::string &text) {
  mlir::MLIRContext context;
  context.allowUnregisteredDialects();
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                      mlir::scf::SCFDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  mlir::PassManager passes(&context);
  passes.addPass(createExpandRemaindersPass());
  std::string result;
  if (module && succeeded(passes.run(*module))) {
    llvm::raw_string_ostream stream(result);
    module->print(stream);
  }
  return result;
}

template <class T, class Word> class Numbers {
public:
  static constexpr int mantissa = std::numeric_limits<T>::digits - 1;

  /// Numbers of all kinds, many of them near each other.
  T next() {
    const int width = sizeof(T) * 8;
    const Word ends[] = {0,
                         1,
                         wordOf(std::numeric_limits<T>::infinity()),
                         wordOf(std::numeric_limits<T>::quiet_NaN()),
                         wordOf(std::numeric_limits<T>::max()),
                         wordOf(std::numeric_limits<T>::min()),
                         static_cast<Word>(wordOf(std::numeric_limits<T>::min()) - 1),
                         wordOf(1),
                         wordOf(3)};
    Word bits = static_cast<Word>(engine());
    const unsigned kind = engine() % 8;
    if (kind == 0) {
      bits = ends[engine() % std::size(ends)] | (bits >> (width - 1) << (width - 1));
    } else if (kind < 4) { // about 1
      const Word exponent =
          static_cast<Word>((Word(1) << (width - 2 - mantissa)) - 8 + engine() % 16);
      bits = (bits & ((Word(1) << mantissa) - 1)) | (exponent << mantissa) |
             (bits >> (width - 1) << (width - 1));
    } else if (kind == 4) { // few bits
      bits &= ~((Word(1) << (mantissa - 3)) - 1);
    } else if (kind == 5) { // a subnormal
      bits &= ~(((Word(1) << (width - 1 - mantissa)) - 1) << mantissa);
    }
    return std::bit_cast<T>(bits);
  }

private:
  static Word wordOf(T value) { return std::bit_cast<Word>(value); }
  std::mt19937_64 engine{5};
};

template <class T, class Word> void checkAll(const std::string &name, const std::string &mlirName) {
  std::string text = std::regex_replace(kernelText, std::regex("TYPE"), name);
  text = withoutRemainders(std::regex_replace(text, std::regex("MLIR"), mlirName));
  ASSERT_FALSE(text.empty());
  ASSERT_EQ(text.find("arith.remf"), std::string::npos);
  registerTargets();
  pipeline::CompileInput input{.path = "remainders.mlir", .source = text};
  pipeline::CompileOptions options;
  options.from = "loops";
  options.useCache = false;
  Diagnostics diags;
  auto kernel = pipeline::compileKernel(input, options, diags);
  ASSERT_TRUE(kernel) << diags.render();
  constexpr int64_t count = 200000;
  const DType type = sizeof(T) == 4 ? DType::F32 : DType::F64;
  runtime::Tensor x = runtime::Tensor::empty({count}, type),
                  y = runtime::Tensor::empty({count}, type),
                  o = runtime::Tensor::empty({count}, type);
  Numbers<T, Word> numbers;
  for (int64_t i = 0; i < count; ++i) {
    x.as<T>()[i] = numbers.next();
    y.as<T>()[i] = numbers.next();
    if (i % 4 == 3) { // about multiples, up to those that the quotient's mantissa does not hold
      const T multiple =
          std::floor(std::ldexp(std::fabs(numbers.next()), static_cast<int>(i % 61)));
      const T product = y.as<T>()[i] * multiple;
      x.as<T>()[i] = i % 8 == 3 ? product : std::nextafter(product, T(0));
    }
  }
  const runtime::ArgumentValue arguments[] = {&x, &y, &o};
  const auto error = runtime::launch(*kernel, {count, 1, 1}, arguments, runtime::defaultPool());
  ASSERT_FALSE(error) << error.message;
  int64_t large = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T a = x.as<T>()[i], b = y.as<T>()[i], got = o.as<T>()[i], want = std::fmod(a, b);
    large += std::fabs(a / b) > 1e12 && want != 0;
    const bool isSame =
        std::isnan(want) ? std::isnan(got) : std::bit_cast<Word>(got) == std::bit_cast<Word>(want);
    ASSERT_TRUE(isSame) << a << " % " << b << " is " << got << ", but expects " << want;
  }
  EXPECT_GT(large, count / 20) << "of large quotients";
}

TEST(Remainders, OfFloatsAreExact) { checkAll<float, uint32_t>("fp32", "f32"); }
TEST(Remainders, OfDoublesAreExact) { checkAll<double, uint64_t>("fp64", "f64"); }

} // namespace
} // namespace nereid::lowering
