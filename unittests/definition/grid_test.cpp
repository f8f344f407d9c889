// SPDX-License-Identifier: Apache-2.0
// The accuracy grid holds what it promises, and the definition document what was counted.
#include "unittests/definition/Loading.h"

#include "lib/definition/CaseGrid.h"
#include "lib/definition/Document.h"
#include "lib/definition/Tolerance.h"

#include <cmath>
#include <set>

namespace nereid::definition {
namespace {

Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = loadOperator(NEREID_SOURCE_DIR "/operators/" + name + ".toml", diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

TEST(CaseGrid, HasEveryKind) {
  for (const char *name : {"broadcast_add", "mask_add", "softmax"}) {
    Operator op = shipped(name);
    std::set<std::string> names;
    std::set<DataKind> data;
    std::set<LayoutKind> layouts;
    bool anyEmpty = false, anySingle = false, anyRank1 = false;
    for (const GridCase &one : accuracyGrid(op)) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      data.insert(one.data);
      layouts.insert(one.layout);
      auto sizes =
          definition::bind(op.nodes[static_cast<size_t>(op.outputs[0])].shape, one.binding);
      ASSERT_TRUE(sizes) << one.name;
      int64_t count = 1;
      for (int64_t size : *sizes) {
        count *= size;
      }
      anyEmpty |= count == 0;
      anySingle |= count == 1;
      anyRank1 |= sizes->size() == 1;
    }
    EXPECT_EQ(data.size(), 5u);
    EXPECT_EQ(layouts.size(), 3u);
    EXPECT_TRUE(anyEmpty && anySingle);
    EXPECT_EQ(anyRank1, std::string(name) != "mask_add");
  }
}

TEST(CaseGrid, LayoutsAreWhatTheySay) {
  LaidOut strided = makeLaidOut({4, 5, 6}, DType::F32, LayoutKind::OuterStride);
  EXPECT_FALSE(strided.view.isContiguous());
  EXPECT_EQ(strided.view.strides(), (std::vector<int64_t>{45, 9, 1}));
  LaidOut unaligned = makeLaidOut({4, 5}, DType::F16, LayoutKind::Unaligned);
  EXPECT_TRUE(unaligned.view.isContiguous());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(unaligned.view.data()) % 64, 2u);
  // The last element lies inside the storage.
  for (const LaidOut *made : {&strided, &unaligned}) {
    made->view.set(made->view.elementCount() - 1, 1);
    auto *begin = static_cast<char *>(made->storage.data());
    auto *last = static_cast<char *>(made->view.data());
    for (size_t d = 0; d < made->view.shape().size(); ++d) {
      last += (made->view.shape()[d] - 1) * made->view.strides()[d] *
              static_cast<int64_t>(sizeInBytes(made->view.dtype()));
    }
    EXPECT_LE(last + sizeInBytes(made->view.dtype()), begin + made->storage.byteCount());
  }
  EXPECT_TRUE(std::isnan(makeLaidOut({3}, DType::F32, LayoutKind::Contiguous).view.at(0)));
}

TEST(CaseGrid, DataIsReproducibleAndOfItsKind) {
  Operator op = shipped("scale_shift");
  GridCase grid;
  grid.binding = {{{"C", 400}}, {3}};
  for (DataKind kind :
       {DataKind::Normal, DataKind::Huge, DataKind::Tiny, DataKind::Special, DataKind::Negative}) {
    grid.data = kind;
    auto first = makeInputs(op, grid, DType::F32), second = makeInputs(op, grid, DType::F32);
    ASSERT_TRUE(first && second);
    int nan = 0, infinite = 0, large = 0, small = 0, positive = 0;
    const runtime::Tensor &x = (*first)[0].view;
    for (int64_t i = 0; i < x.elementCount(); ++i) {
      double value = x.at(i), again = (*second)[0].view.at(i);
      EXPECT_TRUE(value == again || (std::isnan(value) && std::isnan(again)));
      nan += std::isnan(value);
      infinite += std::isinf(value);
      large += std::fabs(value) > 1e35;
      small += value != 0 && std::fabs(value) < 1e-36;
      positive += value > 0;
    }
    EXPECT_EQ(nan > 0 && infinite > 0, kind == DataKind::Special);
    EXPECT_EQ(large - infinite > 600, kind == DataKind::Huge);
    EXPECT_EQ(small > 600, kind == DataKind::Tiny);
    EXPECT_EQ(positive == 0, kind == DataKind::Negative);
    const runtime::Tensor &variance = (*first)[2].view;
    for (int64_t i = 0; i < variance.elementCount(); ++i) {
      EXPECT_FALSE(variance.at(i) < 0) << name(kind);
    }
  }
}

TEST(Document, SaysWhatWasCounted) {
  Operator op = shipped("bias_gelu");
  std::string plain = definitionDocument(op, DType::F32, {});
  for (const char *part : {"# bias_gelu", "## Interface", "## Constraints", "## Complexity",
                           "| `x` | `[..., D]` |", "gelu(approximate=\"none\")", "512 MiB", "1 GiB",
                           "## Accuracy", "## Strategy", "2.00 times fewer"}) {
    EXPECT_NE(plain.find(part), std::string::npos) << part << "\n" << plain;
  }
  EXPECT_EQ(plain.find("## Roofline"), std::string::npos);
  ChipFigures slow{"a chip", 1e9, 1e11, 1 << 20, 4}, quick{"a chip", 1e15, 1e11, 1 << 20, 4};
  EXPECT_NE(definitionDocument(op, DType::F32, slow).find("| arithmetic |"), std::string::npos);
  std::string memory = definitionDocument(op, DType::F32, quick);
  EXPECT_EQ(memory.find("| arithmetic |"), std::string::npos);
  EXPECT_NE(memory.find("streaming"), std::string::npos);
}

} // namespace
} // namespace nereid::definition
