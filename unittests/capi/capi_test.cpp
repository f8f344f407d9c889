// SPDX-License-Identifier: Apache-2.0
// The C interface through its C++ header: kernels from files and text, tensors, errors that come
// back as codes, and what the generated companions use.
#include "nereid/nereid.hpp"
#include "unittests/capi/Errors.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlpack/dlpack.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace {

const std::string vectorAdd = std::string(NEREID_SOURCE_DIR) + "/kernels/vector_add/vector_add.py";
constexpr const char *vectorAddSignature = "*fp32, *fp32, *fp32, i32, 1024";

class CApi : public ::testing::Test {
protected:
  static std::filesystem::path cache() {
    return std::filesystem::temp_directory_path() / ("nereid_capi_" + std::to_string(::getpid()));
  }
  static void SetUpTestSuite() { ::setenv("NEREID_CACHE_DIR", cache().c_str(), 1); }
  static void TearDownTestSuite() { std::filesystem::remove_all(cache()); }
};

TEST_F(CApi, KernelsImportFromFoldersTheProgramNames) {
  const std::filesystem::path folder = cache() / "shared helpers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "capi_tools.py")
      << "import triton\n@triton.jit\ndef twice(x):\n    return x * 2\n";
  const std::string source = "import triton\nimport triton.language as tl\n"
                             "from capi_tools import twice\n@triton.jit\ndef kernel(p):\n"
                             "    tl.store(p, twice(tl.load(p)))\n";
  EXPECT_EQ(errorOf([&] { nereid::Kernel::loadSource(source, "", "*fp32"); }).status(),
            NEREID_ERROR_COMPILE);
  EXPECT_EQ(std::string(nereid_last_error_code()), "E0230");
  nereid::addImportPath(folder.string());
  std::vector<float> data = {21};
  nereid::Kernel::loadSource(source, "", "*fp32").launch({1}, nereid::Tensor::borrow(data));
  EXPECT_EQ(data[0], 42);
  EXPECT_EQ(nereid_import_path_add(nullptr), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_import_path_add(""), NEREID_ERROR_ARGUMENT);
}

TEST_F(CApi, VectorAddOnVectorsOfTheProgram) {
  const nereid::Kernel kernel = nereid::Kernel::load(vectorAdd, "vector_add", vectorAddSignature);
  EXPECT_EQ(kernel.name(), "vector_add");
  EXPECT_EQ(nereid_kernel_argument_count(kernel.get()), 4);
  for (int n : {1, 1000, 1024, 98432}) {
    std::vector<float> x(static_cast<size_t>(n)), y(x.size()), out(x.size(), NAN);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) * 0.5f;
      y[i] = 3 - static_cast<float>(i);
    }
    kernel.launch({nereid::cdiv(n, 1024)}, nereid::Tensor::borrow(x), nereid::Tensor::borrow(y),
                  nereid::Tensor::borrow(out), n);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(out[i], x[i] + y[i]) << i << " of " << n;
    }
  }
}

TEST_F(CApi, StreamsCopyLaunchAndTellTheTime) {
  const nereid::Kernel kernel = nereid::Kernel::load(vectorAdd, "vector_add", vectorAddSignature);
  const nereid::Stream stream("cpu");
  std::vector<float> ones(3000, 1), twos(3000, 2), sums(3000);
  const nereid::Tensor x = nereid::Tensor::empty({3000}, nereid::DType::F32, "cpu:0");
  const nereid::Tensor y = nereid::Tensor::empty({3000}, nereid::DType::F32, "cpu");
  EXPECT_EQ(x.device(), "cpu:0");
  const nereid::Event start = stream.record();
  stream.copyIn(x, ones.data());
  stream.copyIn(y, twos.data());
  stream.launch(kernel, {nereid::cdiv(3000, 1024)}, x, y, x, 3000);
  stream.copyOut(x, sums.data());
  const nereid::Event end = stream.record();
  stream.synchronize();
  EXPECT_EQ(sums, std::vector<float>(3000, 3));
  const nereid::Stream other("cpu");
  other.waitFor(end);
  EXPECT_EQ(errorOf([&] { nereid::Stream::wrap("cpu", ones.data()); }).code(), "E0417");
  EXPECT_EQ(nereid::Tensor::emptyPinned({3}, nereid::DType::F32, "cpu").device(), "cpu:0");
  EXPECT_GT(end.nanosSince(start), 0);
  EXPECT_EQ(errorOf([] { nereid::Stream("npu:3"); }).code(), "E0415");
  EXPECT_EQ(errorOf([&] { stream.copyIn(nereid::Tensor(nullptr), ones.data()); }).code(), "E0031");
}

