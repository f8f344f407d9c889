// SPDX-License-Identifier: Apache-2.0
// What a file decides when it is imported: conditions, `try`, constants that functions make. A case
// says in static_asserts what Python would have made of it.
#include "unittests/emit/EmitTest.h"

namespace nereid::language {
namespace {

const char *const head = "import triton\nimport triton.language as tl\n";

Emitted emitTop(const std::string &top, const std::string &body) {
  return emitSource(head + top + "@triton.jit\ndef kernel(p):\n    " + body + "\n", "*fp32");
}

void expectTrue(const std::string &top, const std::string &claim) {
  Emitted kernel = emitTop(top, "tl.static_assert(" + claim + ")");
  EXPECT_FALSE(kernel.diags.hasErrors()) << top << kernel.diags.render();
  EXPECT_TRUE(kernel.diags.all().empty()) << top << kernel.diags.render();
}

const char *const oneOrTwo = ":\n    X = tl.constexpr(1)\nelse:\n    X = tl.constexpr(2)\n";

TEST(ModuleConditions, AreEvaluated) {
  struct Row {
    const char *imports, *condition;
    int chosen;
  };
  for (Row row : {
           Row{"", "triton.__version__ >= '2.1.0'", 1},
           Row{"", "triton.__version__ < '2.1.0'", 2},
           Row{"from packaging import version\n",
               "version.parse(triton.__version__) >= version.parse('3.0.0')", 1},
           Row{"from packaging.version import Version\n",
               "Version(triton.__version__) < Version('3.0')", 2},
           Row{"from packaging.version import Version\n", "Version('2.10.0') > Version('2.9.1')",
               1},
           Row{"import sys\n", "sys.version_info >= (3, 10)", 1},
           Row{"import sys\n", "sys.version_info < (3, 9)", 2},
           Row{"import sys\n", "sys.version_info[0] == 2", 2},
           Row{"import sys\n", "sys.platform == 'win32'", 2},
           Row{"import platform\n", "platform.system() == 'Linux'", 1},
           Row{"import os\n", "os.environ.get('FAST_OPS', '0') == '1'", 2},
           Row{"import os\n", "os.getenv('FAST_OPS') is None", 1},
           Row{"import os\n", "'FAST_OPS' in os.environ", 2},
           Row{"", "hasattr(tl, 'gather')", 1},
           Row{"", "hasattr(tl, 'no_such_function')", 2},
           Row{"", "not hasattr(triton.language, 'make_tensor_descriptor')", 2},
           Row{"import importlib.metadata\n", "importlib.metadata.version('triton') >= '3'", 1},
           Row{"import torch\n", "torch.version.hip is not None", 2},
           Row{"import typing\n", "typing.TYPE_CHECKING", 2},
       }) {
    expectTrue(std::string(row.imports) + "if " + row.condition + oneOrTwo,
               "X == " + std::to_string(row.chosen));
  }
}

TEST(ModuleConditions, ThroughHelpersThatCompareVersions) {
  expectTrue("import importlib\nimport operator\nfrom packaging.version import Version\n"
             "def compare(package, how, wanted):\n"
             "    try:\n        found = importlib.import_module(package)\n"
             "    except ImportError:\n        return False\n"
             "    return how(Version(found.__version__), Version(wanted))\n"
             "A = tl.constexpr(compare('triton', operator.ge, '3.0.0'))\n"
             "B = tl.constexpr(compare('triton', operator.lt, '3.0.0'))\n"
             "C = tl.constexpr(compare('no_such_package', operator.ge, '1.0'))\n",
             "A and not B and not C");
}

TEST(ModuleConditions, OfTheModuleAreFollowedInOrder) {
  expectTrue("X = tl.constexpr(1)\nif triton.__version__ < '2':\n    X = tl.constexpr(2)\n",
             "X == 1");
  expectTrue("X = tl.constexpr(1)\nif triton.__version__ >= '2':\n    X = tl.constexpr(2)\n",
             "X == 2");
  expectTrue("if False:\n    X = tl.constexpr(1)\nelif True:\n    X = tl.constexpr(2)\n", "X == 2");
}

TEST(ModuleConditions, ImportErrorsChooseTheHandler) {
  const char *const absent = "try:\n    import no_such_package\n    X = tl.constexpr(1)\n"
                             "except ImportError:\n    X = tl.constexpr(2)\n";
  expectTrue(absent, "X == 2");
  expectTrue("try:\n    import os\n    X = tl.constexpr(1)\n"
             "except ImportError:\n    X = tl.constexpr(2)\n",
             "X == 1");
  expectTrue("try:\n    from triton.language.extra.libdevice import tanh\n"
             "    X = tl.constexpr(1)\nexcept ImportError:\n    X = tl.constexpr(2)\n",
             "X == 1");
  expectTrue("try:\n    from triton.language import no_such_function\n"
             "    X = tl.constexpr(1)\nexcept ImportError:\n    X = tl.constexpr(2)\n",
             "X == 2");
  expectTrue("try:\n    f = tl.no_such_function\n    X = tl.constexpr(1)\n"
             "except AttributeError:\n    X = tl.constexpr(2)\n",
             "X == 2");
  expectTrue("try:\n    import os\nexcept ImportError:\n    X = tl.constexpr(2)\n"
             "else:\n    X = tl.constexpr(3)\n",
             "X == 3");
}

TEST(ModuleConditions, AnOpenOneIsRemarked) {
  Emitted kernel = emitTop("import torch\nif torch.cuda.is_available()" + std::string(oneOrTwo),
                           "tl.static_assert(X == 1)");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
  ASSERT_TRUE(kernel.hasCode("R0204"));
  EXPECT_NE(kernel.diags.render().find("if torch.cuda.is_available():"), std::string::npos);
  EXPECT_FALSE(explainCode("R0204").title.empty());
}

TEST(ModuleConditions, AnOpenOneTakesTheBranchThatCanBeUsed) {
  // The first branch has nothing that can be evaluated, or only Python's own function.
  Emitted value = emitTop("import torch\nif torch.cuda.is_available():\n"
                          "    X = tl.constexpr(torch.cuda.device_count())\n"
                          "else:\n    X = tl.constexpr(2)\n",
                          "tl.static_assert(X == 2)");
  EXPECT_FALSE(value.diags.hasErrors()) << value.diags.render();
  Emitted function = emitTop("import torch\nif not torch.cuda.is_available():\n"
                             "    def f(x):\n        raise NotImplementedError\n"
                             "else:\n    @triton.jit\n    def f(x):\n        return x + 1\n",
                             "tl.store(p, f(tl.load(p)))");
  EXPECT_FALSE(function.diags.hasErrors()) << function.diags.render();
  EXPECT_TRUE(function.has("arith.addf")) << function.text;
  // The only branch that has the name needs no remark.
  Emitted only = emitTop("import torch\nif torch.cuda.is_available():\n    X = tl.constexpr(5)\n",
                         "tl.static_assert(X == 5)");
  EXPECT_TRUE(only.diags.all().empty()) << only.diags.render();
}

TEST(ModuleConditions, AValueOfALibraryThatIsNotRun) {
  Emitted kernel = emitTop("import torch\nX = torch.cuda.device_count()\n", "tl.store(p, X)");
  EXPECT_TRUE(kernel.hasCode("E0239")) << kernel.diags.render();
  Emitted compared = emitTop(
      "import torch\nX = tl.constexpr(torch.cuda.is_available() is not None)\n", "tl.store(p, X)");
  EXPECT_TRUE(compared.hasCode("E0239")) << compared.diags.render();
}

TEST(ModuleConditions, TheTargetIsNoGpu) {
  const char *const target =
      "def backend():\n    try:\n"
      "        return triton.runtime.driver.active.get_current_target().backend\n"
      "    except Exception:\n        return 'none'\n"
      "IS_NVIDIA = (backend() == 'cuda')\n"
      "IS_NEW = IS_NVIDIA and torch.cuda.get_device_capability()[0] >= 9\n";
  expectTrue(std::string("import torch\n") + target + "if IS_NEW" + oneOrTwo, "X == 2");
  expectTrue("from triton.runtime import driver\n"
             "X = tl.constexpr(driver.active.get_current_target().backend)\n",
             "X == 'cpu'");
}

TEST(ModuleConditions, ANameOfTheOtherBranchOnlyIsUsed) {
  expectTrue("if triton.runtime.driver.active.get_current_target().backend == 'cuda':\n"
             "    X = tl.constexpr(3)\n",
             "X == 3");
}

TEST(ModuleConditions, NamesThatTorchGivesTheLanguagesModules) {
  for (const char *imports : {"from torch._inductor.runtime.triton_helpers import libdevice\n",
                              "from torch._inductor.runtime import triton_helpers\nlibdevice = "
                              "triton_helpers.libdevice\n"}) {
    Emitted kernel = emitTop(imports, "tl.store(p, libdevice.erf(tl.load(p)))");
    EXPECT_TRUE(kernel.has("math.erf")) << kernel.diags.render();
  }
}

TEST(ModuleConstants, ThroughMath) {
  expectTrue("import math\nX = tl.constexpr(math.sqrt(2.0 / math.pi))\n",
             "X > 0.7978845608 and X < 0.7978845609");
  expectTrue("from math import log2, ceil\nX = tl.constexpr(ceil(log2(100)))\n", "X == 7");
  expectTrue("import math as m\nX = m.gcd(12, 18)\n", "X == 6");
  Emitted inside = emitTop("import math\n", "tl.store(p, math.sqrt(2.0))");
  EXPECT_FALSE(inside.diags.hasErrors()) << inside.diags.render();
  Emitted ofTile = emitTop("import math\n", "tl.store(p, math.sqrt(tl.load(p)))");
  EXPECT_TRUE(ofTile.hasCode("E0201")) << ofTile.diags.render();
}

TEST(ModuleConstants, ThroughHelpersThatRunAtImport) {
  expectTrue("def block():\n    table = {'small': 16, 'large': 64}\n    return table['large']\n"
             "BLOCK = tl.constexpr(block())\n",
             "BLOCK == 64");
  expectTrue("def sizes():\n    found = []\n    for i in range(4):\n        found.append(2 ** i)\n"
             "    return found\nSIZES = sizes()\nLAST = tl.constexpr(SIZES[3])\n",
             "LAST == 8");
  expectTrue("import os\nBLOCK = tl.constexpr(int(os.environ.get('BLOCK', '32')))\n",
             "BLOCK == 32");
  expectTrue(
      "def width():\n    import math\n    return math.ceil(2.5)\nX = tl.constexpr(width())\n",
      "X == 3");
}

} // namespace
} // namespace nereid::language
