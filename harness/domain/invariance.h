/* Reproducibility: on what the bits of a row may depend (axes), the classes that follow, and the
 * settings in which a kernel is run to find out (referee/invariance.h runs them). */
#ifndef LNBENCH_DOMAIN_INVARIANCE_H
#define LNBENCH_DOMAIN_INVARIANCE_H

#include "domain/kernel.h"

enum { INVARIANCE_ROWS = 257, INVARIANCE_HIDDEN = 2 };
/* Rows that begin on a cache line each, and rows that have a tail and begin anywhere. */
extern const size_t invariance_hidden[INVARIANCE_HIDDEN];

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

/* One setting of the matrix. */
typedef struct invariance_setting {
    const char *name;     /* "rows=255", ... */
    invariance_axis axis; /* what it varies */
} invariance_setting;

/* All of them, the plain one first: 257 rows, one thread, as in timing. ISA is not among them. */
const invariance_setting *invariance_settings(size_t *count);
enum { INVARIANCE_SETTINGS = 14 };

typedef enum cell_state {
    CELL_NOT_RUN,
    CELL_SAME,    /* bit for bit as in the plain setting */
    CELL_DIFFERS, /* some rows do not */
    CELL_REFUSED, /* the kernel does not take it */
} cell_state;

typedef struct invariance_cell {
    cell_state state;
    uint64_t hash;    /* FNV-1a of the rows' y, in the order of the rows; 0 where it was not run */
    size_t different; /* rows */
} invariance_cell;

typedef struct invariance_result {
    unsigned tested, varies;          /* sets of axes: 1u << AXIS_... */
    case_verdict verdict;             /* ok, or why there is nothing to compare */
    size_t hidden[INVARIANCE_HIDDEN]; /* of each line of cells; 0: there is none */
    invariance_cell cells[INVARIANCE_HIDDEN][INVARIANCE_SETTINGS];
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
/* The kernel is less than it promises to be. */
bool promise_is_broken(const kernel_facts *facts, const invariance_result *found);

#endif
