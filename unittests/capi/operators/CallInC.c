/* SPDX-License-Identifier: Apache-2.0
 * An operator called from C, compiled as C: by name, an output that the call makes and one that is
 * given, the layout asked first. */
#include "nereid/nereid.h"

#include <string.h>

/* 0, or the number of the step that went wrong. */
int nereid_test_call_in_c(void) {
  nereid_operator *op = NULL;
  nereid_tensor *x = NULL, *made[1] = {NULL}, *given[1] = {NULL};
  nereid_argument argument;
  nereid_layout layout;
  nereid_parameter parameter;
  const int64_t shape[2] = {3, 4};
  int failed = 0;
  if (nereid_operator_load("softmax", &op) != NEREID_OK) {
    return 1;
  }
  if (nereid_tensor_create(shape, 2, NEREID_F32, &x) != NEREID_OK ||
      nereid_tensor_create(shape, 2, NEREID_F32, &given[0]) != NEREID_OK ||
      nereid_tensor_fill(x, 1) != NEREID_OK) {
    failed = 2;
  }
  argument.kind = NEREID_ARGUMENT_TENSOR;
  argument.value.tensor = x;
  if (!failed && (nereid_operator_infer(op, &argument, 1, &layout, 1) != NEREID_OK ||
                  layout.rank != 2 || layout.shape[1] != 4 || layout.dtype != NEREID_F32)) {
    failed = 3;
  }
  if (!failed && (nereid_operator_call(op, &argument, 1, made, 1, NULL) != NEREID_OK ||
                  nereid_tensor_get(made[0], 11) != 0.25)) {
    failed = 4;
  }
  if (!failed && (nereid_operator_call(op, &argument, 1, given, 1, NULL) != NEREID_OK ||
                  nereid_tensor_get(given[0], 0) != 0.25)) {
    failed = 5;
  }
  if (!failed && (nereid_operator_input(op, 0, &parameter) != NEREID_OK ||
                  strcmp(parameter.name, "x") != 0 || strcmp(parameter.shape, "[..., D]") != 0)) {
    failed = 6;
  }
  nereid_tensor_free(x);
  nereid_tensor_free(made[0]);
  nereid_tensor_free(given[0]);
  nereid_operator_free(op);
  return failed;
}
