// Operations on descriptors print and parse back to themselves.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @blocks
func.func @blocks(%p: !tile.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i64) {
  %one = arith.constant 1 : i64
  // CHECK: %[[D:.*]] = tile.make_descriptor %arg0, [%arg1, %arg2], [%arg3, %c1_i64] : !tile.ptr<f16> -> !tile.descriptor<8x16xf16>
  %d = tile.make_descriptor %p, [%m, %n], [%s, %one] : !tile.ptr<f16> -> !tile.descriptor<8x16xf16>
  // CHECK: tile.make_descriptor %arg0, [%arg1], [%c1_i64] {padding = 1 : i32} : !tile.ptr<f16> -> !tile.descriptor<4xf16>
  %nan = tile.make_descriptor %p, [%m], [%one] {padding = 1 : i32} : !tile.ptr<f16> -> !tile.descriptor<4xf16>
  // CHECK: %[[X:.*]] = tile.descriptor_load %[[D]][%arg4, %arg2] : !tile.descriptor<8x16xf16> -> tensor<8x16xf16>
  %x = tile.descriptor_load %d[%i, %n] : !tile.descriptor<8x16xf16> -> tensor<8x16xf16>
  // CHECK: tile.descriptor_store %[[D]][%arg4, %arg4], %[[X]] : !tile.descriptor<8x16xf16>, tensor<8x16xf16>
  tile.descriptor_store %d[%i, %i], %x : !tile.descriptor<8x16xf16>, tensor<8x16xf16>
  // CHECK: tile.descriptor_reduce fmax %[[D]][%arg4, %arg4], %[[X]] : !tile.descriptor<8x16xf16>, tensor<8x16xf16>
  tile.descriptor_reduce fmax %d[%i, %i], %x : !tile.descriptor<8x16xf16>, tensor<8x16xf16>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%d: !tile.descriptor<1x16xi32>, %rows: tensor<8xi32>, %i: i64) {
  // CHECK: %[[X:.*]] = tile.descriptor_gather %arg0[%arg1, %arg2] : !tile.descriptor<1x16xi32>, tensor<8xi32> -> tensor<8x16xi32>
  %x = tile.descriptor_gather %d[%rows, %i] : !tile.descriptor<1x16xi32>, tensor<8xi32> -> tensor<8x16xi32>
  // CHECK: tile.descriptor_scatter %arg0[%arg1, %arg2], %[[X]] : !tile.descriptor<1x16xi32>, tensor<8xi32>, tensor<8x16xi32>
  tile.descriptor_scatter %d[%rows, %i], %x : !tile.descriptor<1x16xi32>, tensor<8xi32>, tensor<8x16xi32>
  return
}
