/* The part of the plugin that is linked with libxsmm; xsmm_plugin.c describes the kernels. */
#include "late.h"
#include "peer.h"

#include <libxsmm.h>
#include <math.h>
#include <stdlib.h>

/* Long rows are first summed as matrices of COLUMNS columns, as in libxsmm's sample, which is faster. */
enum { COLUMNS = 64, LONG = 512 };

typedef struct prepared {
    const ln_problem *problem;
    libxsmm_meltwfunction_unary
        add_columns;                 /* computes sums and sums of squares; NULL: short rows */
    libxsmm_meltwfunction_unary add; /* computes one sum, or both of a short row */
    libxsmm_meqn_function apply;
} prepared;

static libxsmm_meltwfunction_unary generate_sum(libxsmm_meltw_unary_type type, int columns,
                                                int rows, libxsmm_bitfield over)
{
    return libxsmm_dispatch_meltw_unary(
        type,
        libxsmm_create_meltw_unary_shape(columns, rows, columns, columns, LIBXSMM_DATATYPE_F32,
                                         LIBXSMM_DATATYPE_F32, LIBXSMM_DATATYPE_F32),
        over);
}

static void add_argument(libxsmm_blasint equation, int position, int size)
{
    libxsmm_meqn_push_back_arg(
        libxsmm_create_meqn_arg_metadata(equation, position),
        libxsmm_create_meqn_arg_shape(size, 1, size, LIBXSMM_DATATYPE_F32),
        libxsmm_create_matrix_arg_attributes(LIBXSMM_MATRIX_ARG_TYPE_SINGULAR,
                                             LIBXSMM_MATRIX_ARG_SET_TYPE_NONE, 0, 0));
}

/* Generates the equation from its operations, the outermost first, and then the arguments in their order. */
static libxsmm_meqn_function generate_equation(const ln_problem *problem)
{
    libxsmm_blasint equation = libxsmm_meqn_create();
    int hidden = (int)problem->hidden;
    if (equation < 0)
        return NULL;
    libxsmm_meqn_op_metadata operation = libxsmm_create_meqn_op_metadata(equation, -1);
    if (peer_has_beta(problem))
        libxsmm_meqn_push_back_ternary_op(operation, LIBXSMM_MELTW_TYPE_TERNARY_MULADD,
                                          LIBXSMM_DATATYPE_F32,
                                          LIBXSMM_MELTW_FLAG_TERNARY_REUSE_IN_2_AS_OUT);
    else if (peer_has_gamma(problem))
        libxsmm_meqn_push_back_binary_op(operation, LIBXSMM_MELTW_TYPE_BINARY_MUL,
                                         LIBXSMM_DATATYPE_F32, LIBXSMM_MELTW_FLAG_BINARY_NONE);
    libxsmm_meqn_push_back_ternary_op(operation, LIBXSMM_MELTW_TYPE_TERNARY_MULADD,
                                      LIBXSMM_DATATYPE_F32,
                                      LIBXSMM_MELTW_FLAG_TERNARY_BCAST_SCALAR_IN_1 |
                                          LIBXSMM_MELTW_FLAG_TERNARY_BCAST_SCALAR_IN_2 |
                                          LIBXSMM_MELTW_FLAG_TERNARY_REUSE_IN_2_AS_OUT);
    add_argument(equation, 0, hidden);
    add_argument(equation, 1, 1);
    add_argument(equation, 2, 1);
    if (peer_has_gamma(problem))
        add_argument(equation, 3, hidden);
    if (peer_has_beta(problem))
        add_argument(equation, 4, hidden);
    return libxsmm_dispatch_meqn(
        equation, libxsmm_create_meqn_arg_shape(hidden, 1, hidden, LIBXSMM_DATATYPE_F32));
}

/* Returns an equation from libxsmm's registry, or generates it. libxsmm caches the sums that it has generated, but not
 * equations, of which it can make only 4096. */
