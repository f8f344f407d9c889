# SPDX-License-Identifier: Apache-2.0
# Text tests of the compiler's passes, run with LLVM's lit:
#   python3 /usr/lib/llvm-19/build/utils/lit/lit.py test
# The tools are taken from build/bin, or from --param build=DIR.
import os

import lit.formats

config.name = "nereid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)

build = lit_config.params.get("build", os.path.join(config.test_source_root, "..", "build"))
build = os.path.abspath(build)
config.test_exec_root = os.path.join(build, "lit")

llvm_tools = "/usr/lib/llvm-19/bin"
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm_tools, os.environ.get("PATH", "")])
if not os.path.exists(os.path.join(build, "bin", "tile-opt")):
    lit_config.fatal("build/bin/tile-opt is missing: build the target tile-opt first")
