// SPDX-License-Identifier: Apache-2.0
// Windows in kernels of shipped definitions: each element is read once, only by what it counts for,
// and places are computed in the width of indices.
#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

/// The kernel of float32, which is the only one.
std::string kernelOf(const std::string &name) {
  const definition::Operator op = shipped(name);
  auto generation = generate(op, testChip(), nullptr);
  EXPECT_TRUE(bool(generation)) << (generation ? "" : render(generation.error()));
  if (!generation) {
    return "";
  }
  const std::string text = generation->program.kernels.at(0);
  const size_t begin = text.find("@triton.jit"), end = text.find("@triton.jit", begin + 1);
  return text.substr(begin, end - begin);
}

int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(WindowKernels, TheLargestAndItsPlaceReadEachElementOnce) {
  EXPECT_EQ(count(kernelOf("max_pool2d_with_indices"), "tl.load("), 9);
}

TEST(WindowKernels, OnlyWindowsOverAnElementAreAdded) {
  EXPECT_EQ(count(kernelOf("avg_pool2d_backward"), "tl.load("), 4) << "3 x 3 in steps of 2";
  EXPECT_EQ(count(kernelOf("avg_pool2d_backward_plain"), "tl.load("), 1) << "2 x 2 in steps of 2";
  EXPECT_EQ(count(kernelOf("avg_pool2d_backward_divisor"), "tl.load("), 9) << "3 x 3 in steps of 1";
}

TEST(WindowKernels, PlacesBetweenEdgesAreIndices) {
  const std::string kernel = kernelOf("upsample_bilinear2d_backward_corners");
  EXPECT_EQ(count(kernel, "tl.minimum(tl.maximum("), 6) << kernel;
  EXPECT_EQ(count(kernel, " % "), 2) << "of the program and of its rows\n" << kernel;
  EXPECT_EQ(count(kernel, ".to(tl.int64)"), 2) << "where indices are wide\n" << kernel;
}

TEST(WindowKernels, WhatRepeatsAnEdgeIsAddedWhereItCameFrom) {
  const std::string kernel = kernelOf("replication_pad2d_backward");
  EXPECT_EQ(count(kernel, "tl.load("), 16) << kernel;
  EXPECT_EQ(count(kernel, "tl.store("), 1) << kernel;
}

TEST(WindowKernels, PixelsThatOneBecameAreAddedInOneKernel) {
  const std::string kernel = kernelOf("upsample_nearest2d_backward");
  EXPECT_EQ(count(kernel, "tl.load("), 6) << kernel;
  EXPECT_EQ(count(kernel, "tl.store("), 1) << kernel;
}

TEST(WindowKernels, ATransposedConvolutionMultipliesOnce) {
  const definition::Operator op = shipped("conv_transpose2d");
  auto generation = generate(op, testChip(), nullptr);
  ASSERT_TRUE(bool(generation)) << render(generation.error());
  for (const std::string &kernel : generation->program.kernels) {
    EXPECT_LE(count(kernel, "tl.dot("), 1) << kernel;
  }
  const std::string &last = generation->program.kernels.back();
  EXPECT_NE(last.find("product_1_ptr"), std::string::npos) << last;
  EXPECT_EQ(count(last, "tl.dot("), 0) << last;
}

TEST(WindowKernels, WeightsOfAPlaceAreComputedForSeveralChannels) {
  const std::string kernel = kernelOf("grid_sample_corners");
  EXPECT_NE(kernel.find("BLOCK_Z"), std::string::npos) << kernel;
}

TEST(MapKernels, FunctionsOfAPlaceAreComputedForSeveralBatches) {
  const std::string kernel = kernelOf("rotary_positions");
  EXPECT_NE(kernel.find("mid = (pid_mid * BLOCK_Z + tl.arange(0, BLOCK_Z))[:, None, None]"),
            std::string::npos)
      << kernel;
  EXPECT_EQ(kernelOf("rotary_halves").find("BLOCK_Z"), std::string::npos) << "nothing to share";
}

} // namespace
} // namespace nereid::generator
