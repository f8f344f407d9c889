// SPDX-License-Identifier: Apache-2.0
// Tensors that cannot be, bounds and counts that mean nothing, texts that are none: the C interface
// refuses each of them and says what is wrong.
#include "nereid/nereid.hpp"

#include <cmath>
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <limits>

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max(),
                  least = std::numeric_limits<int64_t>::min();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void expectRefused(nereid_status status, const std::string &words, const std::string &what) {
  EXPECT_EQ(status, NEREID_ERROR_ARGUMENT) << what;
  EXPECT_STREQ(nereid_last_error_code(), "E0031") << what;
  EXPECT_NE(std::string(nereid_last_error()).find(words), std::string::npos)
      << what << ": " << nereid_last_error();
}

/// One impossible description; everything else is that of 2 x 3 floats.
struct DlpackCase {
  const char *what;
  std::function<void(DLTensor &)> spoil;
  const char *words;
};

std::vector<DlpackCase> dlpackCases() {
  static int64_t negative[] = {2, -3}, large[] = {int64_t{1} << 40, int64_t{1} << 40},
                 widest[] = {2, int64_t{1} << 62}, many[65] = {}, far[] = {most, 1},
                 below[] = {least, 1}, back[] = {-(int64_t{1} << 59), 1}, flat[] = {0, 0};
  const auto type = [](uint8_t code, uint8_t bits, uint16_t lanes) {
    return [=](DLTensor &t) { t.dtype = {code, bits, lanes}; };
  };
  const char *noType = "element type", *beyond = "reach beyond it";
  return {
      {"a GPU of a kind without a target", [](DLTensor &t) { t.device.device_type = kDLROCM; },
       "device type 10"},
      {"a GPU that is not there", [](DLTensor &t) { t.device = {kDLCUDA, 1 << 20}; }, "driver"},
      {"device type 0", [](DLTensor &t) { t.device.device_type = DLDeviceType(0); }, "type 0"},
      {"managed memory", [](DLTensor &t) { t.device.device_type = DLDeviceType(13); }, "type 13"},
      {"unknown device", [](DLTensor &t) { t.device.device_type = DLDeviceType(15); }, "type 15"},
      {"ndim -1", [](DLTensor &t) { t.ndim = -1; }, "but got -1"},
      {"ndim smallest", [](DLTensor &t) { t.ndim = INT32_MIN; }, "0 to 64 dimensions"},
      {"ndim largest", [](DLTensor &t) { t.ndim = INT32_MAX; }, "0 to 64 dimensions"},
      {"65 dimensions", [](DLTensor &t) { t.ndim = 65, t.shape = many; }, "0 to 64 dimensions"},
      {"no shape", [](DLTensor &t) { t.shape = nullptr; }, "null pointer"},
      {"no data", [](DLTensor &t) { t.data = nullptr; }, "data pointer is null"},
      {"no data, but an offset", [](DLTensor &t) { t.data = nullptr, t.byte_offset = 64; },
       "data pointer is null"},
      {"negative size", [](DLTensor &t) { t.shape = negative; }, "but got -3"},
      {"too many elements", [](DLTensor &t) { t.shape = large; }, "can be counted"},
      {"too many elements without steps", [](DLTensor &t) { t.shape = large, t.strides = flat; },
       "can be counted"},
      {"too many bytes", [](DLTensor &t) { t.shape = widest; }, "can be counted"},
      {"largest stride", [](DLTensor &t) { t.strides = far; }, beyond},
      {"smallest stride", [](DLTensor &t) { t.strides = below; }, beyond},
      {"stride below address 0", [](DLTensor &t) { t.strides = back; }, beyond},
      {"largest offset", [](DLTensor &t) { t.byte_offset = UINT64_MAX; }, "byte_offset"},
      {"offset behind the end",
       [](DLTensor &t) { t.byte_offset = UINT64_MAX - reinterpret_cast<uintptr_t>(t.data) - 3; },
       beyond},
      {"offset within an element", [](DLTensor &t) { t.byte_offset = 2; }, "it leaves 2"},
      {"address within an element", [](DLTensor &t) { t.data = static_cast<char *>(t.data) + 1; },
       "it leaves 1"},
      {"no lanes", type(kDLFloat, 32, 0), noType},
      {"four lanes", type(kDLFloat, 32, 4), noType},
      {"no bits", type(kDLFloat, 0, 1), noType},
      {"float of 8 bits", type(kDLFloat, 8, 1), noType},
      {"float of 80 bits", type(kDLFloat, 80, 1), noType},
      {"float of 128 bits", type(kDLFloat, 128, 1), noType},
      {"integer of 4 bits", type(kDLInt, 4, 1), noType},
      {"integer of 128 bits", type(kDLUInt, 128, 1), noType},
      {"bfloat of 32 bits", type(kDLBfloat, 32, 1), noType},
      {"bool of 16 bits", type(6, 16, 1), noType},
      {"complex", type(kDLComplex, 64, 1), noType},
      {"opaque handle", type(kDLOpaqueHandle, 64, 1), noType},
      {"unknown code", type(255, 32, 1), noType},
  };
}

