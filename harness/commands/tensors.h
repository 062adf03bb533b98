/* The tensors of lnbench eval and lnbench fingerprint. */
#ifndef LNBENCH_COMMANDS_TENSORS_H
#define LNBENCH_COMMANDS_TENSORS_H

#include "domain/operation.h"
#include "inputs/tensor.h"
#include "judge/fingerprint/fingerprint.h"

/* Options are called as LayerNorm's tensors. */
const char *tensor_option(size_t role);

/* Reads the files of an operation by role, as `like` says; parameters, which are flat, only where they are asked
 * for. Tables have the shape of x. */
void tensors_read(arena *memory, const operation *what, const char *const paths[ROLES_MOST],
                  const tensor_request *like, bool parameters, tensor_array arrays[ROLES_MOST]);

/* x_digits: as many as y, where x needs just as many, else exact. */
enum { FINGERPRINT_GUESS = -2 };

/* Fills the input, but for its digits, from tensors that were read. */
void fingerprint_take(arena *memory, const tensor_array arrays[ROLES_MOST],
                      const char *const paths[ROLES_MOST], fingerprint_input *input);
/* The decimals that y seems to have been rounded to; else FINGERPRINT_EXACT. */
int fingerprint_printed_digits(const fingerprint_input *input);

#endif
