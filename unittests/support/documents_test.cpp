// SPDX-License-Identifier: Apache-2.0
// Documents named in messages, for a program that is installed, built, or copied somewhere.
#include "lib/support/Diagnostics.h"
#include "lib/support/Documents.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace nereid;
namespace fs = std::filesystem;

namespace {

class Documents : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "nereid-documents-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = fs::canonical(name);
  }
  void TearDown() override { fs::remove_all(root); }

  std::string make(const char *path) {
    const fs::path file = root / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "text\n";
    return file.string();
  }
  std::string in(const char *module, std::string_view text) {
    return withDocumentsOf((root / module).string(), text);
  }

  fs::path root;
};

TEST_F(Documents, AreFoundInAnInstalledTree) {
  const std::string math = make("share/nereid/docs/math.md");
  make("bin/nereid"), make("lib/libnereid.so"), make("lib/x86_64-linux-gnu/libnereid.so");
  for (const char *module :
       {"bin/nereid", "lib/libnereid.so", "lib/x86_64-linux-gnu/libnereid.so"}) {
    EXPECT_EQ(in(module, "see docs/math.md"), "see " + math) << module;
  }
}

TEST_F(Documents, AreFoundInTheSourcesOfABuildFolder) {
  const std::string math = make("docs/math.md");
  make("build/bin/nereid");
  EXPECT_EQ(in("build/bin/nereid", "docs/math.md: all of it"), math + ": all of it");
}

TEST_F(Documents, KeepTheirNamesWhereTheyAreNot) {
  make("bin/nereid");
  for (const char *text : {"see docs/math.md", "(chips/a.json)", "", "docs/math.md."}) {
    EXPECT_EQ(in("bin/nereid", text), text);
    EXPECT_EQ(withDocumentsOf("", text), text);
  }
}

TEST_F(Documents, AreWholeWordsOfTheirTwoFolders) {
  const std::string chip = make("share/nereid/chips/a-1.json");
  const std::string math = make("share/nereid/docs/math.md");
  make("bin/nereid");
  EXPECT_EQ(in("bin/nereid", "(chips/a-1.json), \"docs/math.md\"."),
            "(" + chip + "), \"" + math + "\".");
  EXPECT_EQ(in("bin/nereid", "It is in docs/math.md."), "It is in " + math + ".");
  for (const char *text :
       {"my/docs/math.md", "docs/math.md5", "docs/math", "/docs/math.md", "docs"}) {
    EXPECT_EQ(in("bin/nereid", text), text);
  }
}

TEST_F(Documents, AreLocatedInWhatADiagnosticSays) {
  Diagnostic error = makeError("E0701", "x");
  error.note("docs/chips.md").withHelp("compare with chips/generic-x86-64-v3.json");
  const std::string sources = fs::canonical(NEREID_SOURCE_DIR).string();
  for (const std::string &text : {render(error), [&] {
                                    Diagnostics all;
                                    all.add(error);
                                    return all.renderJson();
                                  }()}) {
    EXPECT_NE(text.find(sources + "/docs/chips.md"), std::string::npos) << text;
    EXPECT_NE(text.find(sources + "/chips/generic-x86-64-v3.json"), std::string::npos) << text;
  }
}

TEST(ShippedFolders, LieBesideTheProgram) {
  // The program of this test is built like `nereid`, below the sources.
  EXPECT_EQ(shippedFolder("operators"), fs::canonical(NEREID_SOURCE_DIR "/operators").string());
  EXPECT_EQ(shippedFolder("no such folder"), "");
  EXPECT_EQ(shippedFolder("README.md"), ""); // a file
}

} // namespace
