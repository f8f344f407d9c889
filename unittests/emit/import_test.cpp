// SPDX-License-Identifier: Apache-2.0
// Kernels over several files: what import statements find, and what is said when they do not.
#include "unittests/emit/EmitTest.h"

#include "lib/support/AtomicFile.h"

#include <cstdlib>
#include <filesystem>

namespace nereid::language {
namespace {

namespace fs = std::filesystem;

const char *const head = "import triton\nimport triton.language as tl\n";

/// A folder of source files; emits kernels out of it.
class Imports : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "nereid-imports-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &name, const std::string &text) {
    fs::create_directories((fs::path(folder) / name).parent_path());
    ASSERT_TRUE(writeFileAtomically(folder + "/" + name, text));
  }
  /// A file with the language's imports in front.
  void source(const std::string &name, const std::string &text) { write(name, head + text); }

  /// Emits the last kernel of the file.
  Emitted emit(const std::string &name, const std::string &signature = "*fp32",
               std::vector<std::string> importPaths = {}) {
    Emitted result;
    result.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    std::optional<SourceModule> file = parseFile(folder + "/" + name, result.diags);
    if (!file || file->jitFunctions().empty()) {
      ADD_FAILURE() << result.diags.render();
      return result;
    }
    const FunctionDef *kernel = file->find(file->jitFunctions().back());
    Result<Signature> parsed = parseSignature(signature, *kernel);
    EXPECT_TRUE(parsed);
    ModuleLoader loader(std::move(importPaths));
    result.module = emitKernel(*result.context, *file, *kernel, *parsed, result.diags, &loader);
    EXPECT_EQ(!result.module, result.diags.hasErrors()) << result.diags.render();
    if (result.module) {
      llvm::raw_string_ostream stream(result.text);
      result.module->print(stream);
    }
    dependencies = loader.dependencies();
    return result;
  }

  /// What the kernel makes of 5 in a pointer's first element.
  float run(const std::string &name, std::vector<std::string> importPaths = {}) {
    Emitted kernel = emit(name, "*fp32", std::move(importPaths));
    EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
    std::vector<float> data = {5};
    runtime::Tensor tensor = tensorOf(data, DType::F32);
    runKernel(kernel, {&tensor});
    return data[0];
  }

  /// The one error of a kernel that is refused.
  std::string refuse(const std::string &name, const std::string &code) {
    Emitted result = emit(name);
    EXPECT_TRUE(result.hasCode(code)) << "expects " << code << ", but got\n"
                                      << result.diags.render();
    EXPECT_EQ(result.diags.all().size(), 1u) << result.diags.render();
    std::string text = result.diags.render();
    for (size_t at = 0; (at = text.find(folder + "/", at)) != std::string::npos;) {
      text.erase(at, folder.size() + 1);
    }
    return text;
  }

  std::string digestOf(const std::string &name) const {
    for (const FileState &file : dependencies) {
      if (file.path == (fs::path(folder) / name).lexically_normal().string()) {
        return file.digest;
      }
    }
    return "";
  }

