// The phase as a whole on a kernel as the front end writes it: equal offsets and masks are computed
// once, dead ones go, and two loads with a store between them stay two.
// RUN: tile-opt %s --tile-opt | FileCheck %s

// CHECK-LABEL: func.func @add
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  // CHECK-COUNT-1: arith.cmpi slt
  // CHECK-NOT: arith.cmpi
  // CHECK: tile.load
  // CHECK: tile.store
  // CHECK: tile.load
  // CHECK: tile.store
  // CHECK-NOT: tile.load
  %pid = tile.program_id 0
  %block = arith.constant 64 : i32
  %start = arith.muli %pid, %block : i32
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  %offsets = arith.addi %starts, %range : tensor<64xi32>
  %n1 = tile.splat %n : i32 -> tensor<64xi32>
  %mask1 = arith.cmpi slt, %offsets, %n1 : tensor<64xi32>
  %n2 = tile.splat %n : i32 -> tensor<64xi32>
  %mask2 = arith.cmpi slt, %offsets, %n2 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp mask %mask1 : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %b = tile.load %xp mask %mask2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %sum = arith.addf %a, %b : tensor<64xf32>
  tile.store %yp, %sum mask %mask2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  %again = tile.load %xp mask %mask1 : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %yp, %again mask %mask1 : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}
