// Operations that move elements.
// RUN: tile-opt %s --tile-print-axis-info --verify-diagnostics

// Rows of 64 of which a tile takes 16 times 8.
func.func @rows_and_columns() {
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %rows = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [8], constancy = [1], divisibility = [8], first = [8], stride = [1], multiple = 1, range = [8, 15]}}
  %columns = tile.make_range 8 to 16 : tensor<8xi32>
  // expected-remark@below {{contiguity = [16, 1], constancy = [1, 1], divisibility = [0, 1], first = [0, 1], stride = [1, 0], multiple = 1, range = [0, 15]}}
  %tall = tile.expand_dims %rows, 1 : tensor<16xi32> -> tensor<16x1xi32>
  // expected-remark@below {{contiguity = [1, 8], constancy = [1, 1], divisibility = [1, 8], first = [1, 8], stride = [0, 1], multiple = 1, range = [8, 15]}}
  %flat = tile.expand_dims %columns, 0 : tensor<8xi32> -> tensor<1x8xi32>
  // expected-remark@below {{contiguity = [1, 1], constancy = [16, 1], divisibility = [64, 64], first = [64, 64], stride = [0, 0], multiple = 64, range = [64, 64]}}
  %width = arith.constant dense<64> : tensor<16x1xi32>
  // expected-remark@below {{contiguity = [1, 1], constancy = [1, 1], divisibility = [0, 64], first = [0, 64], stride = [64, 0], multiple = 64, range = [0, 960]}}
  %starts = arith.muli %tall, %width : tensor<16x1xi32>
  // expected-remark@below {{contiguity = [1, 1], constancy = [1, 8], divisibility = [0, 64], first = [0, 64], stride = [64, 0], multiple = 64, range = [0, 960]}}
  %left = tile.broadcast %starts : tensor<16x1xi32> -> tensor<16x8xi32>
  // expected-remark@below {{contiguity = [1, 8], constancy = [16, 1], divisibility = [1, 8], first = [1, 8], stride = [0, 1], multiple = 1, range = [8, 15]}}
  %right = tile.broadcast %flat : tensor<1x8xi32> -> tensor<16x8xi32>
  // expected-remark@below {{contiguity = [1, 8], constancy = [1, 1], divisibility = [1, 8], first = [1, 8], stride = [64, 1], multiple = 1, range = [8, 975]}}
  %index = arith.addi %left, %right : tensor<16x8xi32>
  // expected-remark@below {{contiguity = [8, 1], constancy = [1, 1], divisibility = [8, 1], first = [8, 1], stride = [1, 64], multiple = 1, range = [8, 975]}}
  %turned = tile.trans %index, [1, 0] : tensor<16x8xi32> -> tensor<8x16xi32>
  return
}

func.func @reshapes() {
  // expected-remark@below {{contiguity = [32], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 31]}}
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  // expected-remark@below {{contiguity = [1, 1, 4], constancy = [1, 1, 1], divisibility = [1, 1, 4], first = [1, 1, 4], stride = [16, 4, 1], multiple = 1, range = [0, 31]}}
  %split = tile.reshape %range : tensor<32xi32> -> tensor<2x4x4xi32>
  // expected-remark@below {{contiguity = [32], constancy = [1], divisibility = [4], first = [4], stride = [1], multiple = 1, range = [0, 31]}}
  %merged = tile.reshape %split : tensor<2x4x4xi32> -> tensor<32xi32>
  // Across the boundaries of dimensions.
  // expected-remark@below {{contiguity = [1, 1], constancy = [1, 1], divisibility = [1, 1], first = [1, 1], stride = [-, -], multiple = 1, range = [0, 31]}}
  %across = tile.reshape %split : tensor<2x4x4xi32> -> tensor<4x8xi32>
  // Groups of 8 equal elements are rows of 4, and two of these rows are equal.
  // expected-remark@below {{contiguity = [1], constancy = [32], divisibility = [8], first = [8], stride = [0], multiple = 8, range = [8, 8]}}
  %eight = arith.constant dense<8> : tensor<32xi32>
  // expected-remark@below {{contiguity = [1], constancy = [8], divisibility = [1], first = [0], stride = [0 in 8], multiple = 1, range = [0, 3]}}
  %groups = arith.divui %range, %eight : tensor<32xi32>
  // expected-remark@below {{contiguity = [1, 1], constancy = [2, 4], divisibility = [1, 1], first = [1, 1], stride = [0 in 2, 0], multiple = 1, range = [0, 3]}}
  %rows = tile.reshape %groups : tensor<32xi32> -> tensor<8x4xi32>
  // expected-remark@below {{contiguity = [1], constancy = [8], divisibility = [1], first = [1], stride = [0 in 8], multiple = 1, range = [0, 3]}}
  %back = tile.reshape %rows : tensor<8x4xi32> -> tensor<32xi32>
  // Only ones come and go.
  // expected-remark@below {{contiguity = [1, 32, 1], constancy = [1, 1, 1], divisibility = [1, 0, 1], first = [1, 0, 1], stride = [0, 1, 0], multiple = 1, range = [0, 31]}}
  %ones = tile.reshape %range : tensor<32xi32> -> tensor<1x32x1xi32>
  return
}

