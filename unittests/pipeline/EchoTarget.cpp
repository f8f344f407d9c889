// SPDX-License-Identifier: Apache-2.0
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Phases.h"
#include "lib/support/AtomicFile.h"
#include "runtime/Device.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace nereid::pipeline::test {
namespace {

class EchoCode final : public CodeModule {
public:
  std::string body, info;
  std::string text() const override { return "; " + info + "\n" + body; }
  std::string kernelInfo() const override { return info; }
  void attachKernelInfo(const std::string &text) override { info = text; }
};

class EchoTarget final : public Target {
public:
  EchoTarget(std::string vendor, std::string architecture)
      : vendor(std::move(vendor)), architecture(std::move(architecture)) {}

  std::string name() const override { return vendor + ":" + architecture; }
  std::string features() const override { return echoControl().features; }
  void registerDialects(mlir::DialectRegistry &) const override {}
  std::span<const Phase> phases() const override;

private:
  std::string vendor, architecture;
};

bool lower(CompileState &state) {
  ++echoControl().lowered;
  if (echoControl().lowerFailsSilently) {
    return false;
  }
  noteKernelFacts(state);
  mlir::Operation &kernel = state.module->getBody()->front();
  mlir::Builder builder(kernel.getContext());
  kernel.setAttr("nereid.scratch_bytes", builder.getI64IntegerAttr(640));
  kernel.setAttr("nereid.threads", builder.getI64IntegerAttr(96));
  kernel.setAttr("nereid.blocking", builder.getUnitAttr());
  if (echoControl().lowerMakesInvalidIr) {
    kernel.removeAttr("sym_name");
  }
  return true;
}

/// Both phases in MLIR ask for what `lower` leaves.
bool verifyLowered(CompileState &state) {
  mlir::Operation &kernel = state.module->getBody()->front();
  if (!echoControl().lowerLeavesTooLittle && kernel.hasAttr("nereid.scratch_bytes")) {
    return true;
  }
  kernel.emitError("nothing echoes here");
  return false;
}

bool translate(CompileState &state) {
  auto code = std::make_unique<EchoCode>();
  llvm::raw_string_ostream stream(code->body);
  state.module->print(stream);
  return keepCode(state, std::move(code));
}

bool readEcho(CompileState &state) {
  const std::string &text = state.inputText;
  size_t end = text.find('\n');
  if (text.substr(0, 2) != "; " || end == std::string::npos) {
    state.diags.add(makeError("E0391", "not echo code"));
    return false;
  }
  auto code = std::make_unique<EchoCode>();
  code->info = text.substr(2, end - 2);
  code->body = text.substr(end + 1);
  return keepReadCode(state, std::move(code));
}

bool emitObject(CompileState &state) {
  const std::string &body = static_cast<EchoCode &>(*state.code).body;
  state.object.assign(body.begin(), body.end());
  return true;
}

bool emitAssembly(CompileState &state) {
  state.assembly = "echo\n";
  return true;
}

const Phase echoPhases[] = {
    {"calls", ".mlir", "what is called out", lower, readMlir, printMlir, verifyLowered},
    {"echoes", ".echo", "what comes back", translate, readEcho, printCode},
    {"sound", ".txt", "what is heard", emitAssembly, nullptr, printAssembly, nullptr, true},
    {"silence", ".o", "what is left", emitObject, nullptr, nullptr},
};

std::span<const Phase> EchoTarget::phases() const { return echoPhases; }

Result<std::unique_ptr<Target>> makeEcho(std::string_view architecture, const Machine *) {
  if (!architecture.empty() && architecture != "loud") {
    return makeError("E0303", "no such echo");
  }
  return std::unique_ptr<Target>(std::make_unique<EchoTarget>("echo", std::string(architecture)));
}

Result<std::unique_ptr<Target>> makeDeaf(std::string_view, const Machine *) {
  return std::unique_ptr<Target>(std::make_unique<EchoTarget>("deaf", ""));
}

/// Where echoes would run: the CPU under another name.
class EchoDevice final : public runtime::Device {
public:
  EchoDevice() : Device("echo", hostDlpackType, 0) {}
  std::shared_ptr<void> allocate(uint64_t bytes) override {
    return runtime::cpuDevice().allocate(bytes);
  }
  std::variant<std::shared_ptr<runtime::Module>, runtime::LaunchError>
  load(std::span<const uint8_t> code) override {
    if (echoControl().loadError) {
      return *echoControl().loadError;
    }
    return runtime::cpuDevice().load(code);
  }
  std::variant<std::unique_ptr<runtime::Stream>, runtime::LaunchError> makeStream() override {
    return runtime::cpuDevice().makeStream();
  }
};

std::variant<std::unique_ptr<runtime::Device>, runtime::LaunchError> makeEchoDevice(int32_t) {
  return std::make_unique<EchoDevice>();
}

/// All tests of this program share one cache of their own, chosen before it is first used.
class CacheFolder : public testing::Environment {
public:
  CacheFolder() { setenv("NEREID_CACHE_DIR", folder.path().c_str(), 1); }

private:
  TemporaryFolder folder;
};

[[maybe_unused]] testing::Environment *const cacheFolder =
    testing::AddGlobalTestEnvironment(new CacheFolder);

} // namespace

EchoControl &echoControl() {
  static EchoControl control;
  return control;
}

void registerEchoTarget() {
  static constexpr language::KernelOption options[] = {
      {"echo_times", nullptr, std::nullopt, 1, 8, /*isPowerOfTwo=*/false}};
  registerTarget("echo", {makeEcho, nullptr, options});
  registerTarget("deaf", {makeDeaf});
  runtime::registerDevices("echo", runtime::Device::hostDlpackType, makeEchoDevice);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "nereid-XXXXXX").string();
  folder = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string TemporaryFolder::write(const std::string &name, const std::string &text) const {
  std::string path = folder + "/" + name;
  EXPECT_TRUE(writeFileAtomically(path, text));
  return path;
}

std::string TemporaryFolder::read(const std::string &name) const {
  Result<std::string> text = readTextFile(folder + "/" + name);
  return text ? *text : std::string();
}

bool TemporaryFolder::has(const std::string &name) const {
  return std::filesystem::exists(folder + "/" + name);
}

} // namespace nereid::pipeline::test
