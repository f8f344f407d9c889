// Reads run a page ahead beside stores that bypass the caches, once for each line.
// RUN: cpu-opt %s --cpu-prefetch-ahead | FileCheck %s

// CHECK-LABEL: func.func @stream
func.func @stream(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %sixteen = arith.constant 16 : i64
  %eight = arith.constant 8 : i64
  %end = arith.constant 1024 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %program = llvm.load %id : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %i = %zero to %end step %sixteen : i64 {
    // CHECK: %[[A0:.*]] = llvm.getelementptr %[[X:.*]][%[[I:.*]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %a0 = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v0 = llvm.load %a0 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    %next = arith.addi %i, %eight : i64
    %a1 = llvm.getelementptr %from[%next] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v1 = llvm.load %a1 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    // The second vector lies in the same line.
    // CHECK: scf.if
    // CHECK-NEXT: %[[AHEAD:.*]] = llvm.getelementptr %[[A0]][4096] : (!llvm.ptr) -> !llvm.ptr, i8
    // CHECK-NEXT: "llvm.intr.prefetch"(%[[AHEAD]])
    // CHECK-NEXT: llvm.store {{.*}}nontemporal
    // CHECK: else
    // CHECK-NOT: prefetch
    scf.if %large {
      llvm.store %v0, %a0 {alignment = 32 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
      llvm.store %v1, %a1 {alignment = 32 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
    } else {
      llvm.store %v0, %a0 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
      llvm.store %v1, %a1 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
    }
  }
  return
}

// The second axis: the next program reads elsewhere. And what stays in the caches is there.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: prefetch
func.func @elsewhere(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %eight = arith.constant 16 : i64
  %end = arith.constant 1024 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %id[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %program = llvm.load %second : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %i = %zero to %end step %eight : i64 {
    %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    scf.if %large {
      llvm.store %v, %a {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
    }
  }
  return
}

// CHECK-LABEL: func.func @cached
// CHECK-NOT: prefetch
func.func @cached(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %eight = arith.constant 16 : i64
  %end = arith.constant 1024 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %program = llvm.load %id : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %i = %zero to %end step %eight : i64 {
    %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    scf.if %large {
      llvm.store %v, %a {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr
    }
  }
  return
}

// Rows by number: what follows a row in memory is not what the next program reads.
// CHECK-LABEL: func.func @by_number
// CHECK-NOT: prefetch
func.func @by_number(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %eight = arith.constant 16 : i64
  %end = arith.constant 1024 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %program = llvm.load %id : !llvm.ptr -> i32
  %number = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %row = llvm.load %number : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%row] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %i = %zero to %end step %eight : i64 {
    %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    scf.if %large {
      llvm.store %v, %a {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
    }
  }
  return
}

// In a loop, what follows need not be what its next turn reads.
// CHECK-LABEL: func.func @in_loop
// CHECK-NOT: prefetch
func.func @in_loop(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %eight = arith.constant 16 : i64
  %end = arith.constant 1024 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %program = llvm.load %id : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %turn = %zero to %end step %eight : i64 {
    scf.for %i = %zero to %end step %eight : i64 {
      %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
      scf.if %large {
        llvm.store %v, %a {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
      }
    }
  }
  return
}

// Steps of whole vectors, in a text written by hand, are left alone.
// CHECK-LABEL: func.func @vectors
// CHECK-NOT: prefetch
func.func @vectors(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %end = arith.constant 64 : i64
  %large = llvm.load %slots : !llvm.ptr -> i1
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  %program = llvm.load %id : !llvm.ptr -> i32
  %from = llvm.getelementptr %x[%program] : (!llvm.ptr, i32) -> !llvm.ptr, f32
  scf.for %i = %zero to %end step %one : i64 {
    %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<16xf32>
    %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    scf.if %large {
      llvm.store %v, %a {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
    }
  }
  return
}
