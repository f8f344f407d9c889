// SPDX-License-Identifier: Apache-2.0
// The key `peer` of cases.toml in all its forms.
#include "lib/launch/KernelCases.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/TemporaryFolder.h"

#include <gtest/gtest.h>

namespace nereid::launch {
namespace {

class CasePeers : public testing::Test {
protected:
  Result<std::vector<KernelCase>> load(const std::string &peer) {
    EXPECT_TRUE(bool(writeFileAtomically(
        folder.path + "/cases.toml",
        "schema = 1\n[[case]]\nname = \"a\"\nkernel = \"k.py:f\"\nsignature = \"*fp32\"\n"
        "grid = \"1\"\nargs = { x = \"ones(2)\", out = \"empty(2)\" }\n"
        "reference = { out = \"x + 1\" }\n" +
            peer + "\n")));
    return loadCases(folder.path);
  }
  std::string wrong(const std::string &peer) {
    auto cases = load(peer);
    return cases ? "" : cases.error().code + ": " + cases.error().message;
  }
  const TemporaryFolder folder;
};

TEST_F(CasePeers, ATextNamesAFunctionOfAFile) {
  const auto cases = load("peer = \"own/gelu.cu:gelu\"");
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  ASSERT_EQ(cases->front().foreignPeers.size(), 1u);
  const ForeignPeer &peer = cases->front().foreignPeers[0];
  EXPECT_EQ(peer.path, folder.path + "/own/gelu.cu");
  EXPECT_EQ(peer.function, "gelu");
  EXPECT_TRUE(peer.arguments.empty() && peer.grid.empty() && peer.threads.empty());
  EXPECT_TRUE(cases->front().peer.empty());
  EXPECT_EQ(outputNames(cases->front()), std::set<std::string>{"out"});
}

TEST_F(CasePeers, ATableSaysHowItIsLaunched) {
  const auto cases =
      load("peer = { source = \"gelu.cu:gelu\", args = [\"out\", \"x\"], grid = \"cdiv(n, 4), 2\", "
           "threads = 96, shapes = { x = \"m, n\", out = 7 }, flags = [\"-O1\"] }");
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  const ForeignPeer &peer = cases->front().foreignPeers.at(0);
  EXPECT_EQ(peer.arguments, (std::vector<std::string>{"out", "x"}));
  EXPECT_EQ(peer.grid, "cdiv(n, 4), 2");
  EXPECT_EQ(peer.threads, "96");
  EXPECT_EQ(peer.shapes, (std::map<std::string, std::string>{{"out", "7"}, {"x", "m, n"}}));
  EXPECT_EQ(peer.flags, std::vector<std::string>{"-O1"});
}

TEST_F(CasePeers, AListHasSeveral) {
  const auto cases = load("peer = [\"gelu.cu:gelu\", { source = \"gelu.cu:other\" }, { out = "
                          "\"relu(x)\" }]");
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  ASSERT_EQ(cases->front().foreignPeers.size(), 2u);
  EXPECT_EQ(cases->front().foreignPeers[1].function, "other");
  EXPECT_EQ(cases->front().peer.at("out"), "relu(x)");
}

TEST_F(CasePeers, FormsOfTheReferenceAreNamedByAWord) {
  const auto cases = load("peer = [\"graph\", \"gelu.cu:eager\", \"eager\", \"compiled\"]");
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  EXPECT_EQ(cases->front().forms,
            (std::vector{ReferenceForm::Graph, ReferenceForm::Eager, ReferenceForm::Compiled}));
  EXPECT_EQ(cases->front().foreignPeers.size(), 1u);
  EXPECT_EQ(load("peer = \"eager\"")->front().forms, std::vector{ReferenceForm::Eager});
  std::string text = *readTextFile(folder.path + "/cases.toml");
  const std::string reference = "reference = { out = \"x + 1\" }\n";
  text.replace(text.find(reference), reference.size(), "");
  ASSERT_TRUE(bool(writeFileAtomically(folder.path + "/cases.toml", text)));
  const auto without = loadCases(folder.path);
  ASSERT_FALSE(bool(without));
  EXPECT_NE(without.error().message.find(
                "has the peer 'eager', a form of its reference, but no 'reference'"),
            std::string::npos)
      << without.error().message;
}

TEST_F(CasePeers, AnOutputMayHaveTheNameOfAKey) {
  const auto cases = load("peer = { source = \"softmax(x)\" }");
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  EXPECT_TRUE(cases->front().foreignPeers.empty());
  EXPECT_EQ(cases->front().peer.at("source"), "softmax(x)");
}

TEST_F(CasePeers, OtherFormsAreRefused) {
  const std::string head = "E0016: case 'a' of '" + folder.path + "/cases.toml' ";
  EXPECT_EQ(wrong("peer = \"gelu.cu\""), head + "expects a 'peer' of the form 'FILE:function', "
                                                "such as 'gelu.cu:gelu', or one of eager, compiled "
                                                "and graph, but got 'gelu.cu'");
  EXPECT_NE(wrong("peer = \"Eager\"").find("but got 'Eager'"), std::string::npos);
  EXPECT_EQ(wrong("peer = { source = \"gelu.cu\" }").substr(0, 5), "E0016");
  for (const char *text : {"", ":gelu", "gelu.cu:", "gelu.cu:1", "gelu.cu:a b"}) {
    EXPECT_EQ(wrong("peer = \"" + std::string(text) + "\"").substr(0, 5), "E0016") << text;
  }
  EXPECT_EQ(wrong("peer = 3").substr(0, 5), "E0016");
  EXPECT_EQ(wrong("peer = [3]").substr(0, 5), "E0016");
  EXPECT_EQ(wrong("peer = { source = \"g.cu:g\", block = 3 }"),
            head + "has a peer with the key 'block', which is none of source, args, grid, threads, "
                   "shapes and flags");
  for (const char *key : {"args = \"x\"", "args = [3]", "flags = 1", "grid = [1]", "threads = 1.5",
                          "shapes = 3", "shapes = { x = [1] }"}) {
    EXPECT_EQ(wrong("peer = { source = \"g.cu:g\", " + std::string(key) + " }").substr(0, 5),
              "E0016")
        << key;
  }
}

} // namespace
} // namespace nereid::launch
