// What a loop does not change moves out; what could trap or touches memory stays.
// RUN: tile-opt %s --tile-hoist-invariants | FileCheck %s

// CHECK-LABEL: func.func @for_loop
func.func @for_loop(%p: !tile.ptr<f32>, %n: i32, %d: i32) {
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
  // CHECK: tile.make_range
  // CHECK: arith.muli
  // CHECK: arith.divsi %arg1, %c7
  // CHECK: scf.for
  // CHECK: arith.remsi %arg1, %arg2
  // CHECK: arith.divui %arg1, %arg2
  // CHECK: tile.load
  // CHECK: tile.store
  scf.for %i = %low to %n step %step : i32 {
    %range = tile.make_range 0 to 4 : tensor<4xi32>
    %product = arith.muli %n, %d : i32
    %safe = arith.divsi %n, %seven : i32
    %remainder = arith.remsi %n, %d : i32
    %quotient = arith.divui %n, %d : i32
    %value = tile.load %p : !tile.ptr<f32> -> f32
    tile.store %p, %value : !tile.ptr<f32>, f32
    tile.print "" false %range, %product, %safe, %remainder, %quotient : tensor<4xi32>, i32, i32, i32, i32
  }
  return
}

// CHECK-LABEL: func.func @while_loop
func.func @while_loop(%n: i32) -> i32 {
  // CHECK: arith.addi %arg0, %arg0
  // CHECK: scf.while
  %zero = arith.constant 0 : i32
  %r = scf.while (%i = %zero) : (i32) -> i32 {
    %twice = arith.addi %n, %n : i32
    %less = arith.cmpi slt, %i, %twice : i32
    scf.condition(%less) %i : i32
  } do {
  ^bb0(%i: i32):
    %one = arith.constant 1 : i32
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// A loop that asks for it keeps what it has; the loop around it does not.
// CHECK-LABEL: func.func @disable_licm
func.func @disable_licm(%n: i32, %d: i32) {
  %low = arith.constant 0 : i32
  // CHECK: arith.muli
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NEXT: arith.addi
  scf.for %i = %low to %n step %d : i32 {
    %product = arith.muli %n, %d : i32
    scf.for %j = %low to %n step %d : i32 {
      %sum = arith.addi %n, %d : i32
      tile.print "" false %product, %sum : i32, i32
    } {tile.disable_licm}
  }
  return
}
