// A text that says rows are pipelined which cannot be is refused where it says so.
// RUN: cpu-opt %s --convert-tile-to-loops --verify-diagnostics

func.func @alone(%out: !tile.ptr<f32>, %first: i32, %last: i32) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %no = arith.constant false
  %yes = arith.constant true
  %o = tile.make_range 0 to 1024 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xf32>
  %ps = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %ps, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %r = scf.for %row = %first to %last step %one iter_args(%pending = %no) -> (i1) : i32 {
    // expected-error @below {{the rows of this loop cannot be pipelined as its attributes say: no nest stands in front of the delayed store [E0391]}}
    scf.if %pending {
      tile.store %p, %v : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
    } {cpu.delayed_store = 0 : i32}
    scf.yield %yes : i1
  } {cpu.pipelined_rows}
  return
}
