// SPDX-License-Identifier: Apache-2.0
// Kernels launched in a nereid-runner, here on this machine: tensors that share memory, scalars,
// waiting programs' errors, what is said when the runner refuses, dies or is no runner, and
// messages cut off anywhere.
#include "ObjectBuilder.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/remote/Arguments.h"
#include "runtime/remote/Runner.h"
#include "unittests/FarDevice.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::runtime;
using namespace nereid::runtime::remote;
using test::ObjectBuilder;

namespace {

std::unique_ptr<Runner> start() {
  auto started = Runner::start(NEREID_BINARY_DIR "/bin/nereid-runner");
  if (const auto *problem = std::get_if<std::string>(&started)) {
    ADD_FAILURE() << *problem;
    return nullptr;
  }
  return std::move(std::get<0>(started));
}

KernelInfo infoOf(std::vector<ArgumentKind> kinds) {
  KernelInfo info;
  info.name = "kernel";
  for (ArgumentKind kind : kinds) {
    info.arguments.push_back({.name = "a", .kind = kind, .dtype = DType::I32});
  }
  return info;
}

LaunchError loadError(Runner &runner, const KernelInfo &info, const std::vector<uint8_t> &object) {
  auto loaded = runner.load(info, object);
  const auto *error = std::get_if<LaunchError>(&loaded);
  return error ? *error : LaunchError{};
}

TEST(Remote, GreetsWithItsProcessor) {
  auto runner = start();
  ASSERT_TRUE(runner);
  EXPECT_EQ(runner->architecture(), cpuArchitecture());
  EXPECT_EQ(runner->features(), presentCpuFeatures());
}

TEST(Remote, TakesTensorsOfTheHostOnly) {
  auto runner = start();
  ASSERT_TRUE(runner);
  auto loaded = runner->load(infoOf({ArgumentKind::Pointer}), test::addThousandObject());
  const Tensor there = Tensor::empty({5}, DType::I32, test::FarDevice::get());
  const ArgumentValue arguments[] = {&there};
  const LaunchError error = runner->launch(std::get<uint64_t>(loaded), {4, 1, 1}, arguments);
  EXPECT_EQ(error.code, "E0416");
  EXPECT_NE(error.message.find("far:0"), std::string::npos);
}

TEST(Remote, LaunchesAndBringsTensorsBack) {
  auto runner = start();
  ASSERT_TRUE(runner);
  auto loaded = runner->load(infoOf({ArgumentKind::Pointer}), test::addThousandObject());
  ASSERT_TRUE(std::holds_alternative<uint64_t>(loaded)) << std::get<LaunchError>(loaded).message;
  Tensor out = Tensor::empty({5}, DType::I32);
  std::fill_n(out.as<int32_t>(), 5, -1);
  const ArgumentValue arguments[] = {&out};
  const LaunchError error = runner->launch(std::get<uint64_t>(loaded), {4, 1, 1}, arguments);
  EXPECT_FALSE(error) << error.message;
  for (int32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out.as<int32_t>()[i], 1000 + i);
  }
  EXPECT_EQ(out.as<int32_t>()[4], -1);
}

TEST(Remote, TensorsThatShareMemoryHereShareItThere) {
  // mov rax, [rdi]; mov rcx, [rdi+8]; mov rdx, [rdi+16]; mov [rax], edx; mov esi, [rcx];
  // mov [rax+4], esi; ret: the second tensor sees what was written through the first.
  ObjectBuilder object;
  object.code({0x48, 0x8B, 0x07, 0x48, 0x8B, 0x4F, 0x08, 0x48, 0x8B, 0x57, 0x10, 0x89, 0x10, 0x8B,
               0x31, 0x89, 0x70, 0x04, 0xC3});
  object.symbol("kernel", ObjectBuilder::Text, 0);
  auto runner = start();
  ASSERT_TRUE(runner);
  const KernelInfo info =
      infoOf({ArgumentKind::Pointer, ArgumentKind::Pointer, ArgumentKind::Integer});
  auto loaded = runner->load(info, object.build());
  ASSERT_TRUE(std::holds_alternative<uint64_t>(loaded));
  Tensor whole = Tensor::empty({8}, DType::I32);
  std::fill_n(whole.as<int32_t>(), 8, 0);
  Tensor view = Tensor::borrow(whole.as<int32_t>(), {2}, DType::I32, {3});
  const ArgumentValue arguments[] = {&whole, &view, int64_t{77}};
  const LaunchError error = runner->launch(std::get<uint64_t>(loaded), {1, 1, 1}, arguments);
  EXPECT_FALSE(error) << error.message;
  EXPECT_EQ(whole.as<int32_t>()[0], 77);
  EXPECT_EQ(whole.as<int32_t>()[1], 77);
}