func.func @one_element(%n: i32 {tile.divisibility = 16 : i64}) {
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %single = tile.splat %n : i32 -> tensor<1xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [0], multiple = 1, range = [3, 3]}}
  %range = tile.make_range 3 to 4 : tensor<1xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %sum = arith.addi %single, %range : tensor<1xi32>
  // expected-remark@below {{multiple = 1}}
  %scalar = tile.unsplat %sum : tensor<1xi32> -> i32
  // expected-remark@below {{contiguity = [1], constancy = [8], divisibility = [16], first = [16], stride = [0], multiple = 16}}
  %wide = tile.broadcast %single : tensor<1xi32> -> tensor<8xi32>
  return
}

func.func @pairs() {
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [2], first = [2], stride = [0], multiple = 2, range = [2, 2]}}
  %two = arith.constant dense<2> : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [2], multiple = 2, range = [0, 30]}}
  %even = arith.muli %range, %two : tensor<16xi32>
  // expected-remark@below {{contiguity = [1, 1], constancy = [1, 1], divisibility = [0, 1], first = [0, 2], stride = [?, -], multiple = 1, range = [0, 30]}}
  %pairs = tile.join %even, %range : tensor<16xi32> -> tensor<16x2xi32>
  // expected-remark@below {{result 0: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1, range = [0, 30]}}
  // expected-remark@below {{result 1: contiguity = [1], constancy = [1], divisibility = [0], first = [0], stride = [?], multiple = 1, range = [0, 30]}}
  %left, %right = tile.split %pairs : tensor<16x2xi32> -> tensor<16xi32>, tensor<16xi32>
  return
}

func.func @written_out() {
  // expected-remark@below {{contiguity = [1, 4], constancy = [1, 1], divisibility = [1, 16], first = [1, 16], stride = [16, 1], multiple = 1, range = [0, 19]}}
  %steps = arith.constant dense<[[0, 1, 2, 3], [16, 17, 18, 19]]> : tensor<2x4xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [2], first = [4], stride = [-], multiple = 2, range = [2, 8]}}
  %any = arith.constant dense<[4, 8, 6, 2]> : tensor<4xi32>
  return
}

// What is read from equal addresses is equal; a volatile load may read something else each time.
func.func @loads(%p: !tile.ptr<i32>, %n: i32) {
  // expected-remark@below {{contiguity = [16], constancy = [1], divisibility = [0], first = [0], stride = [1], multiple = 1, range = [0, 15]}}
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [4], first = [4], stride = [0], multiple = 4, range = [4, 4]}}
  %four = arith.constant dense<4> : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [0], stride = [0 in 4], multiple = 1, range = [0, 3]}}
  %groups = arith.divsi %range, %four : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [1], stride = [0 in 4], multiple = 1}}
  %at = tile.addptr %ps, %groups : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [4], divisibility = [1], first = [1], stride = [0 in 4], multiple = 1}}
  %read = tile.load %at : tensor<16x!tile.ptr<i32>> -> tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %fresh = tile.load %at {isVolatile} : tensor<16x!tile.ptr<i32>> -> tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [1], first = [1], stride = [0], multiple = 1}}
  %ns = tile.splat %n : i32 -> tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %mask = arith.cmpi slt, %range, %ns : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [16], divisibility = [0], first = [0], stride = [0], multiple = 0, range = [0, 0]}}
  %zeros = arith.constant dense<0> : tensor<16xi32>
  // expected-remark@below {{contiguity = [1], constancy = [1], divisibility = [1], first = [1], stride = [-], multiple = 1}}
  %some = tile.load %at mask %mask : tensor<16xi1> other %zeros : tensor<16xi32> : tensor<16x!tile.ptr<i32>> -> tensor<16xi32>
  return
}
