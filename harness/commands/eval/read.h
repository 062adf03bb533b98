/* The tensors of lnbench eval. */
#ifndef LNBENCH_EVAL_READ_H
#define LNBENCH_EVAL_READ_H

#include "base/output.h"
#include "domain/kernel.h"
#include "domain/operation.h"
#include "inputs/tensor.h"
#include "judge/gradients.h"
#include "judge/judge.h"
#include "judge/fingerprint/fingerprint.h"

typedef struct eval_files {
    const char *paths[ROLES_MOST]; /* by role */
    const char *dy, *gradients[GRADIENTS];
    const char *input, *shape; /* rows of a family instead of files */
    const char *axis, *dtype;
} eval_files;

typedef struct eval_tensors {
    tensor_array arrays[ROLES_MOST]; /* by role */
    tensor_array dy, gradients[GRADIENTS];
    arena memory; /* of all of them */
    ln_type storage, param;
    size_t rows, hidden;
} eval_tensors;

/* --dtypes is a type, if it was given. */
void eval_check_type(const eval_files *files);

/* The types are the kernel's; without one the rows' type is that of --dtypes, or of the files: what
 * came out decides, since x may be narrower than that (f16 in, f32 out). Parameters are f64 beside f64
 * and else f32; RMSNorm's weight keeps a shorter type of its own. Every element keeps its value. */
void eval_read(const eval_files *files, const ln_convention *convention, const kernel_entry *kernel,
               eval_tensors *tensors);
/* The user's tensors, or rows of a family, with their exact answers. */
void eval_block(const eval_files *files, const ln_convention *convention,
                const eval_tensors *tensors, row_judge *judge, judge_block *block);
/* Which function made the y that was given; returns whether the convention may have. Of a table its first most_rows
 * are looked at: what they exclude, all rows exclude. */
bool eval_function(const eval_files *files, const eval_tensors *tensors,
                   const ln_convention *convention, size_t most_rows, fingerprint_found *found);
void eval_tensors_free(eval_tensors *tensors);

/* eval --dy: measures the given gradients (the others are NULL), which were made elsewhere, against the exact ones,
 * and prints a table, or JSON. accuracy: an element of another class, or a row_ulp_max above the limit;
 * inconclusive where the limit is infinite. */
exit_code eval_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                         const void *const given[GRADIENTS], double max_row_ulp,
                         const output_file *out);

#endif