TEST(Remote, RegionsCoverTensorsOnce) {
  std::vector<int32_t> memory(64);
  Tensor front = Tensor::borrow(memory.data(), {16}, DType::I32, {1});
  Tensor overlapping = Tensor::borrow(memory.data() + 8, {16}, DType::I32, {1});
  Tensor backwards = Tensor::borrow(memory.data() + 63, {4}, DType::I32, {-2});
  Tensor nothing = Tensor::borrow(memory.data(), {0}, DType::I32, {1});
  const ArgumentValue arguments[] = {&backwards, &overlapping, &front, &nothing, 1.5};
  const std::vector<Region> regions = regionsOf(arguments);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].data, reinterpret_cast<uint8_t *>(memory.data()));
  EXPECT_EQ(regions[0].bytes, 24 * 4U);
  EXPECT_EQ(regions[1].data, reinterpret_cast<uint8_t *>(memory.data() + 57));
  EXPECT_EQ(regions[1].bytes, 7 * 4U);
}

TEST(Remote, KeepsTheDistanceFromAPage) {
  std::vector<uint8_t> memory(8192 + 64);
  for (size_t shift : {0, 4, 32, 60}) {
    Tensor tensor = Tensor::borrow(memory.data() + shift, {3}, DType::I32, {1});
    const ArgumentValue arguments[] = {&tensor};
    MessageWriter writer;
    writeArguments(writer, regionsOf(arguments), arguments);
    MessageReader reader(writer.content());
    ReceivedArguments received;
    ASSERT_EQ(readArguments(reader, received), "");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(received.tensors[0]->data()) % 4096,
              reinterpret_cast<uintptr_t>(memory.data() + shift) % 4096);
  }
}

TEST(Remote, RefusesWhatItCannotRun) {
  auto runner = start();
  ASSERT_TRUE(runner);
  KernelInfo info = infoOf({ArgumentKind::Pointer});
  info.features = "+sve,+neon";
  LaunchError error = loadError(*runner, info, test::addThousandObject());
  EXPECT_EQ(error.code, "E0305");
  EXPECT_EQ(error.message, "kernel 'kernel' needs 'sve', 'neon', which this x86-64 machine lacks");
  info.features = "";
  error = loadError(*runner, info, {1, 2, 3});
  EXPECT_EQ(error.code, "E0408");
  EXPECT_NE(error.message.find("cannot be loaded"), std::string::npos) << error.message;
  info.name = "other";
  error = loadError(*runner, info, test::addThousandObject());
  EXPECT_EQ(error.code, "E0408");
  EXPECT_NE(error.message.find("'other' is not in the object"), std::string::npos) << error.message;
  // It goes on afterwards, and says what a launch says.
  info.name = "kernel";
  auto loaded = runner->load(info, test::addThousandObject());
  ASSERT_TRUE(std::holds_alternative<uint64_t>(loaded));
  const ArgumentValue wrong[] = {int64_t{1}};
  EXPECT_EQ(runner->launch(std::get<uint64_t>(loaded), {1, 1, 1}, wrong).code, "E0409");
  EXPECT_EQ(runner->launch(99, {1, 1, 1}, wrong).code, "E0408");
}

