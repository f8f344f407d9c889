// SPDX-License-Identifier: Apache-2.0
// The written form of diagnostics, character by character, and the table of codes.
#include "lib/support/Diagnostics.h"
#include "lib/support/FirstError.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

using namespace nereid;

namespace {

/// The codes named in the files below some folders, but for this file and the table of codes.
std::set<std::string> codesIn(std::initializer_list<const char *> folders, const std::regex &form) {
  namespace fs = std::filesystem;
  std::set<std::string> codes;
  for (const char *folder : folders) {
    for (const auto &entry :
         fs::recursive_directory_iterator(NEREID_SOURCE_DIR + std::string("/") + folder)) {
      std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || name == "diagnostics_test.cpp" ||
          name == "DiagnosticCodes.def") {
        continue;
      }
      std::ifstream file(entry.path());
      std::string text((std::istreambuf_iterator<char>(file)), {});
      for (std::sregex_iterator it(text.begin(), text.end(), form), end; it != end; ++it) {
        codes.insert((*it)[1].str());
      }
    }
  }
  return codes;
}

std::set<std::string> without(std::set<std::string> codes, const std::set<std::string> &others) {
  for (const std::string &code : others) {
    codes.erase(code);
  }
  return codes;
}

Diagnostic dotError() {
  std::string text = "a\nb\n        acc += tl.dot(a, b)\n";
  Diagnostic error = makeError("E0214", "'tl.dot' operands disagree on the contracted size");
  error.at("kernels/matmul.py", text, {3, 16, 28});
  return error;
}

TEST(Diagnostics, PlaceMessageCodeLineCaretNotesHelp) {
  Diagnostic error = dotError();
  error.note("'a' is 128x64xf16 and 'b' is 32x256xf16").note("second").withHelp("load 'b' again");
  EXPECT_EQ(render(error),
            "kernels/matmul.py:3:16: error: 'tl.dot' operands disagree on the contracted size "
            "[E0214]\n"
            "        acc += tl.dot(a, b)\n"
            "               ^~~~~~~~~~~~\n"
            "  note: 'a' is 128x64xf16 and 'b' is 32x256xf16\n"
            "  note: second\n"
            "  help: load 'b' again\n");
}

TEST(Diagnostics, WithoutAPlace) {
  EXPECT_EQ(render(makeError("E0001", "'x' cannot be read")),
            "error: 'x' cannot be read [E0001]\n");
}

TEST(Diagnostics, AFileWithoutALine) {
  Diagnostic error = makeError("E0602", "the key 'name' is missing");
  error.file = "softmax.toml";
  EXPECT_EQ(render(error), "softmax.toml: error: the key 'name' is missing [E0602]\n");
}

TEST(Diagnostics, WarningsAndRemarksSaySo) {
  Diagnostic d = makeError("E0001", "m");
  d.severity = Severity::Warning;
  EXPECT_EQ(render(d), "warning: m [E0001]\n");
  d.severity = Severity::Remark;
  EXPECT_EQ(render(d), "remark: m [E0001]\n");
  Diagnostics all;
  all.add(d);
  EXPECT_FALSE(all.hasErrors());
  all.add(makeError("E0001", "n"));
  EXPECT_TRUE(all.hasErrors());
}

TEST(Diagnostics, CaretCountsCharactersNotBytesAndWidensTabs) {
  Diagnostic error = makeError("E0101", "m");
  error.at("f", "\té = x\n", {1, 7, 8}); // tab 1, é 2-3, space 4, = 5, space 6, x 7
  EXPECT_EQ(render(error), "f:1:7: error: m [E0101]\n    é = x\n        ^\n");
}

TEST(Diagnostics, CaretBeyondTheLineStaysAtItsEnd) {
  Diagnostic error = makeError("E0103", "m");
  error.at("f", "ab", {1, 90, 400});
  EXPECT_EQ(render(error), "f:1:90: error: m [E0103]\nab\n  ^\n");
}

TEST(Diagnostics, LongLinesShowAWindowAroundTheCaret) {
  std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  Diagnostic error = makeError("E0101", "m");
  error.at("f", line, {1, 501, 502});
  std::string out = render(error);
  size_t first = out.find('\n') + 1, second = out.find('\n', first) + 1;
  std::string shown = out.substr(first, second - first - 1), caret = out.substr(second);
  EXPECT_LT(shown.size(), 180u);
  // Both ellipses take three bytes and one column.
  EXPECT_EQ(shown[caret.find('^') + 2], 'X');
}

TEST(Diagnostics, ControlCharactersNeverReachTheTerminal) {
  Diagnostic error = makeError("E0101", "bad '\x1b[31m' name");
  error.at("f\x07", "x\x1b[2Jy\xff", {1, 2, 3});
  std::string out = render(error);
  EXPECT_EQ(out, "f?:1:2: error: bad '?[31m' name [E0101]\nx?[2Jy?\n ^\n");
}