static libxsmm_meqn_function find_equation(const ln_problem *problem)
{
    const size_t key[] = {problem->hidden, problem->convention.affine};
    const libxsmm_meqn_function *known = libxsmm_xdispatch(key, sizeof key);
    if (known)
        return *known;
    libxsmm_meqn_function made = generate_equation(problem);
    if (made)
        libxsmm_xregister(key, sizeof key, sizeof made, &made);
    return made;
}

static int prepare_layernorm(const ln_problem *problem, void **state)
{
    prepared *ready = malloc(sizeof *ready);
    if (!ready)
        return 1;
    int hidden = (int)problem->hidden;
    int is_long = hidden > LONG && hidden % COLUMNS == 0;
    *ready = (prepared){.problem = problem, .apply = find_equation(problem)};
    if (is_long)
        ready->add_columns = generate_sum(LIBXSMM_MELTW_TYPE_UNARY_REDUCE_X_X2_OP_ADD, COLUMNS,
                                          hidden / COLUMNS, LIBXSMM_MELTW_FLAG_UNARY_REDUCE_COLS);
    ready->add = generate_sum(is_long ? LIBXSMM_MELTW_TYPE_UNARY_REDUCE_X_OP_ADD
                                      : LIBXSMM_MELTW_TYPE_UNARY_REDUCE_X_X2_OP_ADD,
                              is_long ? COLUMNS : hidden, 1, LIBXSMM_MELTW_FLAG_UNARY_REDUCE_ROWS);
    if (ready->apply && ready->add && (ready->add_columns || !is_long)) {
        *state = ready;
        return 0;
    }
    free(ready);
    return 1;
}

/* The code that libxsmm generates leaves the upper halves of vector registers in use, which slows down SSE code
 * after it. The time of the layer normalization should not include that. */
static void leave_vectors(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroupper" ::: "memory");
#endif
}

/* libxsmm's pointers are not const, but it writes only to `to`. */
static void reduce(libxsmm_meltwfunction_unary how, const float *from, float *to)
{
    libxsmm_meltw_unary_param tensors = {.in.primary = (void *)(uintptr_t)from, .out.primary = to};
    how(&tensors);
    leave_vectors();
}

static void find_sums(const prepared *ready, const float *x, float sums[2])
{
    _Alignas(64) float partial[2][COLUMNS];
    if (!ready->add_columns) {
        reduce(ready->add, x, sums);
        return;
    }
    reduce(ready->add_columns, x, partial[0]);
    reduce(ready->add, partial[0], &sums[0]);
    reduce(ready->add, partial[1], &sums[1]);
}

static void run(const void *state, const ln_tensors *tensors)
{
    const prepared *ready = state;
    const ln_problem *problem = ready->problem;
    size_t x_stride = peer_stride(problem->x_stride, problem->hidden);
    size_t y_stride = peer_stride(problem->y_stride, problem->hidden);
    float share = 1 / (float)problem->hidden;
    for (size_t row = 0; row < problem->rows; row++) {
        const float *x = (const float *)tensors->x + row * x_stride;
        float sums[2];
        find_sums(ready, x, sums);
        float mean = sums[0] * share, var = sums[1] * share - mean * mean;
        float rstd = 1 / sqrtf((var < 0 ? 0 : var) + (float)problem->convention.eps);
        float shift = -mean * rstd;
        const libxsmm_matrix_arg arguments[] = {
            {.primary = (void *)(uintptr_t)x},
            {.primary = &rstd},
            {.primary = &shift},
            {.primary = (void *)(uintptr_t)tensors->gamma},
            {.primary = (void *)(uintptr_t)tensors->beta},
        };
        const libxsmm_meqn_param equation = {
            .inputs = arguments,
            .output.primary = (float *)tensors->y + row * y_stride,
        };
        ready->apply(&equation);
        leave_vectors();
        if (tensors->mean)
            ((float *)tensors->mean)[row] = mean;
        if (tensors->rstd)
            ((float *)tensors->rstd)[row] = rstd;
    }
}

const late_peer *late_peer_v1(void)
{
    static const late_peer peer = {.prepare = prepare_layernorm, .release = free, .run_call = run};
    return &peer;
}
