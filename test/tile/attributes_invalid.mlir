// Attributes in wrong places, or with wrong values; see lib/tile/ir/TileVerifyAttributes.cpp.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{attribute 'tile.kernle' is not known}}
func.func @unknown() attributes {tile.kernle} {
  return
}

// -----

func.func @kernel_of_no_function(%x: i32) {
  // expected-error @+1 {{attribute 'tile.kernel' expects a function}}
  %0 = arith.addi %x, %x {tile.kernel} : i32
  return
}

// -----

// expected-error @+1 {{attribute 'tile.kernel' expects no value, but got 1 : i32}}
func.func @kernel_with_a_value() attributes {tile.kernel = 1 : i32} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.kernel' expects arguments that are numbers or addresses, but got !tile.descriptor<4xf32>}}
func.func @kernel_of_a_descriptor(%d: !tile.descriptor<4xf32>) attributes {tile.kernel} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.num_warps' expects a power of two from 1 to 64 of type i32, but got 3 : i32}}
func.func @warps() attributes {tile.kernel, tile.num_warps = 3 : i32} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.target_options' expects a kernel and a dictionary of numbers of type i64, but got {waves = 2 : i32}}}
func.func @target_options() attributes {tile.kernel, tile.target_options = {waves = 2 : i32}} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.num_ctas' expects a power of two from 1 to 16 of type i32, but got 2 : i64}}
func.func @ctas() attributes {tile.kernel, tile.num_ctas = 2 : i64} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.maxnreg' expects an integer from 1 to 255 of type i32, but got 0 : i32}}
func.func @registers() attributes {tile.kernel, tile.maxnreg = 0 : i32} {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.num_warps' expects a kernel}}
func.func @warps_of_a_helper() attributes {tile.num_warps = 4 : i32} {
  return
}

// -----

func.func @stages_of_no_loop(%x: i32) {
  // expected-error @+1 {{attribute 'tile.num_stages' expects a kernel or a 'scf.for'}}
  %0 = arith.addi %x, %x {tile.num_stages = 2 : i32} : i32
  return
}

// -----

func.func @stages(%x: i32) {
  // expected-error @+1 {{attribute 'tile.num_stages' expects an integer from 0 to 2147483647 of type i32, but got -1 : i32}}
  scf.for %i = %x to %x step %x : i32 {
  } {tile.num_stages = -1 : i32}
  return
}

// -----

func.func @unroll(%x: i32) {
  // expected-error @+1 {{attribute 'tile.loop_unroll_factor' expects an integer from 0 to 2147483647 of type i32, but got "two"}}
  scf.for %i = %x to %x step %x : i32 {
  } {tile.loop_unroll_factor = "two"}
  return
}

// -----

func.func @flatten(%x: i1) {
  // expected-error @+1 {{attribute 'tile.flatten' expects a 'scf.for'}}
  scf.if %x {
  } {tile.flatten}
  return
}

// -----

func.func @warp_specialize(%x: i32) {
  // expected-error @+1 {{attribute 'tile.warp_specialize' expects no value, but got true}}
  scf.for %i = %x to %x step %x : i32 {
  } {tile.warp_specialize = true}
  return
}

// -----

func.func @promise_of_rank_1() {
  // expected-error @+1 {{attribute 'tile.divisibility' expects array<i64> of 1, but got array<i64: 4, 4>}}
  %0 = tile.make_range 0 to 4 {tile.divisibility = array<i64: 4, 4>} : tensor<4xi32>
  return
}

// -----

func.func @promise_as_of_an_argument(%x: i32) {
  // expected-error @+1 {{attribute 'tile.contiguity' expects array<i64> of 1, but got 16 : i64}}
  %0 = arith.addi %x, %x {tile.contiguity = 16 : i64} : i32
  return
}

// -----

func.func @promise_of_two_results(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{attribute 'tile.constancy' expects an operation with one result, but got one with 2}}
  %0, %1 = tile.split %x {tile.constancy = array<i64: 4>} : tensor<4x2xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{attribute 'tile.divisibility' of argument 0 expects an i64 of at least 1, but got 0 : i64}}
func.func @argument_divisor(%x: i32 {tile.divisibility = 0 : i64}) {
  return
}

// -----

// expected-error @+1 {{attribute 'tile.contiguity' is not known of an argument}}
func.func @argument_contiguity(%x: i32 {tile.contiguity = 4 : i64}) {
  return
}

// -----

func.func @iterations(%x: i32) {
  // expected-error @+1 {{attribute 'tile.iterations' expects array<i64>, but got 1 : i32}}
  %0 = arith.addi %x, %x {tile.iterations = 1 : i32} : i32
  return
}

// -----

func.func @unsigned(%x: i32) {
  // expected-error @+1 {{attribute 'tile.unsigned' expects numbers of operands of a 'tile.print', but got array<i64: 1>}}
  tile.print "x" false %x : i32 {tile.unsigned = array<i64: 1>}
  return
}

// -----

func.func @coarsened(%x: i32) {
  // expected-error @+1 {{attribute 'tile.coarsened' expects a 'scf.for'}}
  %0 = arith.addi %x, %x {tile.coarsened} : i32
  return
}

// -----

func.func @one_order(%x: i32) {
  // expected-error @+1 {{attribute 'tile.one_order' expects a 'scf.for'}}
  %0 = arith.addi %x, %x {tile.one_order} : i32
  return
}

// -----

func.func @end_of_range(%x: i32) {
  // expected-error @+1 {{attribute 'tile.end_of_range' expects a 'tile.program_id'}}
  %0 = arith.addi %x, %x {tile.end_of_range} : i32
  return
}

// -----

func.func @private(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @+1 {{attribute 'tile.private' expects a 'tile.atomic_rmw'}}
  tile.store %p, %x {tile.private} : !tile.ptr<i32>, i32
  return
}

// -----

func.func @rounded(%x: f32) -> f32 {
  // expected-error @+1 {{attribute 'tile.rounded' expects an 'arith.mulf' or 'arith.divf'}}
  %sum = arith.addf %x, %x {tile.rounded} : f32
  return %sum : f32
}

// -----

func.func @for_halves(%x: f32) -> f32 {
  // expected-error @+1 {{attribute 'tile.for_halves' expects an 'arith.select'}}
  %sum = arith.addf %x, %x {tile.for_halves} : f32
  return %sum : f32
}
