// Values that a loop only adds to, one amount for all elements of a tile.
// RUN: tile-opt %s --tile-print-inductions --verify-diagnostics

func.func @indices_and_addresses(%p: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %block = arith.constant dense<64> : tensor<64xi32>
  %strides = tile.splat %stride : i32 -> tensor<64xi32>
  // expected-remark@below {{argument 1 is an induction}}
  // expected-remark@below {{argument 2 is an induction}}
  // expected-remark@below {{argument 3 is an induction}}
  %r:4 = scf.for %i = %zero to %n step %one iter_args(%index = %range, %address = %ps, %count = %zero, %factor = %one) -> (tensor<64xi32>, tensor<64x!tile.ptr<f32>>, i32, i32) : i32 {
    %next = arith.addi %block, %index : tensor<64xi32>
    %following = tile.addptr %address, %strides : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %more = arith.addi %count, %i : i32
    %twice = arith.addi %factor, %factor : i32
    %product = arith.muli %twice, %n : i32
    scf.yield %next, %following, %more, %product : tensor<64xi32>, tensor<64x!tile.ptr<f32>>, i32, i32
  }
  return
}

// Steps that differ between elements, be it from the third round on: %c adds a range to itself, %b
// adds %c, and %a adds %b.
func.func @carried_tiles(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  %zeros = arith.constant dense<0> : tensor<16xi32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%a = %zeros, %b = %zeros, %c = %zeros) -> (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) : i32 {
    %next_a = arith.addi %a, %b : tensor<16xi32>
    %next_b = arith.addi %b, %c : tensor<16xi32>
    %next_c = arith.addi %c, %range : tensor<16xi32>
    scf.yield %next_a, %next_b, %next_c : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>
  }
  return
}

// The same with steps that stay uniform, though each round has others; and in a loop inside.
func.func @uniform_steps(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tile.make_range 0 to 16 : tensor<16xi32>
  %fours = arith.constant dense<4> : tensor<16xi32>
  // expected-remark@below {{argument 1 is an induction}}
  // expected-remark@below {{argument 2 is an induction}}
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %range, %b = %fours) -> (tensor<16xi32>, tensor<16xi32>) : i32 {
    // expected-remark@below {{argument 1 is an induction}}
    %inner = scf.for %j = %zero to %n step %one iter_args(%c = %a) -> (tensor<16xi32>) : i32 {
      %next_c = arith.addi %c, %b : tensor<16xi32>
      scf.yield %next_c : tensor<16xi32>
    }
    %next_a = arith.addi %a, %b : tensor<16xi32>
    %next_b = arith.addi %b, %fours : tensor<16xi32>
    scf.yield %next_a, %next_b : tensor<16xi32>, tensor<16xi32>
  }
  return
}

// Neither an offset that was a pointer's, nor a difference, nor another loop's value.
func.func @near_misses(%p: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%a = %zero, %b = %one, %q = %p) -> (i32, i32, !tile.ptr<f32>) : i32 {
    %less = arith.subi %n, %a : i32
    %other = arith.addi %a, %n : i32
    %away = tile.addptr %p, %i : !tile.ptr<f32>, i32
    scf.yield %less, %other, %away : i32, i32, !tile.ptr<f32>
  }
  return
}
