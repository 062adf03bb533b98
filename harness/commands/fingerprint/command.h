/* The parts of `lnbench fingerprint`, between fingerprint.c, read.c and
 * print.c. */
#ifndef LNBENCH_FINGERPRINT_COMMAND_H
#define LNBENCH_FINGERPRINT_COMMAND_H

#include "judge/layernorm/fingerprint/fingerprint.h"
#include "inputs/tensor/tensor.h"
#include "base/output.h"

typedef struct fingerprint_files {
    const char *paths[ROLES_MOST]; /* by role; only x and y are needed */
} fingerprint_files;

/* The tensors as read; `input` points into them. */
typedef struct fingerprint_tensors {
    tensor_array arrays[ROLES_MOST]; /* likewise */
    double *y_values;
    fingerprint_input input;
} fingerprint_tensors;

/* digits: decimals that y was printed to, FINGERPRINT_EXACT for none; x_digits: the same for x, or
 * FINGERPRINT_GUESS: as many as y, where x needs just as many, else exact. */
enum { FINGERPRINT_GUESS = -2 };
bool fingerprint_read(const fingerprint_files *files, int digits, int x_digits, double noise,
                      fingerprint_tensors *tensors, error *err);
void fingerprint_tensors_free(fingerprint_tensors *tensors);

bool fingerprint_print_json(const fingerprint *found, const output_file *out, error *err);
/* Text, Markdown, or the whole ranking as TSV. */
bool fingerprint_print_text(const fingerprint_input *input, const fingerprint *found, bool all,
                            const output_file *out, error *err);

/* Writes the probe rows as probe_count x hidden. */
bool fingerprint_write_probes(const fingerprint *found, const char *path, error *err);

#endif
