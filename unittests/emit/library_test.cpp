// SPDX-License-Identifier: Apache-2.0
// The functions written in the language itself, as kernels see them: types, sizes of what they
// emit, errors at the caller's place. Their values are checked by test/language.
#include "unittests/emit/EmitTest.h"

#include "lib/language/StandardLibrary.h"
#include "lib/language/emit/builtins/BuiltinTable.h"
#include "lib/language/emit/builtins/Builtins.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace nereid::language {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

size_t linesOf(const std::string &text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Library, everyFileParses) {
  EXPECT_GE(libraryFiles().size(), 5u);
  for (const LibraryFile &file : libraryFiles()) {
    Diagnostics diags;
    auto module = parseModule(std::string(file.name), std::string(file.text), diags);
    ASSERT_TRUE(module) << diags.render();
    EXPECT_FALSE(module->jitFunctions().empty()) << file.name;
  }
}

TEST(Library, everyFunctionOfTheTableIsFound) {
  for (const emit::BuiltinEntry &entry : emit::builtins()) {
    ASSERT_TRUE(!entry.isLibrary || findLibraryFunction(entry.name).module != nullptr)
        << "lib/language/std/ has no function " << entry.name;
  }
  size_t count = 0;
  for (const BuiltinInfo &info : builtinTable()) {
    LibraryFunction function = findLibraryFunction(info.name);
    if (function.module) {
      ++count;
      EXPECT_TRUE(info.isSupported) << info.name;
      EXPECT_FALSE(info.params.empty()) << info.name;
    }
    if (info.name == "topk") {
      EXPECT_EQ(info.params, "x, k, dim=None, descending=True");
    }
  }
  EXPECT_GE(count, 18u);
  EXPECT_FALSE(findLibraryFunction("load").module);
  EXPECT_FALSE(findLibraryFunction("").module);
}

/// exp(x) of four numbers by functions of pairs.py, one of which calls one of series.py.
const char *const powerBody = "i = tl.arange(0, 4)\n"
                              "x = tl.load(p + i)\n"
                              "high, low, n = _power(x, 0.0 * x)\n"
                              "tl.store(p + i, (high + low) * _power_of_two(n))";

TEST(Library, functionsOfItsOtherFilesAreFound) {
  Emitted kernel;
  kernel.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  std::optional<SourceModule> file =
      parseModule("another.py", kernelFile("p", powerBody), kernel.diags);
  ASSERT_TRUE(file) << kernel.diags.render();
  file->isLibrary = true;
  const FunctionDef *function = file->find("kernel");
  kernel.module = emitKernel(*kernel.context, *file, *function, *parseSignature("*fp32", *function),
                             kernel.diags);
  ASSERT_TRUE(kernel.module) << kernel.diags.render();
  std::vector<float> data = {0, 1, -3.5f, 20};
  std::vector<float> given = data;
  runtime::Tensor tensor = tensorOf(data, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&tensor}));
  for (size_t i = 0; i < data.size(); ++i) {
    EXPECT_FLOAT_EQ(data[i], std::exp(given[i]));
  }
}

TEST(Library, functionsOfItsFilesAreNoNamesOfKernels) {
  std::string text = refuseBody("p", powerBody, "*fp32", "E0202");
  EXPECT_TRUE(contains(text, "'_power' is not defined")) << text;
}

TEST(Library, noTwoFilesDefineAFunctionOfTheSameName) {
  std::map<std::string, std::string_view> files;
  for (const LibraryFile &file : libraryFiles()) {
    Diagnostics diags;
    auto module = parseModule(std::string(file.name), std::string(file.text), diags);
    ASSERT_TRUE(module) << diags.render();
    for (const std::string &name : module->jitFunctions()) {
      auto [first, isNew] = files.emplace(name, file.name);
      EXPECT_TRUE(isNew) << name << " stands in " << first->second << " and " << file.name;
    }
  }
}

