# SPDX-License-Identifier: Apache-2.0
# Text tests of the compiler's passes and of the command line, run with LLVM's lit:
#   python3 /usr/lib/llvm-19/build/utils/lit/lit.py test
# The tools are taken from build/bin, or from --param build=DIR. Nothing a test does reaches the
# user's own caches: kernels, chip descriptor and patterns live below the build folder.
import importlib.util
import os
import shutil
import sys

import lit.formats

config.name = "nereid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = lit_config.params.get("build", os.path.join(config.test_source_root, "..", "build"))
build = os.path.abspath(build)
config.test_exec_root = os.path.join(build, "lit")

llvm_tools = "/usr/lib/llvm-19/bin"
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm_tools, os.environ.get("PATH", "")])
config.environment["NEREID_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["NEREID_PATTERNS"] = os.path.join(config.test_exec_root, "patterns.json")
# What CMake takes otherwise, make, is no tool of this project.
config.environment["CMAKE_GENERATOR"] = "Ninja"
for tool in ["tile-opt", "cpu-opt", "nereid"]:
    if not os.path.exists(os.path.join(build, "bin", tool)):
        lit_config.fatal(f"build/bin/{tool} is missing: build the target {tool} first")

# Tools that a test may name in REQUIRES.
for tool in ["cmake", "gcc", "valgrind", "qemu-x86_64", "qemu-aarch64", "qemu-riscv64",
             "aarch64-linux-gnu-g++", "riscv64-linux-gnu-g++"]:
    if shutil.which(tool):
        config.available_features.add(tool)

for architecture in ["aarch64", "riscv64"]: # tools/cross.cmake
    runner = os.path.join(build, "cross", architecture, "nereid-runner")
    if os.path.exists(runner) and shutil.which(f"qemu-{architecture}"):
        config.available_features.add(f"runner-{architecture}")
        config.substitutions.append((f"%runner-{architecture}", runner))

# NVIDIA's driver as unittests/nvidia_driver has it.
if os.path.exists(os.path.join(build, "lib", "libfake_cuda.so")):
    config.available_features.add("fake-cuda")

# What generated Python programs need, in the Python that runs the tests.
if all(importlib.util.find_spec(package) for package in ["torch", "triton"]):
    config.available_features.add("torch")

# Their rules of accuracy are tested without it.
if importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")

# NVIDIA's assembler, where the compiler finds it without being told.
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")

root = os.path.dirname(os.path.abspath(config.test_source_root))
inputs = os.path.join(config.test_source_root, "cli", "Inputs")
config.substitutions += [
    ("%kernels", os.path.join(root, "kernels")),
    ("%operators", os.path.join(root, "operators")),
    ("%examples", os.path.join(root, "examples")),
    ("%honesty", os.path.join(config.test_source_root, "honesty")),
    ("%aot", os.path.join(config.test_source_root, "aot", "Inputs")),
    ("%inputs", inputs),
    ("%root", root),
    ("%build", build),
    ("%nereid", os.path.join(build, "bin", "nereid")),
    ("%python", sys.executable),
    # %exits N COMMAND…: the command ends with exactly this status, and no signal.
    ("%exits", f"{sys.executable} {os.path.join(inputs, 'exits.py')}"),
    # … | %json EXPRESSION: the text is JSON and the expression over it (`it`) holds.
    ("%json", f"{sys.executable} {os.path.join(inputs, 'json_holds.py')}"),
]
