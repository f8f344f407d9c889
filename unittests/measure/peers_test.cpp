// SPDX-License-Identifier: Apache-2.0
// Libraries found at run time as peers: OpenBLAS's product against one written here, and what no
// library is asked for.
#include "lib/measure/peers/Peers.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::measure;
using runtime::Tensor;

namespace {

std::map<std::string, Tensor> matrices(DType dtype) {
  Tensor a = Tensor::empty({2, 3}, dtype), b = Tensor::empty({3, 2}, dtype);
  for (int64_t i = 0; i < 6; ++i) {
    a.set(i, static_cast<double>(i + 1));
    b.set(i, static_cast<double>(10 * i));
  }
  return {{"a", a}, {"b", b}};
}

TEST(Peers, OpenBlasMultipliesIntoMemoryOfItsOwn) {
  Tensor output = Tensor::empty({2, 2}, DType::F32);
  output.poison();
  auto peer = findPeer({"matmul", {"a", "b"}, {}}, matrices(DType::F32), output);
  ASSERT_TRUE(peer) << "expects libopenblas.so.0, which ./dev setup installs";
  EXPECT_EQ(peer->name, "OpenBLAS");
  peer->run();
  // Rows 1 2 3 and 4 5 6 by columns 0 20 40 and 10 30 50.
  const double expected[] = {160, 220, 340, 490};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(peer->output.at(i), expected[i]) << i;
  }
  EXPECT_TRUE(output.at(0) != output.at(0)) << "the kernel's own output is left alone";
}

TEST(Peers, NothingForWhatNoLibraryHas) {
  Tensor output = Tensor::empty({2, 2}, DType::F64);
  EXPECT_FALSE(findPeer({"matmul", {"a", "b"}, {}}, matrices(DType::F64), output));
  output = Tensor::empty({2, 2}, DType::F32);
  EXPECT_FALSE(findPeer({"matmul", {"a", "c"}, {}}, matrices(DType::F32), output));
  EXPECT_FALSE(findPeer({"no_such_operation", {"a"}, {}}, matrices(DType::F32), output));
  EXPECT_FALSE(findPeer({"matmul", {"a"}, {}}, matrices(DType::F32), output));
}

} // namespace