TEST(Diagnostics, PlaceOutsideTheTextHasNoLine) {
  Diagnostic error = makeError("E0101", "m");
  error.at("f", "one line", {7, 1, 2});
  EXPECT_EQ(error.lineText, "");
  EXPECT_EQ(render(error).substr(0, 8), "f:7:1: e");
}

TEST(Diagnostics, CarriageReturnIsNoPartOfTheLine) {
  Diagnostic error = makeError("E0101", "m");
  error.at("f", "a\r\nb\r\n", {2, 1, 2});
  EXPECT_EQ(error.lineText, "b");
}

TEST(Diagnostics, JsonHoldsEveryPartAndSurvivesBrokenText) {
  Diagnostics all;
  all.add(dotError().note("n1").withHelp("h"));
  all.add(makeError("E0109", "byte \xff"));
  nlohmann::json parsed = nlohmann::json::parse(all.renderJson());
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0]["severity"], "error");
  EXPECT_EQ(parsed[0]["code"], "E0214");
  EXPECT_EQ(parsed[0]["file"], "kernels/matmul.py");
  EXPECT_EQ(parsed[0]["line"], 3);
  EXPECT_EQ(parsed[0]["column"], 16);
  EXPECT_EQ(parsed[0]["end_column"], 28);
  EXPECT_EQ(parsed[0]["source"], "        acc += tl.dot(a, b)");
  EXPECT_EQ(parsed[0]["notes"][0], "n1");
  EXPECT_EQ(parsed[0]["help"], "h");
  EXPECT_EQ(nlohmann::json::parse(Diagnostics().renderJson()).size(), 0u);
}

TEST(DiagnosticCodes, AreUniqueSortedAndExplained) {
  std::string before;
  for (const CodeText &code : allCodes()) {
    EXPECT_LT(before, code.code);
    before = code.code;
    ASSERT_EQ(code.code.size(), 5u);
    EXPECT_NE(std::string_view("EWR").find(code.code[0]), std::string_view::npos) << code.code;
    EXPECT_FALSE(code.title.empty()) << code.code;
    EXPECT_NE(code.title.back(), '.') << code.code;
    EXPECT_GT(code.paragraph.size(), 20u) << code.code;
    EXPECT_EQ(code.paragraph.back(), '.') << code.code;
    EXPECT_EQ(explainCode(code.code).title, code.title);
  }
  EXPECT_GT(allCodes().size(), 20u);
  EXPECT_TRUE(explainCode("E9999").title.empty());
  EXPECT_TRUE(explainCode("").title.empty());
}

TEST(DiagnosticCodes, EveryCodeIsDeclaredUsedAndTested) {
  std::set<std::string> declared;
  for (const CodeText &code : allCodes()) {
    declared.insert(std::string(code.code));
  }
  // As a text of its own, or at the end of what MLIR is told: "… [R0401]".
  std::set<std::string> used =
      codesIn({"lib", "runtime", "tools"}, std::regex("[\"\\[]([EWR]0[0-9]{3})\\]?\""));
  std::set<std::string> tested = codesIn({"unittests", "test"}, std::regex("([EWR]0[0-9]{3})"));
  EXPECT_EQ(without(used, declared), std::set<std::string>{}) << "used, but not declared";
  EXPECT_EQ(without(declared, used), std::set<std::string>{}) << "declared, but not used";
  EXPECT_EQ(without(declared, tested), std::set<std::string>{}) << "declared, but in no test";
}

TEST(NearestNames, NearestFirstAndAtMostThree) {
  std::vector<std::string> known = {"load", "store", "arange", "loads", "loaf", "goad", "zeros"};
  std::vector<std::string> near = nearestNames("laod", known);
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "load");
  EXPECT_LE(near.size(), 3u);
  EXPECT_EQ(nearestNames("BLOCK_SIZE", {"block_size", "BLOCK"}).front(), "block_size");
  EXPECT_TRUE(nearestNames("quaternion", known).empty());
  EXPECT_TRUE(nearestNames("", known).empty());
  EXPECT_TRUE(nearestNames("x", {}).empty());
  EXPECT_TRUE(nearestNames(std::string(100000, 'a'), {std::string(100000, 'a') + "b"}).empty());
}

TEST(FirstError, WarningsAndRemarksMayPrecedeIt) {
  Diagnostics diags;
  diags.add(makeError("R0204", "remark")).severity = Severity::Remark;
  EXPECT_EQ(firstError(diags).code, "R0204") << "there is no error";
  diags.add(makeError("E0010", "first"));
  diags.add(makeError("E0011", "second"));
  EXPECT_EQ(firstError(diags).code, "E0010");
}

TEST(NearestNames, ASwapIsOneEdit) {
  // "arnage" is one swap from "arange" but two plain edits; "orange" is two edits from it.
  EXPECT_EQ(nearestNames("arnage", {"orange", "arange"}).front(), "arange");
}

} // namespace
