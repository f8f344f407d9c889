// A function's short form is taken where all that becomes of the result is rounded to 16 bits; what
// the other form needs alone is gone.
// RUN: cpu-opt %s --choose-forms | FileCheck %s

// CHECK-LABEL: func.func @rounded
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT: %[[SHORT:.*]] = math.sqrt %[[X]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[SHORT]], %[[Y]]
// CHECK-NEXT: %[[HALF:.*]] = arith.truncf %[[PRODUCT]]
// CHECK-NEXT: return %[[HALF]]
func.func @rounded(%x: f32, %y: f32) -> f16 {
  %c = arith.cmpf oeq, %x, %x : f32
  %log = math.log %x : f32
  %twice = arith.mulf %log, %log : f32
  %exact = math.exp %twice : f32
  %short = math.sqrt %x : f32
  %z = arith.select %c, %exact, %short {lowering.for_halves} : f32
  %product = arith.mulf %z, %y : f32
  %half = arith.truncf %product : f32 to f16
  return %half : f16
}

// A sum may cancel what the short form has right, and what is stored as it is has more bits.
// CHECK-LABEL: func.func @others
// CHECK-NOT: math.sqrt
// CHECK-NOT: arith.select
// CHECK: %[[EXACT:.*]] = math.exp
// CHECK: %[[SUM:.*]] = arith.addf %[[EXACT]]
// CHECK: arith.truncf %[[SUM]]
// CHECK: %[[OTHER:.*]] = math.log
// CHECK: arith.truncf %[[OTHER]]
// CHECK: return {{.*}}, %[[OTHER]]
func.func @others(%x: vector<8xf32>, %y: vector<8xf32>)
    -> (vector<8xbf16>, vector<8xbf16>, vector<8xf32>) {
  %c = arith.cmpf oeq, %x, %x : vector<8xf32>
  %short = math.sqrt %x : vector<8xf32>
  %exact = math.exp %x : vector<8xf32>
  %z = arith.select %c, %exact, %short {lowering.for_halves} : vector<8xi1>, vector<8xf32>
  %sum = arith.addf %z, %y : vector<8xf32>
  %half = arith.truncf %sum : vector<8xf32> to vector<8xbf16>
  %other = math.log %x : vector<8xf32>
  %u = arith.select %c, %other, %short {lowering.for_halves} : vector<8xi1>, vector<8xf32>
  %both = arith.truncf %u : vector<8xf32> to vector<8xbf16>
  return %half, %both, %u : vector<8xbf16>, vector<8xbf16>, vector<8xf32>
}
