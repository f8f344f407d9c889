/* SPDX-License-Identifier: Apache-2.0 */
#include "tell.h"

#include <stdio.h>
#include <string.h>

static int lines;

static void count(void *context, const char *line) {
  ++lines;
  if (strcmp(line, (const char *)context) != 0) {
    lines += 100;
  }
}

int main(void) {
  int32_t x[4] = {7, 8, 9, 10};
  char text[200] = "";
  nereid_aot_options options = {0};
  int status;
  options.message = text;
  options.message_bytes = sizeof text;

  /* On standard output, then through a function. */
  status = tell(1, 1, 1, x, 4, &options);
  options.print = count;
  options.print_context = (void *)"pid (0, 0, 0) idx () value: 7";
  status += tell(1, 1, 1, x, 4, &options);
  printf("%d lines, status %d\n", lines, status);

  options.print_context = NULL;
  options.print = NULL;
  options.pool = nereid_aot_no_pool();
  status = tell(4, 1, 1, x, 2, &options);
  printf("status %d: %s\n", status, text);

  /* A buffer that is too short is filled to its end. */
  options.message_bytes = 10;
  status = tell(4, 1, 1, x, 2, &options);
  printf("status %d: '%s'\n", status, text);
  options.message_bytes = 0;
  text[0] = 0;
  status = tell(1, -1, 1, x, 4, &options);
  printf("status %d: '%s'\n", status, text);
  return 0;
}
