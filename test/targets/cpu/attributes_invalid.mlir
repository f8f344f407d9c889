// An attribute by which one pass of the CPU tells a later one something, in a wrong place.
// RUN: cpu-opt %s --split-input-file --verify-diagnostics

func.func @unknown() {
  // expected-error @below {{attribute 'cpu.whole_vector' is not known}}
  %0 = arith.constant {cpu.whole_vector} 0 : i64
  return
}

// -----

func.func @no_loop() {
  // expected-error @below {{attribute 'cpu.whole_vectors' expects a 'scf.for'}}
  %0 = arith.constant {cpu.whole_vectors} 0 : i64
  return
}

// -----

func.func @no_mark(%n: i64) {
  // expected-error @below {{attribute 'cpu.any_lane_order' expects no value, but got 1 : i64}}
  scf.for %i = %n to %n step %n : i64 {
  } {cpu.any_lane_order = 1}
  return
}

// -----

func.func @no_length(%n: i64) {
  // expected-error @below {{attribute 'cpu.short_row' expects an integer from 1 to 9223372036854775807 of type i64, but got 0 : i64}}
  scf.for %i = %n to %n step %n : i64 {
  } {cpu.short_row = 0}
  return
}

// -----

func.func @short_what(%n: i64) {
  // expected-error @below {{attribute 'cpu.short_row' expects a 'scf.for'}}
  %0 = arith.constant {cpu.short_row = 4} 0 : i64
  return
}

// -----

func.func @no_store(%p: !tile.ptr<f32>) {
  // expected-error @below {{attribute 'cpu.cached' expects a 'tile.store'}}
  %0 = tile.load %p {cpu.cached} : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @not_pipelined(%c: i1, %p: tensor<8x!tile.ptr<f32>>, %v: tensor<8xf32>) {
  // expected-error @below {{attribute 'cpu.delayed_store' expects a 'scf.if' around one store of a tile, in a loop with the attribute 'cpu.pipelined_rows'}}
  scf.if %c {
    tile.store %p, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  } {cpu.delayed_store = 0 : i32}
  return
}

// -----

func.func @no_tile(%c: i1, %n: i32, %p: !tile.ptr<f32>, %v: f32) {
  scf.for %i = %n to %n step %n : i32 {
    // expected-error @below {{attribute 'cpu.delayed_store' expects a 'scf.if' around one store of a tile, in a loop with the attribute 'cpu.pipelined_rows'}}
    scf.if %c {
      tile.store %p, %v : !tile.ptr<f32>, f32
    } {cpu.delayed_store = 0 : i32}
  } {cpu.pipelined_rows}
  return
}

// -----

func.func @no_part(%c: i1, %n: i32, %p: tensor<8x!tile.ptr<f32>>, %v: tensor<8xf32>) {
  scf.for %i = %n to %n step %n : i32 {
    // expected-error @below {{attribute 'cpu.delayed_store' expects an integer from 0 to 2 of type i32, but got 3 : i32}}
    scf.if %c {
      tile.store %p, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    } {cpu.delayed_store = 3 : i32}
  } {cpu.pipelined_rows}
  return
}

// -----

func.func @row_before_what(%n: i32) {
  // expected-error @below {{attribute 'cpu.row_before' expects an operation without regions in a loop with the attribute 'cpu.pipelined_rows'}}
  %0 = arith.addi %n, %n {cpu.row_before} : i32
  return
}

// -----

// A machine with a large first level has rows that count as short and are longer than any tile of the
// language.
func.func @short_of_a_large_machine(%n: i64) {
  scf.for %i = %n to %n step %n : i64 {
  } {cpu.short_row = 4194304}
  return
}

// -----

func.func @first_part_alone(%c: i1, %n: i32, %p: tensor<8x!tile.ptr<f32>>, %v: tensor<8xf32>) {
  // expected-error @below {{attribute 'cpu.pipelined_rows' expects one delayed store of a whole row, part 0, or two of its parts 1 and 2 in this order, but got 1}}
  scf.for %i = %n to %n step %n : i32 {
    scf.if %c {
      tile.store %p, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    } {cpu.delayed_store = 1 : i32}
  } {cpu.pipelined_rows}
  return
}

// -----

func.func @rest_before_first_part(%c: i1, %n: i32, %p: tensor<8x!tile.ptr<f32>>, %v: tensor<8xf32>) {
  // expected-error @below {{attribute 'cpu.pipelined_rows' expects one delayed store of a whole row, part 0, or two of its parts 1 and 2 in this order, but got 2, 1}}
  scf.for %i = %n to %n step %n : i32 {
    scf.if %c {
      tile.store %p, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    } {cpu.delayed_store = 2 : i32}
    scf.if %c {
      tile.store %p, %v : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    } {cpu.delayed_store = 1 : i32}
  } {cpu.pipelined_rows}
  return
}

// -----

"func.func"() ({
^bb0(%n: i32):
  // expected-error @below {{'scf.for' op region #0 ('region') failed to verify constraint: region with 1 blocks}}
  "scf.for"(%n, %n, %n) ({
  }) {cpu.pipelined_rows} : (i32, i32, i32) -> ()
}) {function_type = (i32) -> (), sym_name = "no_body"} : () -> ()
