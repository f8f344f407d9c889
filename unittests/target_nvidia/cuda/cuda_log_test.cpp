// SPDX-License-Identifier: Apache-2.0
// What NVRTC and nvcc print, as they printed it.
#include "lib/targets/nvidia/cuda/CudaLog.h"

#include <gtest/gtest.h>

namespace nereid::nvidia {
namespace {

constexpr const char *text =
    "// a kernel\n"
    "extern \"C\" __global__ void gelu(const float *x, float *out, int n) {\n"
    "\n"
    "  out[0] = tanhff(x[0]);\n"
    "  int y = z + 1;\n"
    "}\n";

TEST(CudaLog, TheFirstErrorHasItsPlaceAndTheOthersAreNotes) {
  const Diagnostic error = errorOfLog("k/gelu.cu(4): error: identifier \"tanhff\" is undefined\n"
                                      "    out[0] = tanhff(x[0]);\n"
                                      "             ^\n"
                                      "\n"
                                      "k/gelu.cu(5): error #20: identifier \"z\" is undefined\n"
                                      "    int y = z + 1;\n"
                                      "            ^\n"
                                      "\n"
                                      "2 errors detected in the compilation of \"k/gelu.cu\".\n",
                                      "k/gelu.cu", text, "NVRTC 13.0");
  EXPECT_EQ(render(error), "k/gelu.cu:4:12: error: identifier \"tanhff\" is undefined [E0314]\n"
                           "  out[0] = tanhff(x[0]);\n"
                           "           ^~~~~~\n"
                           "  note: k/gelu.cu:5: identifier \"z\" is undefined\n"
                           "  note: compiled by NVRTC 13.0\n");
}

TEST(CudaLog, AMessageOfSeveralLinesIsOne) {
  const Diagnostic error =
      errorOfLog("gelu.cu(4): error: no instance of overloaded function \"f\" matches\n"
                 "            argument types are: (float)\n"
                 "    out[0] = tanhff(x[0]);\n"
                 "             ^\n",
                 "gelu.cu", text, "nvcc");
  EXPECT_EQ(error.message,
            "no instance of overloaded function \"f\" matches argument types are: (float)");
  EXPECT_EQ(error.range.column, 12);
}

TEST(CudaLog, WithoutACaretTheLineIsMeant) {
  const Diagnostic error = errorOfLog("gelu.cu(5): fatal error: no more\n", "gelu.cu", text, "c");
  EXPECT_EQ(error.range.line, 5);
  EXPECT_EQ(error.range.column, 3);
  EXPECT_EQ(error.range.endColumn, 17);
}

TEST(CudaLog, AnErrorInAHeaderStandsBehindOneInTheSource) {
  const char *log =
      "/opt/x.h(7): error: expected a \";\"\n\n"
      "gelu.cu(1): catastrophic error: cannot open source file \"torch/extension.h\"\n"
      "  #include <torch/extension.h>\n"
      "                              ^\n";
  const Diagnostic error = errorOfLog(log, "gelu.cu", text, "c");
  EXPECT_EQ(error.message, "cannot open source file \"torch/extension.h\"");
  EXPECT_EQ(error.file, "gelu.cu");
  ASSERT_EQ(error.notes.size(), 2u);
  EXPECT_EQ(error.notes[0], "/opt/x.h:7: expected a \";\"");
  const Diagnostic other = errorOfLog("/opt/x.h(7): error: bad\n", "gelu.cu", text, "c");
  EXPECT_EQ(other.file, "");
  EXPECT_EQ(other.notes.front(), "at /opt/x.h:7");
}

TEST(CudaLog, LinesBeyondTheTextAndOtherFormsAreNotTaken) {
  EXPECT_EQ(errorOfLog("gelu.cu(99): error: bad\n", "gelu.cu", text, "c").range.line, 0);
  const Diagnostic error = errorOfLog("nvcc fatal   : Unsupported gpu architecture 'sm_1'\n"
                                      "gelu.cu(2): warning #177-D: never used\n",
                                      "gelu.cu", text, "'/usr/bin/nvcc'");
  EXPECT_EQ(error.code, "E0314");
  EXPECT_EQ(error.message, "'/usr/bin/nvcc' does not compile 'gelu.cu'");
  EXPECT_NE(error.notes.front().find("Unsupported gpu architecture"), std::string::npos);
  for (const char *broken : {"", "(", "): ", "x(1): ", "x(): error: y", "x(1a): error: y",
                             "gelu.cu(99999999999999): error: y", "^"}) {
    EXPECT_EQ(errorOfLog(broken, "gelu.cu", text, "c").code, "E0314") << broken;
  }
}

} // namespace
} // namespace nereid::nvidia
