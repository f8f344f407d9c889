// SPDX-License-Identifier: Apache-2.0
// Devices, streams and events of the C interface, on the CPU and on a device whose memory the host
// cannot reach. capi_test.cpp has them in C++.
#include "lib/capi/Handles.h"
#include "lib/pipeline/Target.h"
#include "unittests/FarDevice.h"
#include "unittests/runtime/ObjectBuilder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlpack/dlpack.h>
#include <numeric>

using nereid::runtime::test::FarDevice;

namespace {

constexpr const char *addSource = "import triton\n"
                                  "import triton.language as tl\n"
                                  "@triton.jit\n"
                                  "def number_it(x):\n"
                                  "    i = tl.program_id(0)\n"
                                  "    tl.store(x + i, i + 1000)\n";
constexpr int64_t size = 16;
constexpr size_t bytes = size * sizeof(int32_t);
constexpr int64_t grid[3] = {size, 1, 1};

/// On one device: a tensor of int32, a stream, and a kernel that writes x[i] = 1000 + i.
class Streams : public testing::TestWithParam<const char *> {
protected:
  Streams() {
    FarDevice::get();
    EXPECT_EQ(nereid_tensor_create_on(GetParam(), &size, 1, NEREID_I32, &tensor), NEREID_OK);
    EXPECT_EQ(nereid_stream_create(GetParam(), &stream), NEREID_OK) << nereid_last_error();
    EXPECT_EQ(nereid_kernel_load_source(addSource, "k.py", nullptr, "*i32", "cpu", &kernel),
              NEREID_OK)
        << nereid_last_error();
    if (isFar()) {
      nereid::runtime::Kernel &own = kernel->kernel;
      own.code = std::get<0>(FarDevice::get().load(nereid::runtime::test::addThousandObject()));
      own.entry = reinterpret_cast<nereid::runtime::KernelEntry>(own.code->symbol("kernel"));
      own.info.takesRanges = false;
    }
    argument.kind = NEREID_ARGUMENT_TENSOR;
    argument.value.tensor = tensor;
  }
  ~Streams() override {
    nereid_kernel_free(kernel);
    nereid_stream_free(stream);
    nereid_tensor_free(tensor);
  }
  static bool isFar() { return std::string(GetParam()).rfind("far", 0) == 0; }
  /// Another device than this one, and its name.
  static const char *other() { return isFar() ? "cpu:0" : "far:0"; }

