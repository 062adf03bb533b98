/* Reproducibility: on what the bits of a row may depend (axes), and the classes that follow.
 * conformance/invariance.c runs a kernel to find out. */
#ifndef LNBENCH_REPRODUCIBLE_H
#define LNBENCH_REPRODUCIBLE_H

#include "domain/kernel.h"
#include <jansson.h>

enum { INVARIANCE_HIDDEN = 2 }; /* hidden sizes of the rows that a kernel runs */

typedef enum invariance_axis {
    AXIS_CALL,      /* the same call on the same buffers again */
    AXIS_ROWS,      /* rows in the batch */
    AXIS_POSITION,  /* the row's place in the batch */
    AXIS_THREADS,   /* threads of the call */
    AXIS_ALIGNMENT, /* of the buffers */
    AXIS_STRIDE,    /* gaps between rows, and mean and rstd asked for */
    AXIS_IN_PLACE,  /* y is x */
    AXIS_ISA,       /* the kernel of the same name on another ISA */
    AXIS_COUNT,
} invariance_axis;

/* Each contains the ones before it. */
typedef enum reproducibility {
    REPRODUCIBLE_UNKNOWN,
    REPRODUCIBLE_NONE, /* two equal calls differ */
    REPRODUCIBLE_RUN,  /* an equal call gives equal bits */
    REPRODUCIBLE_ROW,  /* a row's bits depend on nothing but the row and the parameters */
    REPRODUCIBLE_ISA,  /* on no ISA either, of those that this CPU has: two at least */
} reproducibility;

typedef struct invariance_result {
    unsigned tested, varies;           /* sets of axes: 1u << AXIS_... */
    uint64_t plain[INVARIANCE_HIDDEN]; /* FNV-1a of y in the plain setting, of each hidden size */
} invariance_result;

const char *axis_name(invariance_axis axis);
const char *reproducibility_name(reproducibility class); /* "-", "none", "run", "row", "isa" */
reproducibility reproducibility_of(const invariance_result *found);
/* What the kernel's traits promise; UNKNOWN: nothing. */
reproducibility reproducibility_declared(const kernel_facts *facts);
/* "row", "run (threads, stride)", "-". */
const char *reproducibility_describe(const invariance_result *found, char *buffer, size_t size);

/* own[], and behind them those of their families among all kernels: how many there are then.
 * `chosen` has room for all kernels. */
size_t with_families(const kernel_list *kernels, const kernel_entry *const *own, size_t own_count,
                     const kernel_entry **chosen);

/* Compares the plain outputs of those that ran: kernels[i] gave found[i]. */
void invariance_compare_isas(const kernel_entry *const *kernels, invariance_result *found,
                             size_t count);

/* The reproducibility class of a kernel, in the words of every table that lists kernels: the one
 * that was measured ("none", "run", "row", "isa"); where none was, in brackets the one that the
 * kernel declares ("(row)"); "-" where it declares none either. All of them are static strings.
 *
 *     table_cell(table, reproducible_stored(view->kernels, "naive_f32_avx2"));
 */

/* As its descriptor has it, in the array of a run's descriptors. */
const char *reproducible_stored(const json_t *kernels, const char *kernel);
/* As it was just found; NULL: not measured. */
const char *reproducible_found(const kernel_facts *facts, const invariance_result *found);

/* Whether a kernel of these descriptors must give the same bits on every CPU that can run it: it was
 * measured on every instruction set, or its maker says so. */
bool reproducible_everywhere(const json_t *kernels, const char *kernel);

/* The class that was measured as JSON; null where none was. NULL when memory runs out. */
json_t *reproducible_json(const char *word);
/* Whether both were measured, and the second is less than the first. */
bool reproducible_is_less(const char *base, const char *new);
/* "row"; where the two differ "run was row". */
const char *reproducible_both(const char *base, const char *new, char buffer[32]);

#endif