TEST(Impossible, DlpackTensorsAreNotTakenOver) {
  static int deletions;
  deletions = 0;
  for (const DlpackCase &one : dlpackCases()) {
    alignas(64) float data[6] = {};
    int64_t shape[] = {2, 3};
    DLManagedTensor managed{};
    managed.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
    managed.deleter = [](DLManagedTensor *) { ++deletions; };
    one.spoil(managed.dl_tensor);
    nereid_tensor *tensor = nullptr;
    expectRefused(nereid_tensor_from_dlpack(&managed, &tensor), one.words, one.what);
    EXPECT_EQ(tensor, nullptr) << one.what;
  }
  EXPECT_EQ(deletions, 0);
}

TEST(Impossible, DlpackTensorsAreNotLaunchedOn) {
  const auto kernel = nereid::Kernel::loadSource("import triton\nimport triton.language as tl\n"
                                                 "@triton.jit\ndef one(x):\n"
                                                 "    tl.store(x, 1.0)\n",
                                                 "", "*fp32");
  for (const DlpackCase &one : dlpackCases()) {
    alignas(64) float data[6] = {};
    int64_t shape[] = {2, 3};
    DLTensor tensor{data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
    one.spoil(tensor);
    nereid_argument argument{};
    argument.kind = NEREID_ARGUMENT_DLPACK;
    argument.value.dlpack = &tensor;
    const int64_t grid[] = {1, 1, 1};
    EXPECT_EQ(nereid_kernel_launch(kernel.get(), grid, &argument, 1), NEREID_ERROR_LAUNCH)
        << one.what;
    EXPECT_STREQ(nereid_last_error_code(), "E0408") << one.what;
    EXPECT_NE(std::string(nereid_last_error()).find(one.words), std::string::npos)
        << one.what << ": " << nereid_last_error();
    EXPECT_EQ(data[0], 0) << one.what;
  }
}

TEST(Impossible, WhatOnlyLooksSoIsTaken) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[] = {2, 3}, empty[] = {most, 0, most}, backwards[] = {-3, -1}, single[] = {1},
          anyStep[] = {most};
  const auto first = [&](DLTensor description) {
    DLManagedTensor managed{};
    managed.dl_tensor = description;
    nereid_tensor *tensor = nullptr;
    EXPECT_EQ(nereid_tensor_from_dlpack(&managed, &tensor), NEREID_OK) << nereid_last_error();
    const double value = nereid_tensor_get(tensor, 0);
    nereid_tensor_free(tensor);
    return value;
  };
  EXPECT_EQ(first({data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, backwards, 20}), 5);
  EXPECT_EQ(first({data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, single, anyStep, 8}), 2);
  EXPECT_EQ(first({data, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 4}), 1);
  EXPECT_EQ(first({nullptr, {kDLCPU, 0}, 3, {kDLFloat, 32, 1}, empty, nullptr, 4}), 0);
}

