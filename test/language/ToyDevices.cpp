// SPDX-License-Identifier: Apache-2.0
// What devices promise, of one that works in threads of its own; streams of another library; and
// kernels on the second device of a kind.
#include "lib/pipeline/Compiler.h"
#include "runtime/ThreadPool.h"
#include "test/language/engines/ToyDevice.h"
#include "test/language/engines/ToyStream.h"
#include "test/language/engines/ToyTarget.h"
#include "unittests/DeviceContract.h"

#include <atomic>

namespace nereid::runtime::test {

static const bool isKnown = (conformance::registerToyDevices(), true);

NEREID_DEVICE_CONTRACT(Toy, testing::Values("toy:0", "toy:1"));

} // namespace nereid::runtime::test

namespace nereid::conformance {
namespace {

using namespace runtime;

Device &toy(int32_t id) { return *std::get<Device *>(findDevice(ToyDevice::dlpackType, id)); }

/// Of `x[i] = 1000 + i`, or with an assertion that fails.
std::optional<Kernel> compiled(const std::string &device, const std::string &target, bool asserts,
                               Diagnostics &diags) {
  registerToy();
  pipeline::CompileInput input;
  input.path = "k.py";
  input.source = std::string("import triton\nimport triton.language as tl\n@triton.jit\n"
                             "def number_it(x):\n    i = tl.program_id(0)\n") +
                 (asserts ? "    tl.device_assert(i < 0, 'never')\n" : "") +
                 "    tl.store(x + i, i + 1000)\n";
  input.signature = "*i32";
  pipeline::CompileOptions options;
  options.target = target;
  options.device = device;
  options.useCache = false;
  return pipeline::compileKernel(input, options, diags);
}

TEST(ToyDevices, AKernelIsLoadedWhereItIsWanted) {
  for (const char *name : {"", "toy:0", "toy:1"}) {
    Diagnostics diags;
    const auto kernel = compiled(name, "toy", false, diags);
    ASSERT_TRUE(kernel) << diags.render();
    const int32_t id = std::string(name) == "toy:1" ? 1 : 0;
    EXPECT_EQ(&kernel->code->device(), &toy(id));
    const Tensor x = Tensor::empty({8}, DType::I32, toy(id));
    const Tensor elsewhere = Tensor::empty({8}, DType::I32, toy(1 - id));
    const ArgumentValue right[] = {&x}, wrong[] = {&elsewhere};
    const LaunchError error = launch(*kernel, {8, 1, 1}, right, defaultPool());
    EXPECT_FALSE(error) << error.message;
    EXPECT_EQ(x.at(7), 1007);
    EXPECT_EQ(launch(*kernel, {8, 1, 1}, wrong, defaultPool()).code, "E0416");
  }
}

TEST(ToyDevices, AKernelIsNotLoadedOnAnotherKindOfDevice) {
  const std::pair<const char *, const char *> refused[] = {
      {"toy:2", "E0415"}, {"cpu:0", "E0416"}, {"npu", "E0415"}};
  for (const auto &[device, code] : refused) {
    Diagnostics diags;
    EXPECT_FALSE(compiled(device, "toy", false, diags));
    ASSERT_TRUE(diags.hasErrors());
    EXPECT_EQ(diags.all().front().code, code) << diags.render();
  }
}

/// A failure comes late, is told once, and ends nothing.
TEST(ToyDevices, AFailureIsToldByTheStreamItIsOf) {
  Diagnostics diags;
  const auto failing = compiled("", "toy", true, diags), plain = compiled("", "toy", false, diags);
  ASSERT_TRUE(failing && plain) << diags.render();
  const Tensor x = Tensor::empty({8}, DType::I32, toy(0));
  const ArgumentValue arguments[] = {&x};
  const auto one = std::get<0>(toy(0).makeStream()), other = std::get<0>(toy(0).makeStream());
  EXPECT_FALSE(launch(*failing, {8, 1, 1}, arguments, *one));
  EXPECT_FALSE(other->waitFor(*std::get<0>(one->record())));
  EXPECT_FALSE(launch(*plain, {8, 1, 1}, arguments, *other));
  EXPECT_FALSE(other->synchronize());
  EXPECT_EQ(x.at(7), 1007);
  EXPECT_EQ(one->synchronize().code, "E0407");
  EXPECT_FALSE(one->synchronize());
  EXPECT_FALSE(launch(*plain, {8, 1, 1}, arguments, *one));
  EXPECT_FALSE(one->synchronize());
}

TEST(ToyDevices, WorkOnAStreamOfAnotherLibraryIsInTheOrderOfBothsCalls) {
  ToyQueue theirs;
  const std::shared_ptr<void> memory = toy(0).allocate(4);
  auto *const place = static_cast<int *>(otherSide(memory.get()));
  int five = 5, got = 0;
  std::atomic<bool> mayGoOn = false;
  std::unique_ptr<Stream> wrapped = std::get<0>(toy(0).wrapStream(&theirs));
  theirs.push([&] { mayGoOn.wait(false); });
  EXPECT_FALSE(wrapped->copyIn(memory.get(), &five, 4));
  theirs.push([&] { *place += 1; });
  EXPECT_FALSE(wrapped->copyOut(&got, memory.get(), 4));
  wrapped = nullptr; // does not wait, or this would take for ever
  EXPECT_EQ(got, 0);
  mayGoOn = true;
  mayGoOn.notify_all();
  wrapped = std::get<0>(toy(0).wrapStream(&theirs)); // it still is there
  EXPECT_FALSE(wrapped->synchronize());
  EXPECT_EQ(got, 6);
}

} // namespace
} // namespace nereid::conformance