TEST(Library, errorsPointAtTheCaller) {
  std::string text = refuseBody("p", "x = tl.load(p)\ny = tl.sort(x)", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "kernel.py:7:9: error:")) << text;
  EXPECT_TRUE(contains(text, "'sort' expects a tile, but got a scalar")) << text;
  EXPECT_TRUE(contains(text, "inside 'tl.sort', at nereid/order.py:")) << text;
  EXPECT_EQ(text.find("error:"), text.rfind("error:")) << text;
  text = refuseBody("p", "y = tl.topk(tl.arange(0, 8), 3)", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "'topk' expects for k a power of two up to 8, but got 3")) << text;
  refuseBody("p", "y = tl.topk(tl.arange(0, 8), 16)", "*fp32", "E0229");
  text = refuseBody("p", "y = tl.sort(tl.arange(0, 8), dim=1)", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "expects a dimension below the rank 1, but got 1")) << text;
  text = refuseBody("p", "y = tl.softmax(tl.arange(0, 8))", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "'softmax' expects floating-point values, but got")) << text;
  refuseBody("p", "y = tl.cumsum(tl.load(p), 0)", "*fp32", "E0229");
  refuseBody("p", "y = tl.uint_to_uniform_float(tl.load(p))", "*fp32", "E0229");
  text = refuseBody("p", "y = tl.sort(tl.arange(0, 8), 0, tl.load(p))", "*i32", "E0203");
  EXPECT_TRUE(contains(text, "'sort' expects a constant for 'descending'")) << text;
  refuseBody("p", "y = tl.rand(1)", "*fp32", "E0229");
  // Asserted two files away: of a function that asks for another one of arguments.py.
  text = refuseBody("p", "y = tl.math.erfc(tl.load(p))", "*i32", "E0229");
  EXPECT_TRUE(contains(text, "kernel.py:6:9: error: 'erfc' expects fp32 or fp64, but got int32"))
      << text;
  EXPECT_TRUE(contains(text, "inside 'tl.erfc', at nereid/arguments.py:")) << text;
}

TEST(Library, operationsStandWhereTheyAreCalled) {
  Emitted result =
      emitSource(kernelFile("p", "i = tl.arange(0, 8)\ntl.store(p + i, tl.sort(tl.load(p + i)))"),
                 "*fp32", true);
  EXPECT_TRUE(result.has("tile.gather"));
  EXPECT_FALSE(result.has("nereid/order.py")) << result.text;
}

TEST(Library, sortStaysSmall) {
  auto sorted = [](const std::string &size) {
    return emitBody("p", "i = tl.arange(0, " + size + ")\ntl.store(p + i, tl.sort(tl.load(p + i)))",
                    "*fp32");
  };
  Emitted small = sorted("16"), large = sorted("4096");
  EXPECT_EQ(linesOf(small.text), linesOf(large.text));
  EXPECT_LT(linesOf(large.text), 80u);
}

TEST(Library, typesOfScans) {
  auto typed = [](const std::string &call, const std::string &type, const std::string &signature) {
    emitBody("p",
             "x = tl.load(p + tl.arange(0, 4))\ntl.static_assert(" + call + ".dtype == " + type +
                 ")",
             signature);
  };
  typed("tl.cumsum(x, 0)", "tl.int32", "*i8");
  typed("tl.cumsum(x, 0)", "tl.uint32", "*u16");
  typed("tl.cumsum(x, 0)", "tl.int64", "*i64");
  typed("tl.cumsum(x, 0)", "tl.float16", "*fp16");
  typed("tl.cumsum(x, 0)", "tl.float32", "*bf16");
  typed("x.cumsum(0, dtype=tl.int64)", "tl.int64", "*i8");
  typed("tl.cumprod(x, 0)", "tl.int8", "*i8");
  typed("tl.cumprod(x, 0)", "tl.float32", "*bf16");
}

TEST(Library, shapes) {
  emitBody("p",
           "x = tl.load(p + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])\n"
           "tl.static_assert(tl.topk(x, 2).shape == (4, 2))\n"
           "tl.static_assert(tl.topk(x, 2, dim=0).shape == (2, 8))\n"
           "tl.static_assert(x.sort(dim=-2).shape == (4, 8))\n"
           "tl.static_assert(tl.interleave(x, x).shape == (4, 16))\n"
           "tl.static_assert(tl.flip(x, 0).shape == (4, 8))\n"
           "tl.static_assert(tl.rand(3, tl.arange(0, 8)).dtype == tl.float32)\n"
           "tl.static_assert(tl.randint(3, tl.arange(0, 8)).dtype == tl.uint32)",
           "*fp32");
}

TEST(Library, kernelsDoNotSeeItsOwnBuiltins) {
  refuseBody("p", "tl.store(p, _where_rarely(True, 1.0, 2.0))", "*fp32", "E0202");
  refuseBody("p", "tl.store(p, _divide_nearby(1.0, 2.0))", "*fp32", "E0202");
  refuseBody("p", "tl.store(p, _for_halves(1.0, 2.0))", "*fp32", "E0202");
}

TEST(Library, swizzlesInGroups) {
  // A 3x2 grid in groups of two rows, columns first; the last group has one row.
  Emitted kernel = emitBody("p",
                            "pid = tl.program_id(0)\n"
                            "i, j = tl.swizzle2d(pid // 2, pid % 2, 3, 2, 2)\n"
                            "tl.store(p + pid, i * 10 + j)",
                            "*i32");
  std::vector<int32_t> data(6, -1);
  runtime::Tensor tensor = tensorOf(data, DType::I32);
  ASSERT_TRUE(runKernel(kernel, {&tensor}, 6));
  EXPECT_EQ(data, (std::vector<int32_t>{0, 10, 1, 11, 20, 21}));
}

} // namespace
} // namespace nereid::language
