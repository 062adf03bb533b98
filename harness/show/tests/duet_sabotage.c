/* The library with a planted change in every kernel, for the trials of `duet`. The file "<plugin>.plant" next to the
 * plugin names the change, so that the plugins are copies of one file:
 *
 *     slow 0.05        each call computes 5 % of its rows again
 *     last-bit         one bit of one element differs
 *     dropped-tail     the statistics miss the last element (kernels of f32)
 *     eps              eps is added to the variance instead of the std, or the reverse
 *     floor            an eps of 1e-30 is added to the variance where there should be none: visible only
 *                      on rows without any spread
 *     crash            SIGSEGV in each call
 *     late-crash       the same, from the 500th call on: in timing
 *     none             nothing (as without the file)
 * */
/* Include the library itself, with one symbol renamed. */
#define ln_plugin ln_library_plugin
#include "registry.c"
#undef ln_plugin
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

/* Rows are computed again in chunks of this size; smaller ones would cost more than their share. */
enum { CHUNK = 8 };

typedef void run_function(const void *state, const ln_tensors *tensors);

typedef enum plant { NONE, SLOW, LAST_BIT, DROPPED_TAIL, EPS, FLOOR, CRASH, LATE_CRASH } plant;

static plant planted;
static double share;
static unsigned calls;

static size_t stride_or(size_t stride, size_t hidden)
{
    return stride ? stride : hidden;
}

static size_t size_of(ln_type type)
{
    return type == LN_F64 ? 8 : type == LN_F32 ? 4 : 2;
}

/* Returns the tensors of the rows from `first` on, without mean and rstd. */
static ln_tensors rows_from(const ln_problem *problem, const ln_tensors *tensors, size_t first)
{
    ln_tensors part = *tensors;
    size_t size = size_of(problem->storage), x = stride_or(problem->x_stride, problem->hidden);
    size_t y = stride_or(problem->y_stride, problem->hidden);
    part.x = (const char *)tensors->x + x * first * size;
    part.y = (char *)tensors->y + y * first * size;
    part.mean = part.rstd = NULL;
    return part;
}

/* Computes the given fraction of the rows again, in rotation, so that they are no warmer in cache than others. */
static void run_slow(run_function *inner, const ln_problem *problem, const ln_tensors *tensors)
{
    static double due;
    static size_t next;
    inner(problem, tensors);
    if (tensors->x == tensors->y || tensors->residual)
        return; /* in place nothing can be computed again */
    ln_problem some = *problem;
    some.rows = CHUNK < problem->rows ? CHUNK : problem->rows;
    for (due += share * (double)problem->rows; due >= (double)some.rows; due -= (double)some.rows) {
        if (next + some.rows > problem->rows)
            next = 0;
        ln_tensors part = rows_from(problem, tensors, next);
        inner(&some, &part);
        next += some.rows;
    }
}

static void flip_last_bit(const ln_problem *problem, const ln_tensors *tensors)
{
    char *y = tensors->y;
    y[problem->hidden / 2 * size_of(problem->storage)] ^= 1; /* little-endian */
}

/* Applies gamma and beta to one column, if the convention has them. */
static float apply(const ln_problem *problem, const ln_tensors *tensors, size_t column, float xhat)
{
    ln_affine affine = problem->convention.affine;
    const float *gamma = tensors->gamma, *beta = tensors->beta;
    size_t at = affine == LN_AFFINE_SCALAR ? 0 : column;
    if (affine == LN_AFFINE_NONE)
        return xhat;
    return xhat * (gamma[at] + (affine == LN_AFFINE_GAMMA1 ? 1.0f : 0.0f)) + (beta ? beta[at] : 0);
}

static void drop_tail(run_function *inner, const ln_problem *problem, const ln_tensors *tensors)
{
    ln_problem one = *problem;
    size_t last = problem->hidden - 1;
    one.rows = 1;
    one.hidden = last;
    for (size_t row = 0; row < problem->rows; row++) {
        ln_tensors part = rows_from(problem, tensors, row);
        float mean, rstd, tail = ((const float *)part.x)[last];
        part.mean = &mean;
        part.rstd = &rstd;
        inner(&one, &part);
        ((float *)part.y)[last] = apply(problem, tensors, last, (tail - mean) * rstd);
    }
}

static void move_eps(run_function *inner, const ln_problem *problem, const ln_tensors *tensors)
{
    ln_problem other = *problem;
    if (problem->convention.eps_place == LN_EPS_VAR)
        other.convention.eps_place = LN_EPS_STD;
    else if (problem->convention.eps_place == LN_EPS_STD)
        other.convention.eps_place = LN_EPS_VAR;
    inner(&other, tensors);
}

static void add_floor(run_function *inner, const ln_problem *problem, const ln_tensors *tensors)
{
    ln_problem other = *problem;
    if (problem->convention.eps_place == LN_EPS_NONE) {
        other.convention.eps_place = LN_EPS_VAR;
        other.convention.eps = 1e-30;
    }
    inner(&other, tensors);
}

static void run_planted(run_function *inner, const ln_problem *problem, const ln_tensors *tensors)
{
    if (planted == SLOW) {
        run_slow(inner, problem, tensors);
    } else if (planted == DROPPED_TAIL && problem->hidden > 1 && problem->storage == LN_F32) {
        drop_tail(inner, problem, tensors);
    } else if (planted == EPS) {
        move_eps(inner, problem, tensors);
    } else if (planted == FLOOR) {
        add_floor(inner, problem, tensors);
    } else {
        inner(problem, tensors);
        if (planted == LAST_BIT)
            flip_last_bit(problem, tensors);
        if (planted == CRASH || (planted == LATE_CRASH && ++calls > 500))
            raise(SIGSEGV); /* not a write to address 0, which a sanitizer would report */
    }
}

/* run() does not know its kernel, so each has its own function. */
#define WRAP(name, ...)                                                                            \
    static void planted_##name(const void *state, const ln_tensors *tensors)                       \
    {                                                                                              \
        run_planted(ln_run_##name, state, tensors);                                                \
    }
LN_KERNEL_TABLE(WRAP, WRAP)

#define WRAPPED(name, ...) planted_##name,
static run_function *const wrapped[] = {LN_KERNEL_TABLE(WRAPPED, WRAPPED)};

/* Reads the plant. Returns false if it is not known. */
static bool read_plant(void)
{
    static const char *const words[] = {"none",  "slow",  "last-bit",   "dropped-tail", "eps",
                                        "floor", "crash", "late-crash", "renamed"};
    char path[1024], word[32];
    Dl_info info;
    if (!dladdr((const void *)wrapped, &info))
        return false;
    snprintf(path, sizeof path, "%s.plant", info.dli_fname);
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    int got = fscanf(file, "%31s %lf", word, &share);
    fclose(file);
    for (int i = 0; got >= 1 && i < (int)(sizeof words / sizeof *words); i++) {
        if (strcmp(word, words[i]) != 0)
            continue;
        planted = (plant)i;
        return planted == SLOW ? got == 2 && share > 0 && share < 1 : got == 1;
    }
    return false;
}

LN_API const ln_plugin_table *ln_plugin(void)
{
    static ln_kernel table[KERNEL_LINES];
    static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                           .struct_size = sizeof(ln_plugin_table),
                                           .kernel_size = sizeof(ln_kernel),
                                           .name = "duet-sabotage",
                                           .count = KERNEL_LINES,
                                           .kernels = table};
    if (!read_plant())
        return NULL;
    for (size_t i = 0; i < KERNEL_LINES; i++) {
        table[i] = kernels[i];
        table[i].run = wrapped[i];
    }
    return &plugin;
}