TEST_F(CApi, AGraphIsCapturedAndLaunched) {
  const nereid::Kernel kernel = nereid::Kernel::load(vectorAdd, "vector_add", vectorAddSignature);
  const nereid::Stream stream("cpu");
  const nereid::Tensor x = nereid::Tensor::empty({3000}, nereid::DType::F32, "cpu");
  x.fill(1);
  const nereid::Graph graph = stream.capture([&] {
    for (int i = 0; i < 2; ++i) {
      stream.launch(kernel, {nereid::cdiv(3000, 1024)}, x, x, x, 3000);
    }
  });
  EXPECT_EQ(x.at(0), 1);
  stream.launch(graph);
  stream.launch(graph);
  EXPECT_EQ(x.at(2999), 16);
  // A capture that is left by an exception is over.
  EXPECT_EQ(errorOf([&] { stream.capture([&] { stream.synchronize(); }); }).code(), "E0424");
  stream.synchronize();
  stream.launch(graph);
  EXPECT_EQ(x.at(7), 64);
}

TEST_F(CApi, KernelFromTextOnDlpackTensors) {
  const nereid::Kernel kernel =
      nereid::Kernel::loadSource("import triton\n"
                                 "import triton.language as tl\n"
                                 "@triton.jit\n"
                                 "def scale(x, factor, n, BLOCK: tl.constexpr):\n"
                                 "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                                 "    v = tl.load(x + i, mask=i < n)\n"
                                 "    tl.store(x + i, v * factor, mask=i < n)\n",
                                 "scale", "*fp32, fp32, i32, 64");
  std::vector<float> data(100, 2);
  int64_t shape[] = {100};
  DLTensor tensor{data.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  kernel.launch({2}, {nereid::Argument::dlpack(&tensor), 2.5, 99});
  EXPECT_EQ(data[0], 5);
  EXPECT_EQ(data[98], 5);
  EXPECT_EQ(data[99], 2) << "beyond n";
}

TEST_F(CApi, KernelsAreLoadedOnADevice) {
  const char *source = "import triton\nimport triton.language as tl\n@triton.jit\n"
                       "def one(x):\n    tl.store(x, 1.0)\n";
  const auto x = nereid::Tensor::empty({1}, nereid::DType::F32);
  nereid::Kernel::loadSourceOn("cpu:0", source, "one", "*fp32").launch({1}, x);
  EXPECT_EQ(x.at(0), 1);
  nereid::Kernel::loadOn("cpu", vectorAdd, "", vectorAddSignature, "cpu");
  EXPECT_EQ(errorOf([&] { nereid::Kernel::loadSourceOn("cpu:1", source, "one", "*fp32"); }).code(),
            "E0415");
  EXPECT_EQ(errorOf([] { nereid::Kernel::loadOn("npu", vectorAdd, "", "i32"); }).status(),
            NEREID_ERROR_ARGUMENT);
}

TEST_F(CApi, CompileErrorsComeBackWithPlaceAndCode) {
  const nereid::Error undefined = errorOf([] {
    nereid::Kernel::loadSource("import triton\n@triton.jit\ndef f(x):\n    y = z + 1\n", "f",
                               "i32");
  });
  EXPECT_EQ(undefined.status(), NEREID_ERROR_COMPILE);
  EXPECT_EQ(undefined.code(), "E0202") << undefined.what();
  EXPECT_NE(std::string(undefined.what()).find("<source>:4"), std::string::npos)
      << undefined.what();
  const nereid::Error missing =
      errorOf([] { nereid::Kernel::load("/nonexistent.py", "f", "i32"); });
  EXPECT_EQ(missing.status(), NEREID_ERROR_COMPILE);
  EXPECT_EQ(missing.code(), "E0001");
  EXPECT_EQ(errorOf([] { nereid::Kernel::load(vectorAdd, "nothing", "i32"); }).code(), "E0014");
  EXPECT_EQ(errorOf([] { nereid::Kernel::load(vectorAdd, "vector_add", "i32"); }).code(), "E0206");
}

TEST_F(CApi, LaunchErrorsComeBack) {
  const nereid::Kernel kernel = nereid::Kernel::load(vectorAdd, "", vectorAddSignature);
  const auto x = nereid::Tensor::empty({8}, nereid::DType::F32);
  const auto doubles = nereid::Tensor::empty({8}, nereid::DType::F64);
  EXPECT_EQ(errorOf([&] { kernel.launch({1}, x, x, x); }).code(), "E0401");
  EXPECT_EQ(errorOf([&] { kernel.launch({1}, x, x, doubles, 8); }).code(), "E0410");
  EXPECT_EQ(errorOf([&] { kernel.launch({1}, x, x, x, x); }).code(), "E0409");
  EXPECT_EQ(errorOf([&] { kernel.launch({-1}, x, x, x, 8); }).code(), "E0405");
  const int64_t grid[3] = {1, 1, 1};
  nereid_argument none[4] = {};
  EXPECT_EQ(nereid_kernel_launch(kernel.get(), grid, none, 4), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0408");
}

TEST_F(CApi, NullPointersAreRefused) {
  nereid_tensor *tensor = nullptr;
  nereid_kernel *kernel = nullptr;
  double bandwidth = 0;
  EXPECT_EQ(nereid_tensor_create(nullptr, 1, NEREID_F32, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_create(nullptr, 0, NEREID_F32, nullptr), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_borrow(nullptr, nullptr, nullptr, 0, NEREID_F32, &tensor),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_from_dlpack(nullptr, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_kernel_load(nullptr, nullptr, "", nullptr, &kernel), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_kernel_load("x.py", nullptr, nullptr, nullptr, &kernel), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_kernel_launch(nullptr, nullptr, nullptr, 0), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_eager(nullptr, nullptr, 0, nullptr, nullptr), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_compare(nullptr, nullptr, 0, 0, nullptr), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_time_pair(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_copy_bandwidth(nullptr), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_dtype_parse("float31", nullptr), NEREID_ERROR_ARGUMENT);
  (void)bandwidth;
  nereid_tensor_free(nullptr);
  nereid_kernel_free(nullptr);
  EXPECT_EQ(nereid_tensor_rank(nullptr), 1);
  EXPECT_EQ(nereid_tensor_element_count(nullptr), 0);
  EXPECT_EQ(nereid_tensor_get(nullptr, 0), 0);
}

TEST_F(CApi, ImpossibleTensorsAreRefused) {
  nereid_tensor *tensor = nullptr;
  const int64_t negative[] = {-1}, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(nereid_tensor_create(negative, 1, NEREID_F32, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_create(negative, 65, NEREID_F32, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_create(huge, 2, static_cast<nereid_dtype>(99), &tensor),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_create(huge, 2, NEREID_F32, &tensor), NEREID_ERROR_MEMORY);
  EXPECT_STREQ(nereid_last_error_code(), "E0506");
  EXPECT_EQ(tensor, nullptr);
}

TEST_F(CApi, ErrorsBelongToTheirThread) {
  EXPECT_EQ(nereid_dtype_parse("nothing", nullptr), NEREID_ERROR_ARGUMENT);
  std::thread([] { EXPECT_STREQ(nereid_last_error(), ""); }).join();
  EXPECT_NE(std::strlen(nereid_last_error()), 0u);
}

TEST_F(CApi, TensorsKeepTheirViewsAlive) {
  auto whole = std::make_unique<nereid::Tensor>(nereid::Tensor::empty({4, 5}, nereid::DType::I32));
  whole->fillIntegers(3, 0, 100);
  const double expected = whole->at(2 * 5 + 1);
  const nereid::Tensor column = whole->view(1, {4}, {5});
  whole.reset();
  EXPECT_FALSE(column.isContiguous());
  EXPECT_EQ(column.at(2), expected);
  EXPECT_EQ(errorOf([&] { column.view(0, {20}); }).status(), NEREID_ERROR_ARGUMENT);
}

TEST_F(CApi, TakesMoreArgumentsThanFitOnTheStack) {
  std::string parameters, signature, sum = "0";
  for (int i = 0; i < 40; ++i) {
    const std::string name = "a" + std::to_string(i);
    parameters += ", " + name;
    signature += ", i32";
    sum += " + " + name + " * " + std::to_string(i);
  }
  const std::string source = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                             "def weigh(out" +
                             parameters + "):\n    tl.store(out, " + sum + ")\n";
  const auto kernel = nereid::Kernel::loadSource(source, "weigh", "*i32" + signature);
  const auto out = nereid::Tensor::empty({1}, nereid::DType::I32);
  std::vector<nereid::Argument> arguments = {out};
  for (int i = 0; i < 40; ++i) {
    arguments.emplace_back(100 - i);
  }
  kernel.launch({1}, arguments);
  // Sum over i < 40 of i * (100 - i) = 100 * 780 - 20540.
  EXPECT_EQ(out.at(0), 57460);
}

TEST_F(CApi, DlpackRoundTrip) {
  const auto tensor = nereid::Tensor::empty({2, 3}, nereid::DType::BF16);
  tensor.fill(1.5);
  const auto back = nereid::Tensor::fromDlpack(tensor.toDlpack());
  EXPECT_EQ(back.data(), tensor.data());
  EXPECT_EQ(back.dtype(), nereid::DType::BF16);
  EXPECT_EQ(back.at(5), 1.5);
}

TEST_F(CApi, FilesRoundTrip) {
  const std::string path = (cache().string() + "_x.npy");
  const auto tensor = nereid::Tensor::empty({3, 4}, nereid::DType::F16);
  tensor.fillNormal(1);
  tensor.save(path);
  const auto back = nereid::Tensor::load(path);
  EXPECT_TRUE(nereid::compare(tensor, back, 0, 0).passed);
  std::filesystem::remove(path);
  EXPECT_EQ(errorOf([&] { nereid::Tensor::load(path); }).status(), NEREID_ERROR_FILE);
}

TEST_F(CApi, EagerOperations) {
  const auto x = nereid::Tensor::empty({2, 3}, nereid::DType::F32);
  const auto bias = nereid::Tensor::empty({3}, nereid::DType::F32);
  for (int i = 0; i < 6; ++i) {
    x.set(i, i);
    bias.set(i % 3, 10 * (i % 3));
  }
  const auto sum = nereid::eager("add", {x, bias});
  EXPECT_EQ(sum.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(sum.at(5), 25);
  const auto mean = nereid::eager("mean", {sum}, {{"dim", -1}, {"keepdim", true}});
  EXPECT_EQ(mean.shape(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(mean.at(0), 11);
  EXPECT_EQ(errorOf([&] { nereid::eager("no_such_thing", {x}); }).code(), "E0603");
  EXPECT_EQ(errorOf([&] {
              nereid::eager("add", {x, nereid::Tensor::empty({2}, nereid::DType::F32)});
            }).code(),
            "E0604");
  nereid_tensor *out = nullptr;
  const nereid_tensor *inputs[] = {x.get()};
  for (const char *bad : {"{", "[1]", "{\"dim\": {}}", "{\"dim\": [1.5]}"}) {
    EXPECT_EQ(nereid_eager("mean", inputs, 1, bad, &out), NEREID_ERROR_ARGUMENT) << bad;
    EXPECT_STREQ(nereid_last_error_code(), "E0031");
  }
}

TEST_F(CApi, ComparisonFindsTheFirstMismatch) {
  const auto a = nereid::Tensor::empty({10}, nereid::DType::F32);
  const auto b = nereid::Tensor::empty({10}, nereid::DType::F64);
  a.fill(1);
  b.fill(1);
  EXPECT_TRUE(nereid::compare(a, b, 0, 0).passed);
  a.set(4, 1.25);
  const nereid::Comparison found = nereid::compare(a, b, 1e-3, 1e-3);
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.mismatches, 1);
  EXPECT_EQ(found.firstMismatch, 4);
  EXPECT_EQ(found.actual, 1.25);
  EXPECT_EQ(found.expected, 1);
  EXPECT_NEAR(found.maxAbsolute, 0.25, 1e-12);
  EXPECT_NEAR(found.meanAbsolute, 0.025, 1e-12);
  EXPECT_THROW(nereid::compare(a, nereid::Tensor::empty({9}, nereid::DType::F64), 0, 0),
               nereid::Error);
}

TEST_F(CApi, TimingCallsBothAndPassesExceptionsOn) {
  int first = 0, second = 0, prepared = 0;
  nereid::TimeOptions options;
  options.minimumSamples = 5;
  options.budgetSeconds = 0.2;
  options.beforeSample = [&] { ++prepared; };
  const nereid::PairTiming timing = nereid::timePair([&] { ++first; }, [&] { ++second; }, options);
  EXPECT_TRUE(first > 0 && second > 0 && prepared > 0);
  EXPECT_TRUE(timing.first.samples >= 20 && timing.second.samples >= 20)
      << "though 5 are asked for";
  EXPECT_TRUE(timing.pValue >= 0 && timing.pValue <= 1);
  EXPECT_THROW(nereid::timePair([] { throw std::runtime_error("stop"); }, [] {}, options),
               std::runtime_error);
}

TEST_F(CApi, OneCallableIsTimed) {
  const auto wait = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  int calls = 0, prepared = 0;
  nereid::TimeOptions options;
  options.budgetSeconds = 0.3;
  options.beforeSample = [&] { ++prepared; };
  const nereid::Timing timing = nereid::timeOne([&] { ++calls, wait(); }, options);
  EXPECT_GE(timing.samples, 20);
  EXPECT_GE(timing.minimumNanos, 3e5);
  EXPECT_GE(timing.medianNanos, timing.minimumNanos);
  EXPECT_GE(timing.meanNanos, timing.minimumNanos);
  EXPECT_GE(timing.p99Nanos, timing.p90Nanos);
  EXPECT_GE(timing.p90Nanos, timing.medianNanos);
  EXPECT_GE(calls, timing.samples + 2) << "the runs that warm up are no samples";
  EXPECT_EQ(calls, prepared);
  EXPECT_THROW(nereid::timeOne([] { throw std::runtime_error("stop"); }), std::runtime_error);
  options.beforeSample = [] { throw std::runtime_error("not prepared"); };
  EXPECT_THROW(nereid::timeOne([] {}, options), std::runtime_error);
}

TEST_F(CApi, ColdCachesAreTimedOneRunAtATime) {
  const auto x = nereid::Tensor::empty({1 << 14}, nereid::DType::F32); // 64 KiB
  x.fill(1);
  int runs = 0, samples = 0;
  const auto read = [&] {
    ++runs;
    const auto *values = static_cast<const volatile float *>(x.data());
    for (int i = 0; i < 1 << 14; i += 16) {
      (void)values[i];
    }
  };
  nereid::TimeOptions options;
  options.budgetSeconds = 0.2;
  options.beforeSample = [&] { ++samples; };
  const nereid::Timing warm = nereid::timeOne(read, options);
  EXPECT_GT(runs, 2 * samples);
  runs = samples = 0;
  options.coldCaches = true;
  const nereid::Timing cold = nereid::timeOne(read, options);
  EXPECT_EQ(runs, samples);
  EXPECT_GE(cold.samples, 20);
  EXPECT_GT(cold.medianNanos, warm.medianNanos);
}

TEST_F(CApi, ThreadCountIsSetAndChecked) {
  nereid::setThreadCount(3);
  EXPECT_EQ(nereid::threadCount(), 3);
  EXPECT_THROW(nereid::setThreadCount(-1), nereid::Error);
  EXPECT_EQ(nereid::threadCount(), 3);
  nereid::setThreadCount(0);
  EXPECT_GE(nereid::threadCount(), 1);
}

TEST_F(CApi, Names) {
  EXPECT_STREQ(nereid_version(), "0.1.0");
  EXPECT_STREQ(nereid::name(nereid::DType::BF16), "bfloat16");
  nereid_dtype parsed = NEREID_BOOL;
  EXPECT_EQ(nereid_dtype_parse("fp16", &parsed), NEREID_OK);
  EXPECT_EQ(parsed, NEREID_F16);
  EXPECT_STREQ(nereid_dtype_name(static_cast<nereid_dtype>(-1)), "");
}

} // namespace