TEST(Impossible, BorrowedTensorsAndViews) {
  float data[6] = {};
  nereid_tensor *tensor = nullptr;
  const auto borrow = [&](void *address, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return nereid_tensor_borrow(address, shape.data(), strides.empty() ? nullptr : strides.data(),
                                static_cast<int>(shape.size()), NEREID_F32, &tensor);
  };
  expectRefused(borrow(data, {most, 2}, {}), "can be counted", "product");
  expectRefused(borrow(data, {most / 2}, {}), "can be counted", "bytes");
  expectRefused(borrow(data, {2, 2}, {most, 1}), "reach beyond it", "stride");
  expectRefused(borrow(data, {2, 2}, {least, 1}), "reach beyond it", "negative stride");
  expectRefused(borrow(reinterpret_cast<char *>(data) + 2, {2}, {}), "it leaves 2", "address");
  const auto whole = nereid::Tensor::borrow(data, {6}, nereid::DType::F32);
  const auto view = [&](int64_t offset, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return nereid_tensor_view(whole.get(), offset, shape.data(),
                              strides.empty() ? nullptr : strides.data(),
                              static_cast<int>(shape.size()), &tensor);
  };
  expectRefused(view(most, {1}, {}), "outside", "offset");
  expectRefused(view(least, {1}, {}), "outside", "negative offset");
  expectRefused(view(0, {7}, {}), "outside", "size");
  expectRefused(view(0, {2, 2, 2}, {most, most, most}), "outside", "strides");
  expectRefused(view(0, {most, most, most}, {most, most, most}), "counted", "sums beyond 128 bits");
  expectRefused(view(0, {most, most}, {0, 0}), "counted", "elements");
  EXPECT_EQ(tensor, nullptr);
}

TEST(Impossible, BoundsOfRandomNumbers) {
  const auto tensor = [](nereid::DType type) { return nereid::Tensor::empty({4}, type); };
  using nereid::DType;
  const auto uniform = [&](DType type, double low, double high) {
    return nereid_tensor_fill_uniform(tensor(type).get(), 1, low, high);
  };
  for (double bad : {infinity, -infinity, notANumber}) {
    expectRefused(uniform(DType::F32, bad, 1), "finite", "low");
    expectRefused(uniform(DType::F32, 0, bad), "finite", "high");
  }
  constexpr double largest = std::numeric_limits<double>::max();
  expectRefused(uniform(DType::F64, -largest, largest), "finite", "width");
  expectRefused(uniform(DType::F32, 1, 0), "not above", "order");
  expectRefused(uniform(DType::F16, 0, 1e5), "'float16' holds", "float16");
  expectRefused(uniform(DType::F32, -1e39, 0), "'float32' holds", "float32");
  expectRefused(uniform(DType::I8, -129, 0), "'int8' holds", "int8");
  expectRefused(uniform(DType::U32, -1, 4), "'uint32' holds", "uint32");
  expectRefused(uniform(DType::Bool, 0, 2), "'bool' holds", "bool");
  EXPECT_EQ(uniform(DType::F32, 1, 1), NEREID_OK);
  EXPECT_EQ(uniform(DType::U64, 0, 0x1p63), NEREID_OK);
  EXPECT_EQ(uniform(DType::F64, -largest / 2, largest / 2), NEREID_OK);
  const auto integers = [&](DType type, int64_t low, int64_t high) {
    return nereid_tensor_fill_integers(tensor(type).get(), 1, low, high);
  };
  expectRefused(integers(DType::I32, 5, 5), "not included", "empty");
  expectRefused(integers(DType::I32, 5, 4), "not included", "order");
  expectRefused(integers(DType::I32, most, least), "not included", "extremes");
  expectRefused(integers(DType::I8, 0, 129), "'int8' holds", "int8");
  expectRefused(integers(DType::U64, -1, 9), "'uint64' holds", "uint64");
  expectRefused(integers(DType::Bool, 0, 3), "'bool' holds", "bool");
  expectRefused(integers(DType::F16, 0, 70000), "'float16' holds", "float16");
  EXPECT_EQ(integers(DType::I64, least, most), NEREID_OK);
  EXPECT_EQ(integers(DType::I8, -128, 128), NEREID_OK);
  EXPECT_EQ(integers(DType::Bool, 0, 2), NEREID_OK);
  expectRefused(nereid_tensor_fill(tensor(DType::I32).get(), notANumber), "finite", "NaN");
  expectRefused(nereid_tensor_fill(tensor(DType::Bool).get(), infinity), "finite", "infinity");
  EXPECT_EQ(nereid_tensor_fill(tensor(DType::F16).get(), notANumber), NEREID_OK);
}