TEST(Remote, SaysHowARunnerEnded) {
  ObjectBuilder object;
  object.code({0x0F, 0x0B}); // ud2
  object.symbol("kernel", ObjectBuilder::Text, 0);
  auto runner = start();
  ASSERT_TRUE(runner);
  auto loaded = runner->load(infoOf({}), object.build());
  ASSERT_TRUE(std::holds_alternative<uint64_t>(loaded));
  LaunchError error = runner->launch(std::get<uint64_t>(loaded), {1, 1, 1}, {});
  EXPECT_EQ(error.code, "E0414");
  EXPECT_NE(error.message.find("signal 4"), std::string::npos) << error.message;
  // And again: nothing waits for a process that has gone.
  error = runner->launch(std::get<uint64_t>(loaded), {1, 1, 1}, {});
  EXPECT_EQ(error.code, "E0414");
}

TEST(Remote, SaysWhatIsNoRunner) {
  for (const auto &[command, wanted] :
       {std::pair("exit 3", "ended with status 3"),
        {"/nonexistent/runner", "status 127"},
        {"printf '\\011\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\0\\0\\0\\0x'", "says 'x'"},
        {"echo Welcome to this board", "says nothing"}}) {
    auto started = Runner::start(command);
    const auto *problem = std::get_if<std::string>(&started);
    ASSERT_TRUE(problem) << command;
    EXPECT_NE(problem->find(wanted), std::string::npos) << *problem;
  }
}

/// Neither what waits for input that never comes nor what says too little and goes on is waited
/// for.
TEST(Remote, WhatSaysNothingIsNotWaitedFor) {
  for (const auto &[command, wanted] :
       {std::pair("cat", "says nothing in 1 s"),
        {"printf abc; exec sleep 600", "says nothing in 1 s"},
        {"echo Welcome to this board; exec sleep 600", "signal 9"}}) {
    auto started = Runner::start(command, std::chrono::seconds(1));
    const auto *problem = std::get_if<std::string>(&started);
    ASSERT_TRUE(problem) << command;
    EXPECT_NE(problem->find(wanted), std::string::npos) << *problem;
  }
}

TEST(Remote, MessagesCutOffAnywhereAreRefused) {
  Tensor tensor = Tensor::empty({2, 3}, DType::F32);
  const ArgumentValue arguments[] = {&tensor, int64_t{5}, 2.5};
  MessageWriter writer;
  writeArguments(writer, regionsOf(arguments), arguments);
  const std::span<const uint8_t> content = writer.content();
  for (size_t length = 0; length < content.size(); ++length) {
    MessageReader reader(content.first(length));
    ReceivedArguments received;
    EXPECT_NE(readArguments(reader, received), "") << length;
  }
  // Every byte changed: refused or read, but never outside the memory.
  std::vector<uint8_t> damaged(content.begin(), content.end());
  for (size_t at = 0; at < damaged.size(); ++at) {
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      damaged[at] ^= change;
      MessageReader reader(damaged);
      ReceivedArguments received;
      if (readArguments(reader, received).empty()) {
        for (const auto &one : received.tensors) {
          for (int64_t i = 0; one->data() && i < one->elementCount(); ++i) {
            static_cast<void>(one->at(i));
          }
        }
      }
      damaged[at] ^= change;
    }
  }
  KernelInfo info = infoOf({ArgumentKind::Pointer, ArgumentKind::Integer});
  info.features = "+a,+b";
  info.scratchBytes = 4096;
  info.threads = 128;
  info.isBlocking = true;
  info.takesRanges = true;
  info.addsFloats = true;
  MessageWriter kernel;
  writeKernelInfo(kernel, info);
  MessageReader reader(kernel.content());
  const KernelInfo got = readKernelInfo(reader);
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(got.name, "kernel");
  EXPECT_EQ(got.features, "+a,+b");
  EXPECT_EQ(got.scratchBytes, 4096U);
  EXPECT_EQ(got.threads, 128U);
  EXPECT_TRUE(got.isBlocking);
  EXPECT_TRUE(got.takesRanges);
  EXPECT_TRUE(got.addsFloats);
  ASSERT_EQ(got.arguments.size(), 2U);
  EXPECT_EQ(got.arguments[1].kind, ArgumentKind::Integer);
}

} // namespace
