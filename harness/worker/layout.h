/* How one judged call is made: where each tensor lies, which outputs are wanted, and which other calls are made
 * beside it. The worker follows the layout of its order and chooses nothing.
 *
 *     work_order order = worker_order(ORDER_JUDGE, kernel);
 *     order.layout = layout_named(LAYOUT_BEFORE, operations[LN_OPERATION_LAYERNORM], hidden);
 */
#ifndef LNBENCH_LAYOUT_H
#define LNBENCH_LAYOUT_H

#include "layernorm.h"
#include "domain/operation.h"

/* Where a tensor lies between two inaccessible pages. */
typedef enum guard_place {
    GUARD_BEHIND, /* the last byte touches the inaccessible page behind */
    GUARD_BEFORE, /* the first byte touches the inaccessible page before */
    GUARD_TIMED,  /* as in timing: `offset` bytes into the first page */
    GUARD_AMID,   /* likewise of the second page, and a page that can be accessed lies behind */
} guard_place;

/* Distance of a timed buffer's start from its page: x and y lie 2048 bytes apart modulo 4096, since
 * a distance near 0 makes loads wait for stores of the same low address bits. */
enum { GUARD_TIMED_READ_OFFSET = 0, GUARD_TIMED_WRITE_OFFSET = 2048 };

typedef struct tensor_layout {
    size_t lies_in; /* the role in whose memory it lies: its own, or that of an input */
    guard_place place;
    size_t offset; /* GUARD_TIMED, GUARD_AMID: bytes into the page */
    size_t gap;    /* of a table: elements from the end of a row to the next row */
} tensor_layout;

/* The calls of an order. The bits that come out of the last one must be those of the first. */
typedef enum call_order {
    CALLS_ONCE,
    CALLS_REPEATED, /* first on other contents in the same places, then twice on those of the order */
    CALLS_HALVES, /* the first half of the rows, then the second in the same buffers, then twice more
                       the first */
    CALLS_IN_TURN, /* with those of a problem of another shape, prepared before this one */
    CALLS_PREPARED, /* while a problem of another convention is prepared too, later than this one, and
                       called, and after it was released */
    CALL_ORDERS
} call_order;

enum { AT_ONCE_MOST = 5 };

typedef struct call_layout {
    tensor_layout tensors[ROLES_MOST]; /* by role */
    unsigned
        outputs; /* wanted ones beside the result, a bit for each role; the call has no others */
    unsigned at_once; /* threads that call, each in buffers of its own: 1 to AT_ONCE_MOST */
    call_order calls;
} call_layout;

/* Layouts beside those of the covering array. */
typedef enum layout_name {
    LAYOUT_TIMED,    /* dense, at the distance that timing has */
    LAYOUT_BEHIND,   /* each tensor flush with the page behind it; statistics and no sum */
    LAYOUT_BEFORE,   /* flush with the page before, rows strided, all outputs */
    LAYOUT_IN_PLACE, /* y is x, the sum takes the residual's place; strided where hidden is odd */
    LAYOUT_NAMES
} layout_name;

call_layout layout_named(layout_name name, const operation *what, size_t hidden);

/* Strides of the problem's tables, which are dense in the arena. */
void layout_strides(const call_layout *layout, const operation *what, ln_problem *problem);

/* ---- tensors beyond 2^31 elements ----
 *
 * No machine holds such a tensor. x is one block of rows, mapped again and again, and so is y; but
 * y has pages of its own where a row is looked at: the first and the last ones, those about row
 * 2^16 and 2^23 and about element 2^31 and 2^32, and some drawn from the seed. */

enum {
    /* Rows of the block: whole pages of any type, and no power of two, so that a row whose number
     * lost its upper bits is another one. */
    LARGE_PERIOD = 6144,
    /* The row of the block with which the residual begins: whole pages too. */
    LARGE_RESIDUAL_ROW = 2048,
    LARGE_ROWS = 48, /* at most */
};

/* The rows that are looked at, in rising order; how many. The stride is a multiple of hidden. */
size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS]);

/* The row of the block that lies at row `row`. */
static inline size_t large_row_of_block(const ln_problem *of, size_t row)
{
    return row * (of->x_stride / of->hidden) % LARGE_PERIOD;
}

#endif
