// Loops, arithmetic, functions and vectors become operations of the LLVM dialect, and nothing else
// is left.
// RUN: cpu-opt %s --convert-loops-to-llvm | FileCheck %s --implicit-check-not='{{(scf|arith|math|vector|cf|func)\.|unrealized}}'

// A loop becomes branches; its counter and what it carries are arguments of its block.
// CHECK-LABEL: llvm.func @sum(%arg0: !llvm.ptr, %arg1: i64)
// CHECK: llvm.br ^[[HEAD:bb[0-9]+]](%{{.*}}, %{{.*}} : i64, f32)
// CHECK: ^[[HEAD]](%[[I:.*]]: i64, %[[SUM:.*]]: f32):
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %arg1 : i64
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY:bb[0-9]+]], ^[[END:bb[0-9]+]]
// CHECK: ^[[BODY]]:
// CHECK: %[[NEXT:.*]] = llvm.fadd %[[SUM]], %{{.*}} : f32
// CHECK: llvm.br ^[[HEAD]](%{{.*}}, %[[NEXT]] : i64, f32)
// CHECK: ^[[END]]:
// CHECK: llvm.store %[[SUM]]
// CHECK: llvm.return
func.func @sum(%x: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (f32) : i64 {
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %a = llvm.load %at : !llvm.ptr -> f32
    %b = arith.addf %s, %a : f32
    scf.yield %b : f32
  }
  llvm.store %sum, %x : f32, !llvm.ptr
  return
}

// Loops that wait, and branches with a result.
// CHECK-LABEL: llvm.func @wait
// CHECK: llvm.br ^[[AGAIN:bb[0-9]+]]
// CHECK: ^[[AGAIN]]:
// CHECK: llvm.load volatile
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^{{.*}}
// CHECK: llvm.br ^[[AGAIN]]
// CHECK: llvm.cond_br %{{.*}}
// CHECK: ^{{.*}}(%[[CHOSEN:.*]]: i32):
// CHECK: llvm.store %[[CHOSEN]]
func.func @wait(%x: !llvm.ptr, %c: i1) {
  %zero = arith.constant 0 : i32
  %seen = scf.while : () -> i32 {
    %now = llvm.load volatile %x : !llvm.ptr -> i32
    %isSame = arith.cmpi eq, %now, %zero : i32
    scf.condition(%isSame) %now : i32
  } do {
  ^bb0(%now: i32):
    scf.yield
  }
  %chosen = scf.if %c -> i32 {
    scf.yield %seen : i32
  } else {
    scf.yield %zero : i32
  }
  llvm.store %chosen, %x : i32, !llvm.ptr
  return
}

// Vectors, their shuffles and reductions, and what is an intrinsic of LLVM's. Sums may be taken in
// any order, and keep the flags of their operation otherwise.
// CHECK-LABEL: llvm.func @vectors
// CHECK: llvm.intr.fma(%[[A:.*]], %[[A]], %[[A]]) : (vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: llvm.intr.sqrt
// CHECK: llvm.shufflevector %{{.*}} [3, 2, 1, 0]
// CHECK: llvm.fdiv %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : vector<4xf32>
// CHECK: "llvm.intr.vector.reduce.fadd"({{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}>
func.func @vectors(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> vector<4xf32>
  %b = math.fma %a, %a, %a : vector<4xf32>
  %c = math.sqrt %b : vector<4xf32>
  %d = vector.shuffle %c, %c [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
  %e = arith.divf %d, %a fastmath<contract> : vector<4xf32>
  %s = vector.reduction <add>, %e : vector<4xf32> into f32
  llvm.store %s, %x : f32, !llvm.ptr
  return
}