TEST(Impossible, CountsAndTolerances) {
  const auto x = nereid::Tensor::empty({2}, nereid::DType::F32);
  x.fill(1);
  nereid_comparison comparison{};
  for (double bad : {-1e-3, infinity, notANumber}) {
    expectRefused(nereid_compare(x.get(), x.get(), bad, 0, &comparison), "tolerances", "relative");
    expectRefused(nereid_compare(x.get(), x.get(), 0, bad, &comparison), "tolerances", "absolute");
  }
  const auto time = [](int samples, double seconds) {
    const nereid_callback call = [](void *) { return 0; };
    const nereid_time_options options{samples, seconds, nullptr, nullptr, 0};
    nereid_time_pair_result result{};
    return nereid_time_pair(call, nullptr, call, nullptr, &options, &result);
  };
  expectRefused(time(-1, 1), "samples", "negative");
  expectRefused(time(INT32_MAX, 1), "samples", "too many");
  for (double bad : {-1.0, infinity, notANumber}) {
    expectRefused(time(2, bad), "budget", "budget");
  }
  for (int threads : {-1, 4097, INT32_MIN, INT32_MAX}) {
    expectRefused(nereid_set_thread_count(threads), "threads", std::to_string(threads));
  }
  const nereid_tensor *inputs[] = {x.get()};
  nereid_tensor *out = nullptr;
  expectRefused(nereid_eager("relu", inputs, SIZE_MAX, nullptr, &out), "at most 64", "inputs");
  const auto kernel =
      nereid::Kernel::loadSource("import triton\n@triton.jit\ndef none():\n    pass\n", "", "");
  const nereid_argument argument{};
  for (int64_t bad : {int64_t{-1}, least, most}) {
    const int64_t grid[] = {1, bad, 1};
    EXPECT_EQ(nereid_kernel_launch(kernel.get(), grid, nullptr, 0), NEREID_ERROR_LAUNCH) << bad;
    EXPECT_STREQ(nereid_last_error_code(), "E0405");
  }
  const int64_t grid[] = {1, 1, 1};
  EXPECT_EQ(nereid_kernel_launch(kernel.get(), grid, &argument, SIZE_MAX), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0401");
}

TEST(Impossible, Attributes) {
  const auto x = nereid::Tensor::empty({2, 3}, nereid::DType::F32);
  x.fill(1);
  const nereid_tensor *inputs[] = {x.get()};
  nereid_tensor *out = nullptr;
  const std::string deep = "{\"dim\": " + std::string(200000, '[') + std::string(200000, ']') + "}";
  for (const std::string &bad :
       {deep, std::string(200000, '['), std::string("{\"dim\": 9223372036854775808}"),
        std::string("{\"dim\": [18446744073709551615]}"), std::string("{\"dim\": null}"),
        "{\"" + std::string(5000, 'x') + "\": {}}", std::string("{\"dim\": \"\xff\"}")}) {
    expectRefused(nereid_eager("mean", inputs, 1, bad.c_str(), &out), "nereid_eager", "attributes");
    EXPECT_LT(std::string(nereid_last_error()).size(), 1000u) << "an excerpt is enough";
  }
  for (const char *bad : {"{\"dim\": 9223372036854775807}", "{\"dim\": -9223372036854775808}",
                          "{\"dim\": [0, 0]}", "{\"d\\u0000im\": 0}", "{\"dim\": \"\\u0000\"}"}) {
    EXPECT_EQ(nereid_eager("mean", inputs, 1, bad, &out), NEREID_ERROR_ARGUMENT) << bad;
    EXPECT_STRNE(nereid_last_error_code(), "") << bad;
  }
  EXPECT_EQ(out, nullptr);
}

TEST(Impossible, Texts) {
  nereid_dtype dtype = NEREID_F32;
  nereid_tensor *tensor = nullptr;
  nereid_kernel *kernel = nullptr;
  const auto x = nereid::Tensor::empty({2}, nereid::DType::F32);
  const nereid_tensor *inputs[] = {x.get()};
  const char *source = "import triton\n@triton.jit\ndef none():\n    pass\n";
  // Each with the text in the place of one of its texts.
  const std::vector<std::function<nereid_status(const char *)>> calls = {
      [&](const char *text) { return nereid_dtype_parse(text, &dtype); },
      [&](const char *text) { return nereid_tensor_load(text, &tensor); },
      [&](const char *text) { return nereid_tensor_save(x.get(), text); },
      [&](const char *text) { return nereid_kernel_load(text, nullptr, "", nullptr, &kernel); },
      [&](const char *text) { return nereid_kernel_load("x.py", text, "", nullptr, &kernel); },
      [&](const char *text) { return nereid_kernel_load("x.py", nullptr, text, nullptr, &kernel); },
      [&](const char *text) { return nereid_kernel_load("x.py", nullptr, "", text, &kernel); },
      [&](const char *text) {
        return nereid_kernel_load_source(source, text, nullptr, "", nullptr, &kernel);
      },
      [&](const char *text) {
        return nereid_kernel_load_source(source, nullptr, text, "", nullptr, &kernel);
      },
      [&](const char *text) { return nereid_import_path_add(text); },
      [&](const char *text) { return nereid_eager(text, inputs, 1, nullptr, &tensor); },
      [&](const char *text) { return nereid_eager("relu", inputs, 1, text, &tensor); },
  };
  const std::string longText((1 << 20) + 1, 'x');
  for (size_t i = 0; i < calls.size(); ++i) {
    expectRefused(calls[i](longText.c_str()), "bytes, but got more", std::to_string(i));
    for (const char *bad : {"\xff", "ab\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"}) {
      expectRefused(calls[i](bad), "in UTF-8", std::to_string(i));
    }
    EXPECT_NE(calls[i]("/no such \xe2\x82\xac folder/x"), NEREID_ERROR_INTERNAL)
        << nereid_last_error();
    // A name for the text of a kernel may be anything.
    nereid_kernel_free(kernel);
    kernel = nullptr;
  }
  EXPECT_EQ(nereid_kernel_load_source("x = '\xff'\n", nullptr, nullptr, "", nullptr, &kernel),
            NEREID_ERROR_COMPILE);
  EXPECT_STREQ(nereid_last_error_code(), "E0109");
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(tensor, nullptr);
}

/// C would see the text end at its first zero byte.
TEST(Impossible, TextsWithZeroBytes) {
  using namespace std::string_literals;
  const std::string zero = "a\0b"s;
  const auto x = nereid::Tensor::empty({2}, nereid::DType::F32);
  const std::vector<std::function<void()>> calls = {
      [&] { nereid::Tensor::load(zero); },
      [&] { x.save(zero); },
      [&] { nereid::addImportPath(zero); },
      [&] { nereid::Kernel::load(zero, "", ""); },
      [&] { nereid::Kernel::load("x.py", zero, ""); },
      [&] { nereid::Kernel::load("x.py", "", zero); },
      [&] { nereid::Kernel::load("x.py", "", "", zero); },
      [&] { nereid::Kernel::loadSource(zero, "", ""); },
      [&] { nereid::eager(zero, {x}); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    try {
      calls[i]();
      ADD_FAILURE() << i;
    } catch (const nereid::Error &error) {
      EXPECT_EQ(error.status(), NEREID_ERROR_ARGUMENT) << i;
      EXPECT_EQ(error.code(), "E0031") << i;
    }
  }
}

TEST(Impossible, ExceptionsOfCallbacksEndInAStatus) {
  const nereid_callback standard = [](void *) -> int { throw std::runtime_error("stop"); };
  const nereid_callback other = [](void *) -> int { throw 1; };
  for (nereid_callback call : {standard, other}) {
    nereid_time_pair_result result{};
    EXPECT_EQ(nereid_time_pair(call, nullptr, call, nullptr, nullptr, &result),
              NEREID_ERROR_INTERNAL);
    EXPECT_STREQ(nereid_last_error_code(), "E0390");
  }
}

} // namespace
