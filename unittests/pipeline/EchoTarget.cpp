// SPDX-License-Identifier: Apache-2.0
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"

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
  explicit EchoTarget(std::string architecture) : architecture(std::move(architecture)) {}

  std::string name() const override { return "echo:" + architecture; }
  std::string features() const override { return echoControl().features; }
  void registerDialects(mlir::DialectRegistry &) const override {}

  bool lower(mlir::ModuleOp module, bool, Diagnostics &) override {
    ++echoControl().lowered;
    if (echoControl().lowerFailsSilently) {
      return false;
    }
    mlir::Operation &kernel = module.getBody()->front();
    mlir::Builder builder(module.getContext());
    kernel.setAttr("nereid.scratch_bytes", builder.getI64IntegerAttr(640));
    kernel.setAttr("nereid.can_wait", builder.getUnitAttr());
    if (echoControl().lowerMakesInvalidIr) {
      kernel.removeAttr("sym_name");
    }
    return true;
  }

  std::unique_ptr<CodeModule> translate(mlir::ModuleOp module, bool, Diagnostics &) override {
    auto code = std::make_unique<EchoCode>();
    llvm::raw_string_ostream stream(code->body);
    module.print(stream);
    return code;
  }

  std::unique_ptr<CodeModule> parse(std::string_view text, const std::string &path,
                                    Diagnostics &diags) override {
    size_t end = text.find('\n');
    if (text.substr(0, 2) != "; " || end == std::string_view::npos) {
      diags.add(makeError("E0391", "not echo code"));
      return nullptr;
    }
    auto code = std::make_unique<EchoCode>();
    code->info = text.substr(2, end - 2);
    code->body = text.substr(end + 1);
    return code;
  }

  bool emitObject(CodeModule &code, std::vector<uint8_t> &object, Diagnostics &) override {
    const std::string &body = static_cast<EchoCode &>(code).body;
    object.assign(body.begin(), body.end());
    return true;
  }

  bool emitAssembly(CodeModule &, std::string &text, Diagnostics &) override {
    text = "echo\n";
    return true;
  }

private:
  std::string architecture;
};

Result<std::unique_ptr<Target>> makeEcho(std::string_view architecture) {
  if (!architecture.empty() && architecture != "loud") {
    return makeError("E0303", "no such echo");
  }
  return std::unique_ptr<Target>(std::make_unique<EchoTarget>(std::string(architecture)));
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

void registerEchoTarget() { registerTarget("echo", {makeEcho}); }

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