  std::string folder;
  std::vector<FileState> dependencies;
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::string kernelThat(const std::string &imports, const std::string &expression) {
  return imports + "@triton.jit\ndef kernel(p):\n    x = tl.load(p)\n    tl.store(p, " +
         expression + ")\n";
}

const char *const twice = "@triton.jit\ndef twice(x):\n    return x * 2\n";

TEST_F(Imports, besideTheFile) {
  source("tools.py", twice);
  source("a.py", kernelThat("from tools import twice\n", "twice(x)"));
  EXPECT_EQ(run("a.py"), 10);
  source("b.py", kernelThat("from tools import twice as double\n", "double(x)"));
  EXPECT_EQ(run("b.py"), 10);
  source("c.py", kernelThat("import tools\n", "tools.twice(x)"));
  EXPECT_EQ(run("c.py"), 10);
  source("d.py", kernelThat("import tools as t\ndouble = t.twice\nagain = double\n", "again(x)"));
  EXPECT_EQ(run("d.py"), 10);
}

TEST_F(Imports, insideAPackage) {
  for (const char *package : {"pkg/", "pkg/ops/", "pkg/utils/"}) {
    write(std::string(package) + "__init__.py", "");
  }
  write("pkg/utils/__init__.py", "from .arith import twice as double\n");
  source("pkg/utils/arith.py", twice);
  source("pkg/ops/near.py", "@triton.jit\ndef plus_one(x):\n    return x + 1\n");
  const std::pair<const char *, const char *> forms[] = {
      {"from ..utils.arith import twice\n", "twice(x)"},
      {"from ..utils import arith\n", "arith.twice(x)"},
      {"from ..utils import double\n", "double(x)"},
      {"from .. import utils\n", "utils.arith.twice(x)"},
      {"from pkg.utils.arith import twice\n", "twice(x)"},
      {"import pkg.utils.arith\n", "pkg.utils.arith.twice(x)"},
      {"import pkg.utils.arith as a\n", "a.twice(x)"},
      {"from .near import plus_one as f\n", "f(x) + 4"},
      {"from . import near\n", "near.plus_one(x) + 4"},
      {"try:\n    from .near import plus_one\nexcept ImportError:\n    plus_one = None\n",
       "plus_one(x) + 4"},
  };
  for (const auto &[imports, expression] : forms) {
    source("pkg/ops/kernel.py", kernelThat(imports, expression));
    EXPECT_EQ(run("pkg/ops/kernel.py"), 10) << imports;
  }
}

TEST_F(Imports, packagesWithoutAnInitFile) {
  source("outer/pkg/ops/kernel.py", kernelThat("from pkg.tools.arith import twice\n", "twice(x)"));
  source("outer/pkg/tools/arith.py", twice);
  EXPECT_EQ(run("outer/pkg/ops/kernel.py"), 10);
  source("outer/pkg/ops/kernel.py", kernelThat("from pkg.tools import arith\n", "arith.twice(x)"));
  EXPECT_EQ(run("outer/pkg/ops/kernel.py"), 10);
}

TEST_F(Imports, importPathsComeLastAndInOrder) {
  source("here/kernel.py", kernelThat("from tools import twice\n", "twice(x)"));
  source("first/tools.py", twice);
  source("second/tools.py", "@triton.jit\ndef twice(x):\n    return x * 200\n");
  EXPECT_EQ(run("here/kernel.py", {folder + "/first", folder + "/second"}), 10);
  EXPECT_EQ(run("here/kernel.py", {folder + "/second", folder + "/first"}), 1000);
  source("here/tools.py", "@triton.jit\ndef twice(x):\n    return x + x + 1\n");
  EXPECT_EQ(run("here/kernel.py", {folder + "/second"}), 11);
}

TEST_F(Imports, helpersSeeTheirOwnFile) {
  // Both files have a SCALE and a `step`; the helper's are its own.
  source("tools.py", "from inner import step\nSCALE = tl.constexpr(3)\n"
                     "@triton.jit\ndef scaled(x, by: tl.constexpr = SCALE):\n"
                     "    return step(x) * by\n");
  source("inner.py",
         "OFFSET: tl.constexpr = 1\n@triton.jit\ndef step(x):\n    return x + OFFSET\n");
  source("kernel.py", "import tools\nfrom tools import scaled\nSCALE = tl.constexpr(100)\n"
                      "@triton.jit\ndef step(x):\n    return x * 1000\n" +
                          kernelThat("", "scaled(x) + SCALE + tools.SCALE"));
  EXPECT_EQ(run("kernel.py"), (5 + 1) * 3 + 100 + 3);
}

TEST_F(Imports, constants) {
  source("config.py", "WIDTH = 8\nHALF = tl.constexpr(WIDTH // 2)\nNAME = 'fp' + '32'\n"
                      "KIND = tl.float16\n");
  source("kernel.py", "from config import HALF, KIND\nimport config\n"
                      "@triton.jit\ndef kernel(p):\n"
                      "    tl.static_assert(HALF == 4)\n"
                      "    tl.static_assert(config.NAME == 'fp32')\n"
                      "    tl.store(p + tl.arange(0, HALF), tl.zeros((HALF,), KIND))\n");
  Emitted result = emit("kernel.py");
  EXPECT_TRUE(result.has("tensor<4xf16>")) << result.diags.render() << result.text;
}

TEST_F(Imports, everythingOfAModule) {
  source("tools.py", std::string(twice) + "@triton.jit\ndef _hidden(x):\n    return x\n");
  source("kernel.py", kernelThat("from tools import *\n", "twice(x)"));
  EXPECT_EQ(run("kernel.py"), 10);
  source("hidden.py", kernelThat("from tools import *\n", "_hidden(x)"));
  refuse("hidden.py", "E0202");
  source("tools.py", "__all__ = ['_hidden']\n" + std::string(twice) +
                         "@triton.jit\ndef _hidden(x):\n    return x + 4\n");
  EXPECT_EQ(run("hidden.py"), 9);
  refuse("kernel.py", "E0202");
  // Through two files, and the file's own definition wins.
  source("more.py", "from tools import *\n");
  write("tools.py", head + std::string(twice));
  source("kernel.py", kernelThat("from more import *\n", "twice(x)"));
  EXPECT_EQ(run("kernel.py"), 10);
  source("kernel.py", "@triton.jit\ndef twice(x):\n    return x * 7\n" +
                          kernelThat("from more import *\n", "twice(x)"));
  EXPECT_EQ(run("kernel.py"), 35);
}

TEST_F(Imports, filesMayImportEachOther) {
  source("even.py", "from odd import minus_one\n@triton.jit\ndef half(x):\n"
                    "    return minus_one(x) / 2\n");
  source("odd.py", "from even import half\n@triton.jit\ndef minus_one(x):\n    return x - 1\n");
  source("kernel.py", kernelThat("from odd import half\n", "half(x)"));
  EXPECT_EQ(run("kernel.py"), 2);
}

TEST_F(Imports, namesThatGoInACircle) {
  source("a.py", "from b import thing\n");
  source("b.py", "from a import thing\n");
  source("kernel.py", kernelThat("from a import thing\n", "thing(x)"));
  std::string text = refuse("kernel.py", "E0232");
  EXPECT_TRUE(contains(text, "the import of 'thing' goes in a circle")) << text;
  source("stars.py", "from more import *\n");
  source("more.py", "from stars import *\n");
  source("kernel.py", kernelThat("from stars import *\n", "thing(x)"));
  refuse("kernel.py", "E0202");
}

TEST_F(Imports, aModuleThatIsMissing) {
  source("kernel.py", kernelThat("from somewhere.deep import thing\n", "thing(x)"));
  std::string text = refuse("kernel.py", "E0230");
  EXPECT_TRUE(contains(text, "kernel.py:7:17: error: 'somewhere.deep.thing' is imported from "
                             "'somewhere.deep', a module that is not found"))
      << text;
  EXPECT_TRUE(contains(text, "somewhere/deep/__init__.py, somewhere/deep.py")) << text;
  EXPECT_TRUE(contains(text, "--import-path")) << text;
  source("kernel.py", kernelThat("import absent\n", "absent.thing(x)"));
  refuse("kernel.py", "E0230");
  source("kernel.py", kernelThat("from .absent import thing\n", "thing(x)"));
  refuse("kernel.py", "E0230");
}

TEST_F(Imports, whatIsNotUsedMayBeMissing) {
  source("kernel.py", kernelThat("import torch\nfrom absent import thing, other\n", "x + 1"));
  EXPECT_EQ(run("kernel.py"), 6);
  EXPECT_TRUE(dependencies.empty());
}

TEST_F(Imports, aNameThatTheModuleLacks) {
  source("tools.py", twice);
  source("kernel.py", kernelThat("from tools import twise\n", "twise(x)"));
  std::string text = refuse("kernel.py", "E0231");
  EXPECT_TRUE(contains(text, "module 'tools' has no 'twise'")) << text;
  EXPECT_TRUE(contains(text, "the module is tools.py")) << text;
  EXPECT_TRUE(contains(text, "did you mean 'twice'?")) << text;
}

TEST_F(Imports, functionsThatAreNoKernels) {
  source("tools.py", "def plain(x):\n    return x\n");
  source("kernel.py", kernelThat("from tools import plain\n", "plain(x)"));
  refuse("kernel.py", "E0224");
}

TEST_F(Imports, aSyntaxErrorIsShownInItsOwnFile) {
  source("tools.py", "@triton.jit\ndef twice(x):\n    return x *\n");
  source("kernel.py", kernelThat("from tools import twice\n", "twice(x)"));
  Emitted result = emit("kernel.py");
  ASSERT_TRUE(result.diags.hasErrors());
  const Diagnostic &first = result.diags.all().front();
  EXPECT_EQ(first.file, folder + "/tools.py");
  EXPECT_EQ(first.range.line, 5);
  EXPECT_EQ(first.code.substr(0, 3), "E01");
  std::string text = result.diags.render();
  EXPECT_TRUE(contains(text, "    return x *")) << text;
  EXPECT_TRUE(contains(text, "the file was imported for kernel.py:7")) << text;
}

TEST_F(Imports, aFileBeyondTheLimit) {
  source("tools.py", twice);
  fs::resize_file(folder + "/tools.py", uint64_t(1) << 40); // sparse: takes no space
  source("kernel.py", kernelThat("from tools import twice\n", "twice(x)"));
  std::string text = refuse("kernel.py", "E0001");
  EXPECT_TRUE(contains(text, "tools.py': expects at most 16777216 bytes, but got 1099511627776"))
      << text;
}

TEST_F(Imports, theTraceGoesThroughFiles) {
  source("pkg/__init__.py",
         "@triton.jit\ndef middle(x):\n    return inner(x)\nfrom .deep import inner\n");
  source("pkg/deep.py", "@triton.jit\ndef inner(x):\n    return x + missing\n");
  source("kernel.py", kernelThat("from pkg import middle\n", "middle(x)"));
  std::string text = refuse("kernel.py", "E0202");
  EXPECT_TRUE(contains(text, "pkg/deep.py:5:16: error: 'missing' is not defined")) << text;
  EXPECT_TRUE(contains(text, "'inner' was called from pkg/__init__.py:5")) << text;
  EXPECT_TRUE(contains(text, "'middle' was called from kernel.py:7")) << text;
}

TEST_F(Imports, operationsKnowTheirFiles) {
  source("tools.py", twice);
  source("kernel.py", kernelThat("from tools import twice\n", "twice(x)"));
  Emitted result = emit("kernel.py");
  ASSERT_TRUE(result.module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  result.module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  EXPECT_TRUE(contains(text, "/tools.py\":5:12")) << text;
  EXPECT_TRUE(contains(text, "callsite(")) << text;
}

TEST_F(Imports, dependenciesAreWhatDecided) {
  source("tools.py", twice);
  source("kernel.py", kernelThat("from tools import twice\n", "twice(x)"));
  run("kernel.py");
  EXPECT_EQ(digestOf("tools.py").size(), 64u);
  EXPECT_EQ(digestOf("tools/__init__.py"), absentFile);
  EXPECT_EQ(digestOf("kernel.py"), "");
  EXPECT_TRUE(isCurrent(dependencies));
  source("tools.py", std::string(twice) + "# changed\n");
  EXPECT_FALSE(isCurrent(dependencies));
  source("tools.py", twice);
  EXPECT_TRUE(isCurrent(dependencies));
  source("tools/__init__.py", twice); // shadows tools.py
  EXPECT_FALSE(isCurrent(dependencies));
  fs::remove_all(folder + "/tools");
  fs::remove(folder + "/tools.py");
  EXPECT_FALSE(isCurrent(dependencies));
}

} // namespace
} // namespace nereid::language
