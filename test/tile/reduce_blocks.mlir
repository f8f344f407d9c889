// Tiles that a loop accumulates only to be reduced; each condition has a near miss.
// RUN: tile-opt %s --tile-reduce-blocks | FileCheck %s

// A sum from zero: each block is summed up, and the loop carries one number.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: !tile.ptr<f32>, %n: i32) -> f32 {
  %zero = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %range = tile.make_range 0 to 128 : tensor<128xi32>
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]]) -> (f32)
  // CHECK: %[[BLOCK:.*]] = tile.load
  // CHECK: %[[OF:.*]] = tile.reduce %[[BLOCK]] axis 0
  // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[OF]] : f32
  // CHECK: scf.yield %[[NEXT]] : f32
  // CHECK-NOT: tile.reduce
  // CHECK: return %[[LOOP]]
  %total = scf.for %i = %zero to %n step %step iter_args(%acc = %zeros) -> (tensor<128xf32>) : i32 {
    %p = tile.addptr %x, %i : !tile.ptr<f32>, i32
    %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
    %q = tile.addptr %ps, %range : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %block = tile.load %q : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
    %next = arith.addf %acc, %block : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %r = tile.reduce %total axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.combine_return %s : f32
  } : (tensor<128xf32>) -> f32
  return %r : f32
}

// A maximum may start anywhere, also at a number that is known later.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: %[[X:.*]]: tensor<128xi32>, %[[START:.*]]: i32, %[[N:.*]]: i32
func.func @maximum(%x: tensor<128xi32>, %start: i32, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %starts = tile.splat %start : i32 -> tensor<128xi32>
  // CHECK: scf.for {{.*}} iter_args(%[[TOP:.*]] = %[[START]]) -> (i32)
  // CHECK: %[[OF:.*]] = tile.reduce
  // CHECK: arith.maxsi %[[TOP]], %[[OF]] : i32
  %top = scf.for %i = %zero to %n step %one iter_args(%acc = %starts) -> (tensor<128xi32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<128xi32>
    %block = arith.addi %x, %is : tensor<128xi32>
    %next = arith.maxsi %block, %acc : tensor<128xi32>
    scf.yield %next : tensor<128xi32>
  }
  %r = tile.reduce %top axis 0 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<128xi32>) -> i32
  return %r : i32
}

// A sum that starts at one would count it once for each element; another operation is no sum of all;
// a sum of bfloat16 in few registers would be less exact.
// CHECK-LABEL: func.func @stays
// CHECK: scf.for {{.*}} -> (tensor<128xi32>, tensor<128xi32>, tensor<128xbf16>)
// CHECK-NOT: tile.reduce
// CHECK: scf.yield
// CHECK-COUNT-3: tile.reduce
func.func @stays(%x: tensor<128xi32>, %y: tensor<128xbf16>, %n: i32) -> (i32, i32, bf16) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<128xi32>
  %zeros = arith.constant dense<0> : tensor<128xi32>
  %halves = arith.constant dense<0.0> : tensor<128xbf16>
  %t:3 = scf.for %i = %zero to %n step %one iter_args(%a = %ones, %b = %zeros, %c = %halves) -> (tensor<128xi32>, tensor<128xi32>, tensor<128xbf16>) : i32 {
    %na = arith.addi %a, %x : tensor<128xi32>
    %nb = arith.subi %b, %x : tensor<128xi32>
    %nc = arith.addf %c, %y : tensor<128xbf16>
    scf.yield %na, %nb, %nc : tensor<128xi32>, tensor<128xi32>, tensor<128xbf16>
  }
  %r = tile.reduce %t#0 axis 0 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<128xi32>) -> i32
  %q = tile.reduce %t#1 axis 0 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<128xi32>) -> i32
  %h = tile.reduce %t#2 axis 0 {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    tile.combine_return %s : bf16
  } : (tensor<128xbf16>) -> bf16
  return %r, %q, %h : i32, i32, bf16
}