  nereid_tensor *tensor = nullptr;
  nereid_stream *stream = nullptr;
  nereid_kernel *kernel = nullptr;
  nereid_argument argument{};
};

TEST_P(Streams, CopyLaunchAndCopyBackInOrder) {
  EXPECT_STREQ(nereid_tensor_device(tensor), GetParam());
  int32_t given[size], before[size] = {}, after[size] = {};
  std::iota(given, given + size, 5);
  nereid_event *start = nullptr, *end = nullptr;
  ASSERT_EQ(nereid_stream_record(stream, &start), NEREID_OK);
  ASSERT_EQ(nereid_stream_copy_in(stream, tensor, given, bytes), NEREID_OK) << nereid_last_error();
  ASSERT_EQ(nereid_stream_copy_out(stream, tensor, before, bytes), NEREID_OK);
  ASSERT_EQ(nereid_stream_launch(stream, kernel, grid, &argument, 1), NEREID_OK)
      << nereid_last_error();
  ASSERT_EQ(nereid_stream_copy_out(stream, tensor, after, bytes), NEREID_OK);
  ASSERT_EQ(nereid_stream_record(stream, &end), NEREID_OK);
  ASSERT_EQ(nereid_stream_synchronize(stream), NEREID_OK) << nereid_last_error();
  for (int32_t i = 0; i < size; ++i) {
    EXPECT_EQ(before[i], 5 + i);
    EXPECT_EQ(after[i], 1000 + i);
  }
  double nanos = 0, backwards = 0;
  ASSERT_EQ(nereid_event_elapsed(start, end, &nanos), NEREID_OK);
  EXPECT_GT(nanos, 0);
  ASSERT_EQ(nereid_event_elapsed(end, start, &backwards), NEREID_OK);
  EXPECT_EQ(backwards, -nanos);
  nereid_event_free(start);
  nereid_event_free(end);
}

TEST_P(Streams, PlainLaunchesWaitAndElementsAreReached) {
  ASSERT_EQ(nereid_kernel_launch(kernel, grid, &argument, 1), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(nereid_tensor_get(tensor, 3), 1003);
  ASSERT_EQ(nereid_tensor_fill(tensor, 7), NEREID_OK);
  EXPECT_EQ(nereid_tensor_get(tensor, 15), 7);
  nereid_tensor_set(tensor, 15, 8);
  EXPECT_EQ(nereid_tensor_get(tensor, 15), 8);
}

TEST_P(Streams, ComparisonAndEagerOperationsTakeTensorsOfAnyDevice) {
  nereid_tensor *here = nullptr, *sum = nullptr;
  ASSERT_EQ(nereid_tensor_create(&size, 1, NEREID_I32, &here), NEREID_OK);
  for (nereid_tensor *each : {tensor, here}) {
    ASSERT_EQ(nereid_tensor_fill_integers(each, 3, 0, 100), NEREID_OK);
  }
  nereid_comparison found{};
  ASSERT_EQ(nereid_compare(tensor, here, 0, 0, &found), NEREID_OK);
  EXPECT_EQ(found.agrees, 1);
  const nereid_tensor *inputs[] = {tensor, here};
  ASSERT_EQ(nereid_eager("add", inputs, 2, nullptr, &sum), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(nereid_tensor_get(sum, 4), 2 * nereid_tensor_get(here, 4));
  nereid_tensor_free(sum);
  nereid_tensor_free(here);
}

TEST_P(Streams, OneWaitsForAnEventOfAnother) {
  nereid_stream *reader = nullptr;
  nereid_event *event = nullptr;
  nereid_tensor *pinned = nullptr;
  ASSERT_EQ(nereid_stream_create(GetParam(), &reader), NEREID_OK);
  ASSERT_EQ(nereid_tensor_create_pinned(GetParam(), &size, 1, NEREID_I32, &pinned), NEREID_OK);
  EXPECT_STREQ(nereid_tensor_device(pinned), "cpu:0");
  ASSERT_EQ(nereid_stream_launch(stream, kernel, grid, &argument, 1), NEREID_OK);
  ASSERT_EQ(nereid_stream_record(stream, &event), NEREID_OK);
  ASSERT_EQ(nereid_stream_wait(reader, event), NEREID_OK) << nereid_last_error();
  nereid_event_free(event);
  ASSERT_EQ(nereid_stream_copy_out(reader, tensor, nereid_tensor_data(pinned), bytes), NEREID_OK);
  ASSERT_EQ(nereid_stream_synchronize(reader), NEREID_OK);
  EXPECT_EQ(nereid_tensor_get(pinned, 3), 1003);
  nereid_tensor_free(pinned);
  nereid_stream_free(reader);
}

/// The far device has no graphs.
TEST_P(Streams, WhatIsCapturedIsLaunchedAsAWhole) {
  nereid_graph *graph = nullptr;
  nereid_tensor *from = nullptr;
  EXPECT_EQ(nereid_stream_end_capture(stream, &graph), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0424");
  if (isFar()) {
    EXPECT_EQ(nereid_stream_begin_capture(stream), NEREID_ERROR_LAUNCH);
    EXPECT_STREQ(nereid_last_error_code(), "E0423");
    return;
  }
  ASSERT_EQ(nereid_tensor_create_pinned(GetParam(), &size, 1, NEREID_I32, &from), NEREID_OK);
  ASSERT_EQ(nereid_tensor_fill(from, 5), NEREID_OK);
  ASSERT_EQ(nereid_tensor_fill(tensor, 1), NEREID_OK);
  ASSERT_EQ(nereid_stream_begin_capture(stream), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(nereid_stream_copy_in(stream, tensor, nereid_tensor_data(from), bytes), NEREID_OK);
  const int64_t half[3] = {size / 2, 1, 1};
  EXPECT_EQ(nereid_stream_launch(stream, kernel, half, &argument, 1), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(nereid_stream_synchronize(stream), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0424");
  ASSERT_EQ(nereid_stream_end_capture(stream, &graph), NEREID_OK) << nereid_last_error();
  nereid_kernel_free(kernel); // the graph keeps its code
  kernel = nullptr;
  EXPECT_EQ(nereid_tensor_get(tensor, 3), 1) << "nothing has run";
  for (const double value : {6, 7}) {
    ASSERT_EQ(nereid_tensor_fill(from, value), NEREID_OK);
    ASSERT_EQ(nereid_tensor_fill(tensor, 1), NEREID_OK);
    ASSERT_EQ(nereid_graph_launch(graph, stream), NEREID_OK) << nereid_last_error();
    ASSERT_EQ(nereid_stream_synchronize(stream), NEREID_OK);
    EXPECT_EQ(nereid_tensor_get(tensor, 3), 1003);
    EXPECT_EQ(nereid_tensor_get(tensor, size - 1), value);
  }
  nereid_stream *elsewhere = nullptr;
  ASSERT_EQ(nereid_stream_create(other(), &elsewhere), NEREID_OK);
  EXPECT_EQ(nereid_graph_launch(graph, elsewhere), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0416");
  nereid_stream_free(elsewhere);
  ASSERT_EQ(nereid_stream_begin_capture(stream), NEREID_OK);
  EXPECT_EQ(nereid_graph_launch(graph, stream), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0424");
  nereid_graph_free(graph);
  nereid_tensor_free(from);
}

TEST_P(Streams, AStreamThatIsFreedHasDoneItsWork) {
  int32_t got[size] = {};
  ASSERT_EQ(nereid_stream_launch(stream, kernel, grid, &argument, 1), NEREID_OK);
  ASSERT_EQ(nereid_stream_copy_out(stream, tensor, got, bytes), NEREID_OK);
  nereid_stream_free(stream);
  stream = nullptr;
  EXPECT_EQ(got[3], 1003);
}

TEST_P(Streams, AnEventOutlivesItsStreamsHandle) {
  nereid_event *event = nullptr;
  ASSERT_EQ(nereid_stream_record(stream, &event), NEREID_OK);
  nereid_stream_free(stream);
  stream = nullptr;
  double nanos = -1;
  EXPECT_EQ(nereid_event_elapsed(event, event, &nanos), NEREID_OK);
  EXPECT_EQ(nanos, 0);
  nereid_event_free(event);
}

TEST_P(Streams, WhatBelongsToAnotherDeviceIsRefused) {
  nereid_stream *foreign = nullptr;
  nereid_tensor *away = nullptr;
  nereid_event *mine = nullptr, *theirs = nullptr;
  ASSERT_EQ(nereid_stream_create(other(), &foreign), NEREID_OK);
  ASSERT_EQ(nereid_tensor_create_on(other(), &size, 1, NEREID_I32, &away), NEREID_OK);
  ASSERT_EQ(nereid_stream_record(stream, &mine), NEREID_OK);
  ASSERT_EQ(nereid_stream_record(foreign, &theirs), NEREID_OK);
  int32_t numbers[size];
  double nanos;
  EXPECT_EQ(nereid_stream_copy_in(foreign, tensor, numbers, bytes), NEREID_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find(other()), std::string::npos);
  EXPECT_EQ(nereid_stream_copy_out(foreign, tensor, numbers, bytes), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_event_elapsed(mine, theirs, &nanos), NEREID_ERROR_ARGUMENT);
  EXPECT_STREQ(nereid_last_error_code(), "E0031");
  EXPECT_EQ(nereid_stream_launch(foreign, kernel, grid, &argument, 1), NEREID_ERROR_LAUNCH);
  EXPECT_STREQ(nereid_last_error_code(), "E0416");
  argument.value.tensor = away;
  for (const bool isQueued : {false, true}) {
    EXPECT_EQ(isQueued ? nereid_stream_launch(stream, kernel, grid, &argument, 1)
                       : nereid_kernel_launch(kernel, grid, &argument, 1),
              NEREID_ERROR_LAUNCH);
    EXPECT_STREQ(nereid_last_error_code(), "E0416");
  }
  nereid_event_free(mine);
  nereid_event_free(theirs);
  nereid_stream_free(foreign);
  nereid_tensor_free(away);
}

TEST_P(Streams, CopiesExpectAllBytesSideBySide) {
  int32_t numbers[size];
  for (const size_t wrong : {size_t{0}, bytes - 1, bytes + 1}) {
    EXPECT_EQ(nereid_stream_copy_in(stream, tensor, numbers, wrong), NEREID_ERROR_ARGUMENT);
    EXPECT_EQ(nereid_stream_copy_out(stream, tensor, numbers, wrong), NEREID_ERROR_ARGUMENT);
  }
  const int64_t half = size / 2, two = 2;
  nereid_tensor *apart = nullptr;
  ASSERT_EQ(nereid_tensor_view(tensor, 0, &half, &two, 1, &apart), NEREID_OK);
  EXPECT_EQ(nereid_stream_copy_in(stream, apart, numbers, bytes / 2), NEREID_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find("side by side"), std::string::npos);
  nereid_tensor_free(apart);
}

INSTANTIATE_TEST_SUITE_P(Devices, Streams, testing::Values("cpu:0", "far:0"),
                         [](const auto &chosen) { return std::string(chosen.param, 3); });

TEST(Device, AnUnknownOneIsRefusedByName) {
  nereid_tensor *tensor = nullptr;
  nereid_stream *stream = nullptr;
  for (const char *name : {"", "npu", "npu:0", "cpu:1", "cpu:x", "cpu:0 "}) {
    EXPECT_EQ(nereid_tensor_create_on(name, &size, 1, NEREID_I32, &tensor), NEREID_ERROR_ARGUMENT);
    EXPECT_STREQ(nereid_last_error_code(), "E0415") << name;
    EXPECT_EQ(nereid_stream_create(name, &stream), NEREID_ERROR_ARGUMENT);
    EXPECT_STREQ(nereid_last_error_code(), "E0415") << name;
  }
  EXPECT_EQ(nereid_tensor_create_on("\xff", &size, 1, NEREID_I32, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_tensor_create_on("cpu", &size, -1, NEREID_I32, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(tensor, nullptr);
  EXPECT_EQ(stream, nullptr);
}

TEST(Device, ItsFailuresAreTold) {
  FarDevice &far = FarDevice::get();
  nereid_tensor *tensor = nullptr;
  far.failsAllocations = true;
  EXPECT_EQ(nereid_tensor_create_on("far", &size, 1, NEREID_I32, &tensor), NEREID_ERROR_MEMORY);
  far.failsAllocations = false;
  ASSERT_EQ(nereid_tensor_create_on("far", &size, 1, NEREID_I32, &tensor), NEREID_OK);
  nereid_stream *stream = nullptr;
  ASSERT_EQ(nereid_stream_create("far", &stream), NEREID_OK);
  int32_t numbers[size] = {};
  nereid_event *event = nullptr;
  nereid_comparison found{};
  auto failNext = [&] {
    far.nextError = nereid::runtime::LaunchError{"E0407", "the cable is out"};
  };
  const std::function<nereid_status()> calls[] = {
      [&] { return nereid_stream_copy_in(stream, tensor, numbers, bytes); },
      [&] { return nereid_stream_copy_out(stream, tensor, numbers, bytes); },
      [&] { return nereid_stream_record(stream, &event); },
      [&] { return nereid_tensor_poison(tensor); },
      [&] { return nereid_tensor_fill(tensor, 1); },
      [&] { return nereid_compare(tensor, tensor, 0, 0, &found); },
  };
  for (const auto &call : calls) {
    failNext();
    EXPECT_EQ(call(), NEREID_ERROR_LAUNCH) << &call - calls;
    EXPECT_NE(std::string(nereid_last_error()).find("the cable is out"), std::string::npos);
  }
  nereid_stream_free(stream);
  nereid_tensor_free(tensor);
}

TEST(Device, WithoutMemoryForACopyTheStatusSaysSo) {
  FarDevice &far = FarDevice::get();
  nereid_tensor *tensor = nullptr;
  ASSERT_EQ(nereid_tensor_create_on("far", &size, 1, NEREID_F32, &tensor), NEREID_OK);
  far.nextError = nereid::runtime::LaunchError{"E0506", "no memory for a copy"};
  EXPECT_EQ(nereid_tensor_fill(tensor, 1), NEREID_ERROR_MEMORY);
  EXPECT_STREQ(nereid_last_error_code(), "E0506");
  nereid_tensor_free(tensor);
}

TEST(Device, WithoutMemoryForATensorTellsWhatWasAsked) {
  FarDevice &far = FarDevice::get();
  nereid_tensor *tensor = nullptr;
  far.failsAllocations = true;
  EXPECT_EQ(nereid_tensor_create_on("far", &size, 1, NEREID_F64, &tensor), NEREID_ERROR_MEMORY);
  far.failsAllocations = false;
  EXPECT_EQ(tensor, nullptr);
  EXPECT_STREQ(nereid_last_error_code(), "E0506");
  const std::string elements = std::to_string(size), bytes = std::to_string(8 * size);
  EXPECT_NE(std::string(nereid_last_error())
                .find("no memory for " + bytes + " bytes on 'far:0', for a tensor of " + elements +
                      " elements of type 'float64'"),
            std::string::npos)
      << nereid_last_error();
}

TEST(Device, ElementsThatCannotBeReachedAreTold) {
  FarDevice &far = FarDevice::get();
  nereid_tensor *tensor = nullptr;
  ASSERT_EQ(nereid_tensor_create_on("far", &size, 1, NEREID_F32, &tensor), NEREID_OK);
  far.throwsNext = true;
  EXPECT_TRUE(std::isnan(nereid_tensor_get(tensor, 3)));
  EXPECT_STREQ(nereid_last_error_code(), "E0506");
  far.throwsNext = true;
  nereid_tensor_set(tensor, 3, 1);
  for (const bool isRead : {true, false}) {
    far.nextError = nereid::runtime::LaunchError{"E0407", "the cable is out"};
    if (isRead) {
      EXPECT_TRUE(std::isnan(nereid_tensor_get(tensor, 3)));
    } else {
      nereid_tensor_set(tensor, 3, 1);
    }
    EXPECT_STREQ(nereid_last_error_code(), "E0407") << isRead;
    EXPECT_EQ(nereid_tensor_create_on("npu", &size, 1, NEREID_F32, nullptr), NEREID_ERROR_ARGUMENT);
  }
  nereid_tensor_free(tensor);
}

/// In a process that has not loaded a kernel yet.
TEST(DeviceDeathTest, DevicesOfTargetsAreKnownFromTheStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto isKnown = [] { return nereid::pipeline::targetVendors().empty() ? 1 : 0; };
  EXPECT_EXIT(
      {
        nereid_stream *stream = nullptr;
        (void)nereid_stream_create("cpu", &stream);
        std::exit(isKnown());
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        nereid_tensor *tensor = nullptr;
        (void)nereid_tensor_from_dlpack(nullptr, &tensor);
        std::exit(isKnown());
      },
      testing::ExitedWithCode(0), "");
}

TEST(Device, ADlpackTensorOfAnUnknownOneIsRefused) {
  float number = 1;
  int64_t one = 1;
  DLManagedTensor managed{};
  managed.dl_tensor = {&number, {kDLVPI, 0}, 1, {kDLFloat, 32, 1}, &one, nullptr, 0};
  nereid_tensor *tensor = nullptr;
  EXPECT_EQ(nereid_tensor_from_dlpack(&managed, &tensor), NEREID_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find("DLPack device type 9"), std::string::npos);
}

} // namespace
