// SPDX-License-Identifier: Apache-2.0
// What the accuracy program of every generated operator, `<op>_accuracy.cpp`, says and takes, in
// the words of `<op>_accuracy.py`: a line for each case and type with the largest and the mean
// error, `--verbose` for one of each kind of data, `--seed N`, `--json FILE`. C++17, over
// nereid.hpp.
#pragma once

#include "nereid/nereid.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v0 {

/// Collects the verdicts of one run and tells them:
///
///   nereid::AccuracyProgram program("softmax", count, arguments);
///   return program.run([&] {
///     program.begin("3 columns", nereid::DType::F32);
///     program.add("plain", "kernel", definition.verify({x}, {out}));
///     program.end({{"x", x.shape()}});
///   });
class AccuracyProgram {
public:
  AccuracyProgram(std::string name, int count, char **given)
      : operatorName(std::move(name)), arguments(given + std::min(count, 1), given + count) {}

  /// Of the data; 0 unless it was given.
  uint64_t seed() const { return chosenSeed; }

  /// `checkAll` in between of what is said first and last. The program's exit status: 0 all is
  /// right, 1 something is wrong, 2 nothing could be run.
  int run(const std::function<void()> &checkAll) {
    try {
      if (const int status = readOptions(); status >= 0) {
        return status;
      }
      std::printf("Testing %s Accuracy...\n", operatorName.c_str());
      checkAll();
      if (!jsonFile.empty()) {
        writeJson();
      }
    } catch (const std::exception &problem) {
      std::fflush(stdout);
      std::fprintf(stderr, "%s\n", problem.what());
      return 2;
    }
    const auto failed =
        std::count_if(rows.begin(), rows.end(), [](const Row &row) { return !row.verdict.agrees; });
    if (failed > 0) {
      std::printf("Accuracy test FAILED! %zu of %zu checks are wrong\n",
                  static_cast<size_t>(failed), rows.size());
      return 1;
    }
    std::printf("All accuracy tests passed! (%zu checks)\n", rows.size());
    return 0;
  }

  void begin(std::string caseName, DType type) {
    name = std::move(caseName);
    dtype = type;
    first = rows.size();
  }

  /// One result, of the kernel or of the baseline, on one kind of data.
  void add(std::string kind, std::string side, Verdict verdict) {
    rows.push_back({name, dtype, std::move(kind), std::move(side), std::move(verdict)});
  }

  /// Tells what was added since begin(). The inputs' shapes, by name.
  void end(const std::vector<std::pair<std::string, Sizes>> &shapes) const {
    std::string line;
    for (const auto &[input, shape] : shapes) {
      line += (line.empty() ? "Shape: " : ", " + input + " shape: ") + tupleText(shape);
    }
    std::printf("%s%s%s: %s\n", line.c_str(), line.empty() ? "" : ", ", nereid::name(dtype),
                name.c_str());
    double largest = 0, sum = 0;
    int64_t finite = 0;
    const Row *wrong = nullptr;
    for (size_t i = first; i < rows.size(); ++i) {
      const Row &row = rows[i];
      const Verdict &verdict = row.verdict;
      wrong = wrong == nullptr && !verdict.agrees ? &row : wrong;
      if (row.side == "kernel") {
        largest = std::max(largest, verdict.maxAbsolute);
        sum += verdict.meanAbsolute * static_cast<double>(verdict.finite);
        finite += verdict.finite;
      }
      if (isVerbose) {
        std::printf("  %s, %s: %s\n", row.side.c_str(), row.kind.c_str(), text(verdict).c_str());
      }
    }
    if (wrong != nullptr) {
      std::printf("✗ Test FAILED: %s, %s: %s\n", wrong->side.c_str(), wrong->kind.c_str(),
                  text(wrong->verdict).c_str());
    } else {
      const double mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
      std::printf("✓ Test passed: %s\n", errors(largest, mean).c_str());
    }
    std::fflush(stdout);
  }

private:
  struct Row {
    std::string name;
    DType dtype;
    std::string kind, side;
    Verdict verdict;
  };

  static std::string errors(double largest, double mean) {
    char line[80];
    std::snprintf(line, sizeof line, "max_diff = %.2e, mean_diff = %.2e", largest, mean);
    return line;
  }

