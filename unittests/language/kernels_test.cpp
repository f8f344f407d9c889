// SPDX-License-Identifier: Apache-2.0
// The shipped kernels parse whole, nothing of them passed over.
#include "unittests/language/Dump.h"

#include "lib/language/signature/Signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

using namespace nereid;
using namespace nereid::language;

namespace {

TEST(ShippedKernels, ParseWholeAndAreNamedLikeTheirFile) {
  namespace fs = std::filesystem;
  int files = 0;
  for (const auto &entry : fs::recursive_directory_iterator(NEREID_SOURCE_DIR "/kernels")) {
    if (entry.path().extension() != ".py") {
      continue;
    }
    ++files;
    Diagnostics diags;
    std::optional<SourceModule> module = parseFile(entry.path().string(), diags);
    ASSERT_TRUE(module) << diags.render();
    std::string stem = entry.path().stem().string();
    std::vector<std::string> kernels = module->jitFunctions();
    EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [&](const std::string &kernel) {
      return kernel.starts_with(stem);
    })) << entry.path();
    EXPECT_TRUE(module->find("launch"));
    EXPECT_EQ(dump(module->body).find("opaque"), std::string::npos) << entry.path();
  }
  EXPECT_GE(files, 14);
}

TEST(ShippedKernels, VectorAddInFull) {
  Diagnostics diags;
  std::optional<SourceModule> module =
      parseFile(NEREID_SOURCE_DIR "/kernels/vector_add/vector_add.py", diags);
  ASSERT_TRUE(module);
  EXPECT_EQ(dump(module->find("vector_add")->body),
            "pid = (call (. tl program_id) axis=0); "
            "offsets = (+ (* pid BLOCK) (call (. tl arange) 0 BLOCK)); "
            "mask = (< offsets n); "
            "a = (call (. tl load) (+ x offsets) mask=mask); "
            "b = (call (. tl load) (+ y offsets) mask=mask); "
            "(call (. tl store) (+ out offsets) (+ a b) mask=mask)");
  Result<Signature> signature =
      parseSignature("*fp32:16, *fp32:16, *fp32:16, i32, 1024", *module->find("vector_add"));
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->text(), "x=*fp32:16,y=*fp32:16,out=*fp32:16,n=i32,BLOCK=1024");
}

} // namespace
