/* Input families: rows made from (family, seed, row, column) alone, the same bits on every machine.
 *     input_rows("offset:1e4", LN_F32, seed, 0, 512, 768, x);   // 512 rows of 768 elements
 */
#ifndef LNBENCH_INPUTS_H
#define LNBENCH_INPUTS_H

#include "domain/operation.h"

/* Families that must not share their numbers draw from streams of their own. */
typedef enum input_stream {
    STREAM_NORMAL,
    STREAM_UNIFORM,
    STREAM_OFFSET,
    STREAM_SPIKE,
    STREAM_OUTLIER,
    STREAM_OUTLIER_CHANNEL,
    STREAM_ALTERNATING,
    STREAM_HUGE,
    STREAM_SUBNORMAL,
    STREAM_SPECIAL,
    STREAM_GAMMA,
    STREAM_BETA,
    STREAM_SHAPE,
    STREAM_CHOICE,
    STREAM_SCALE,
    STREAM_CANCEL,
    STREAM_WIDE
} input_stream;

/* An element of a row that is made from those streams (inputs.c). */
struct made_element;

/* Fills the parameters, which have room for hidden elements, by role. */
typedef void parameter_maker(const ln_convention *convention, uint64_t seed, size_t hidden,
                             float *const made[ROLES_MOST]);

typedef struct input_family {
    const char *name;     /* "normal", "offset", ... */
    const char *purpose;  /* why it hurts, one line */
    const char *evidence; /* where it is met: an issue ("pytorch#51102"), a paper */
    bool everywhere;  /* the default plan judges it under every convention, not the first only */
    bool without_eps; /* and, at every size, under the first one without its eps */
    bool extreme; /* its values lie at the ends of the type's range (squares overflow or underflow),
                     or are none: what an answer tells apart from rows that a layer meets */
    /* Makes one element, and then may change the row; NULL: offset rows. The streams that it draws from. */
    double (*element)(struct made_element *at);
    void (*finish)(struct made_element *at, float *x);
    input_stream stream, other;
    parameter_maker *parameters; /* NULL: input_affine() */
    size_t needs;                /* the role without which it is none */
} input_family;

/* All families, in the order of the plans: `lnbench list inputs` and docs/inputs.md tell what they
 * are. "offset" also takes a kappa: "offset:1e4" (plain "offset" is a sweep in which row r has
 * kappa 1, 10, ... 1e8 in turn). */
const input_family *input_families(size_t *count);

/* Whether the operation has what the family is about. */
bool input_suits(const input_family *family, ln_operation kind);

/* Whether its input is of an extreme family, or its convention adds no eps under the root, so that a
 * constant row is 0/0. */
bool case_is_extreme(const case_key *key);

/* That such an input exists: a family, "offset:KAPPA", "worst" or "worst:PATH" (see worst.h), a
 * file of tensors (neither opened here), or several families, "normal+offset:4+outlier-channels", whose rows
 * come in turn. If not, the program ends (base/die.h) with the nearest name. */
void input_check(const char *input);
/* That it exists in this type, too. */
void input_check_type(const char *input, ln_type type);

/* Fills count rows, beginning with row `first`, of hidden elements each (dense). Element (r, c)
 * depends only on input, type, seed, hidden, r and c; every family is in the type's own range and
 * precision, by integer arithmetic and one rounding to nearest even (inputs.c tells how; "offset"
 * sweeps kappa from 1 to 1e8 in f32, 1e3 in bf16, 1e4 in f16, 1e16 in f64). A file gives its
 * rows in turn, over again when they run out, and must have this hidden; it is read anew at each
 * call. One of the type is taken bit for bit (u2 for bf16 and f16), another is rounded. Documents'
 * tensors are tiled to hidden the same way. Of several families row r is row r of the
 * (r mod number)-th. */
void input_rows(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                size_t hidden, void *x);

/* Whether an input is a file of tensors (inputs/tensor.h); and how many rows it has, of which
 * size; the whole file is read, so that a bad one is found. */
bool input_is_file(const char *input);
void input_file_shape(const char *path, size_t *rows, size_t *hidden);
/* Its rows in a type. */
void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x);
/* Length of the path before :NAME, or of all of it, where it is that of an archive of tensors; else 0. */
size_t input_archive_length(const char *path);

/* Fills the parameters of a call that go with an input, those that it has room for: ordinary ones, but
 * where a family hurts by its own, such as affine-cancellation; rounded to nearest even after they were
 * brought into the type's range by a power of two where they lie beyond. */
void input_parameters(const char *input, const operation_call *call, uint64_t seed);

/* Fills all of a dense call: its tables with the rows of the input from `first` on, those behind in the
 * next table, the one that may be left out from another input (NULL: none); and the parameters. */
void input_call(const char *input, const char *residual, const operation_call *call, uint64_t seed,
                size_t first);

/* ---- parts of it, for tests ---- */

/* The standard normal quantile of (bits + 1/2) / 2^32, to about 7 digits. Symmetric: the complement of the bits gives
 * the negative. |value| < 6.34. */
double normal_from_bits(uint32_t bits);

/* Parameters that every input has: never all equal; one element each under LN_AFFINE_SCALAR. What a form does not
 * have is not written. */
parameter_maker input_affine;
/* In f32, from which the other types are made. */
void input_parameters_f32(const char *input, const ln_convention *convention, uint64_t seed,
                          size_t hidden, float *const made[ROLES_MOST]);

/* The rows of the family kappa: from 1 to the most that type and hidden can have, in equal ratios; and the last
 * kappa of the type's sweep. */
enum { KAPPA_ROWS = 18 };
double offset_kappa_most(ln_type type);

#endif