  static std::string text(const Verdict &verdict) {
    if (!verdict.agrees) {
      return verdict.text;
    }
    char share[40];
    std::snprintf(share, sizeof share, ", %.2f of the bound", verdict.maxOfBound);
    const std::string open = verdict.unverifiable == 0
                                 ? ""
                                 : ", " + std::to_string(verdict.unverifiable) + " of " +
                                       std::to_string(verdict.elements) + " cannot be verified";
    return errors(verdict.maxAbsolute, verdict.meanAbsolute) + share + open;
  }

  /// As Python prints one: "(3, 17)", "(17,)", "()".
  static std::string tupleText(const Sizes &shape) {
    std::string list;
    for (int64_t size : shape) {
      list += (list.empty() ? "" : ", ") + std::to_string(size);
    }
    return "(" + list + (shape.size() == 1 ? ",)" : ")");
  }

  /// The exit status where the program is to end here; -1: it goes on.
  int readOptions() {
    const std::string usage = "usage: " + operatorName +
                              "_accuracy [--verbose] [--seed N] [--json FILE]\n"
                              "  --verbose    a line for each kind of data\n"
                              "  --seed N     of the data; default 0\n"
                              "  --json FILE  write every result\n";
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &option = arguments[i];
      const bool hasValue = i + 1 < arguments.size();
      if (option == "--help" || option == "-h") {
        std::printf("%s", usage.c_str());
        return 0;
      }
      if (option == "--verbose") {
        isVerbose = true;
      } else if (option == "--json" && hasValue) {
        jsonFile = arguments[++i];
      } else if (option == "--seed" && hasValue && isNumber(arguments[i + 1])) {
        chosenSeed = std::stoull(arguments[++i]);
      } else {
        std::fprintf(stderr, "%scannot take '%s'%s\n", usage.c_str(), option.c_str(),
                     option == "--seed" ? ", which expects a number" : "");
        return 2;
      }
    }
    return -1;
  }

  static bool isNumber(const std::string &word) {
    constexpr size_t mostDigits = std::numeric_limits<uint64_t>::digits10;
    return !word.empty() && word.size() <= mostDigits &&
           word.find_first_not_of("0123456789") == std::string::npos;
  }

  /// What `<op>_accuracy.py --json` writes.
  void writeJson() const {
    std::string text = "{\"operator\": " + detail::jsonText(operatorName) +
                       ", \"seed\": " + std::to_string(chosenSeed) + ", \"rows\": [";
    for (const Row &row : rows) {
      const Verdict &verdict = row.verdict;
      const int64_t wrong = verdict.agrees ? 0 : std::max<int64_t>(1, verdict.mismatches);
      text += std::string(&row == rows.data() ? "" : ",") +
              "\n {\"case\": " + detail::jsonText(row.name) +
              ", \"dtype\": " + detail::jsonText(std::string(nereid::name(row.dtype))) +
              ", \"kind\": " + detail::jsonText(row.kind) +
              ", \"side\": " + detail::jsonText(row.side) +
              ", \"elements\": " + std::to_string(verdict.elements) +
              ", \"wrong\": " + std::to_string(wrong) +
              ", \"unverifiable\": " + std::to_string(verdict.unverifiable) +
              ", \"max_diff\": " + detail::jsonText(verdict.maxAbsolute) +
              ", \"mean_diff\": " + detail::jsonText(verdict.meanAbsolute) +
              ", \"share_of_bound\": " + detail::jsonText(verdict.maxOfBound) +
              ", \"first\": " + detail::jsonText(verdict.text) + "}";
    }
    text += "\n]}\n";
    std::FILE *file = std::fopen(jsonFile.c_str(), "wb");
    const bool isWritten = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (!file || std::fclose(file) != 0 || !isWritten) {
      throw Error(NEREID_ERROR_FILE, "cannot write '" + jsonFile + "'");
    }
  }

  std::string operatorName;
  std::vector<std::string> arguments;
  bool isVerbose = false;
  uint64_t chosenSeed = 0;
  std::string jsonFile;

  std::string name;
  DType dtype = DType::F32;
  size_t first = 0; ///< row since begin()
  std::vector<Row> rows;
};

} // namespace v0
} // namespace nereid
