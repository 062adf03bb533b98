/* An operation: its tensors by role, its conventions, and properties. Code that allocates, guards, fills or passes
 * tensors loops over the roles and names none of them.
 *
 *     const operation *what = operations[order->operation];
 *     for (size_t role = 0; role < what->count; role++) {
 *         role_extent extent = role_extent_of(&what->roles[role], &problem, accumulator);
 *         void *data = malloc(extent_bytes(&extent));
 *         role_set(role, &tensors, data); // tensors.x = data, ...
 *     }
 *
 * A new operation is a value in layernorm.h, a file in this folder and a line of operations.def. Nothing here
 * owns memory. */
#ifndef LNBENCH_OPERATION_H
#define LNBENCH_OPERATION_H

#include "base/arena.h"
#include "domain/case.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    ROLES_MOST = 8,
    NEIGHBOURS_MOST = 8,
};

/* The roles of tensors, in the order of ln_tensors; an operation has some of them. */
enum {
    ROLE_X,
    ROLE_RESIDUAL,
    ROLE_GAMMA,
    ROLE_BETA,
    ROLE_Y,
    ROLE_SUM,
    ROLE_MEAN,
    ROLE_RSTD,
    LAYERNORM_ROLES
};

/* Sets of roles are bits. */
#define ROLE_BIT(role) (1u << (role))
#define OPERATION_BIT(kind) (1u << (kind))

typedef enum role_shape {
    SHAPE_NONE,      /* the operation has no such tensor */
    SHAPE_TABLE,     /* rows x hidden, with a stride from row to row */
    SHAPE_ROWS,      /* one number for each row */
    SHAPE_HIDDEN,    /* one number for each column */
    SHAPE_PARAMETER, /* one number for each column, or a single one, by the affine form */
} role_shape;

typedef enum role_type {
    TYPE_STORAGE,
    TYPE_PARAMETER,
    TYPE_ACCUMULATOR, /* of an input, for which no kernel is known: f64 with f64 rows, else f32 */
} role_type;

typedef struct tensor_role {
    const char *name;
    role_shape shape;
    role_type type;
    bool output;
    bool optional; /* a call may leave it out under any convention */
    /* Whether a call under a convention has it; NULL: always. */
    bool (*needed)(const ln_convention *convention);
    unsigned with; /* bits of the inputs without which a call does not have it */
    unsigned over; /* bit of the input whose memory it takes in place; 0: none */
    size_t stride; /* for a table: offset of its stride in ln_problem */
} tensor_role;

/* A member of ln_convention that the operation has. Its value is a level, the index of a word. */
typedef struct convention_field {
    const char *name;         /* in lists, NAME=WORD */
    const char *const *words; /* of its levels */
    size_t levels;
    size_t place;                   /* of the member, an int or an enum, in ln_convention */
    bool eps;                       /* the place of eps: NAME=EPS@WORD; level 0: no eps, NAME=0 */
    const char *expected;           /* the error for another word; NULL: "must be", and the words */
    const unsigned char *taken_for; /* by level: for which it is easily taken; NULL: for none */
} convention_field;

typedef struct convention_preset {
    const char *name;
    ln_convention convention;
    const char *origin; /* who uses it, in a few words */
} convention_preset;

typedef struct operation {
    const char *name;
    const char *title; /* in headings */
    const tensor_role *roles;
    size_t count;                   /* of roles */
    size_t result;                  /* the output that is judged element by element */
    const convention_field *fields; /* in the order of a list */
    size_t field_count;
    const convention_preset *presets;
    size_t preset_count;
    double eps_f64; /* of the first preset, where rows are f64; 0: the same */
    /* The affine form that is equal to the form of its parameters (perhaps without beta); NULL: the convention's. */
    ln_affine (*form)(const ln_convention *convention);
} operation;

/* By ln_operation. */
extern const operation *const operations[]; /* ends with NULL */
extern const size_t operation_count;

/* The number of conventions that the levels of the fields can form; the convention with a number (the first field
 * varies fastest; without eps); the level of a field; the equivalent affine form; and whether two are equal, with
 * their eps. */
size_t convention_count(const operation *what);
ln_convention convention_numbered(const operation *what, uint64_t number);
size_t convention_level(const convention_field *field, const ln_convention *convention);
void convention_set_level(const convention_field *field, size_t level, ln_convention *convention);
ln_affine convention_form(const ln_convention *convention);
bool convention_equal(const ln_convention *a, const ln_convention *b);
/* Fills others[] with conventions that are easily mistaken for `own`, and returns how many. */
size_t convention_neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST]);

/* Whether 1 + g is rounded to g's type; and whether the root or xhat is rounded to the storage type. */
static inline bool convention_rounds_factor(const ln_convention *convention)
{
    return convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED;
}

static inline bool convention_rounds_between(const ln_convention *convention)
{
    return convention->root || convention->cast;
}

/* The bytes of x and y, which every call reads and writes, and which figures in GB/s count. */
double call_bytes(const operation *what, size_t rows, size_t hidden, ln_type dtype);

const char *operation_name(ln_operation kind);
bool operation_from_name(const char *name, ln_operation *kind);
/* Bits of ln_operation for a name or "all"; NULL is the first operation. Another name ends the program (2). */
unsigned operations_parse(const char *name);

/* The memory of a tensor: `rows` runs of row_bytes, at distances of stride_bytes. A parameter is one
 * such run. */
typedef struct role_extent {
    size_t rows, row_bytes, stride_bytes;
    size_t element; /* bytes */
} role_extent;

role_extent role_extent_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator);

/* Bytes from the first element to the end of the last. */
static inline size_t extent_bytes(const role_extent *extent)
{
    return extent->rows ? (extent->rows - 1) * extent->stride_bytes + extent->row_bytes : 0;
}

/* Whether a call under the convention needs the tensor. */
bool role_is_needed(const tensor_role *role, const ln_convention *convention);

static inline bool operation_has(const operation *what, size_t role)
{
    return what->roles[role].shape != SHAPE_NONE;
}

/* The role whose memory an in-place output takes: that of an input, or its own. */
static inline size_t role_in_place(const operation *what, size_t role)
{
    return what->roles[role].over ? (size_t)__builtin_ctz(what->roles[role].over) : role;
}

/* The elements of one row of the tensor; for a parameter, all its elements. */
static inline size_t role_columns(const tensor_role *role, const ln_convention *convention,
                                  size_t hidden)
{
    return role->shape == SHAPE_NONE        ? 0
           : role->shape == SHAPE_ROWS      ? 1
           : role->shape == SHAPE_PARAMETER ? ln_parameter_elements(convention->affine, hidden)
                                            : hidden;
}

/* Whether it is an output with one number for each row. */
static inline bool role_is_statistic(const tensor_role *role)
{
    return role->output && role->shape == SHAPE_ROWS;
}

/* Whether it is an output table besides the result: the sum with a residual. */
static inline bool role_is_sum(const operation *what, size_t role)
{
    const tensor_role *own = &what->roles[role];
    return own->output && own->shape == SHAPE_TABLE && role != what->result;
}

/* Whether the number of its elements does not depend on the rows. */
static inline bool role_is_parameter(const tensor_role *role)
{
    return role->shape == SHAPE_HIDDEN || role->shape == SHAPE_PARAMETER;
}

/* Whether a stored row, which is kept to be run again, has it: an input that no call can leave out. */
static inline bool role_is_kept(const tensor_role *role)
{
    return !role->output && !role->optional && role->shape != SHAPE_NONE;
}

/* Access by role to the tensors of a call (pointers in the order of the roles), and to the stride of a table
 * in a problem. */
static inline void *role_get(size_t role, const void *tensors)
{
    return ((void *const *)tensors)[role];
}

static inline void role_set(size_t role, void *tensors, const void *data)
{
    ((const void **)tensors)[role] = data;
}

static inline size_t *role_stride(const tensor_role *role, ln_problem *given)
{
    return (size_t *)((char *)given + role->stride);
}

/* The inputs of a call, from which blocks are made. */
typedef struct operation_call {
    ln_operation operation;
    ln_problem problem;
    void *inputs[ROLES_MOST]; /* by role; NULL: not there */
} operation_call;

/* A call with dense rows and no inputs yet. */
operation_call call_dense(const ln_convention *convention, ln_type storage, ln_type param,
                          size_t rows, size_t hidden);
/* Allocates every input, whether its convention needs it or not; with `optional` also the optional
 * ones. */
void call_allocate(arena *memory, operation_call *call, bool optional);
/* Removes the inputs that its convention does not need. */
void call_drop_unneeded(operation_call *call);

/* A problem with dense rows. */
ln_problem problem_dense(const ln_convention *convention, ln_type storage, ln_type param,
                         size_t rows, size_t hidden);
/* Sets the stride of every table. */
void problem_set_strides(ln_problem *problem, size_t stride);

/* Conventions as text: presets and lists such as "ddof=1,eps=1e-6@std,affine=vector", by the fields and
 * presets of their operation (operation.h). */

const convention_preset *convention_presets(ln_operation kind, size_t *count);

/* Reads a preset's name or a list. Keys that a list leaves out have their first level: ddof=0, eps=0,
 * affine=none. A list for another operation than the first begins with "operation=NAME". Errors (usage) name
 * the wrong part, the allowed values and the nearest preset. */
bool convention_parse(const char *given, ln_convention *convention, error *err);
/* The same for a user's words; an error ends the program (2). */
ln_convention convention_named(const char *given);
/* The same for rows of this type: torch-rms takes the epsilon of the type, as PyTorch does for eps=None. Stored
 * conventions have their eps and are read without a type. */
ln_convention convention_for(const char *given, ln_type storage);

/* The canonical list: "ddof=0,eps=1e-05@var,affine=vector" with the shortest decimals, or
 * "operation=rmsnorm,eps=1e-05@square,weight=w" without keys at their first level; parse reads it back. */
const char *convention_format(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

/* The name of an equal preset, else the canonical list. This is what is stored and printed. */
const char *convention_label(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

/* The contents of an output before a call, by which elements that were not written are found: one kind of NaN in y
 * and the sum, another in mean and rstd. A third kind is in the gaps between the rows of an input. */

enum { POISON = 0xff };

/* Byte `at` of a poisoned mean or rstd; the last two bytes identify it. */
static inline unsigned char statistic_poison(size_t at, size_t size)
{
    return at + 1 == size ? 0xff : at + 2 == size ? 0xfd : 0xda;
}

static inline void poison_statistics(void *data, size_t bytes, size_t size)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)data)[i] = statistic_poison(i % size, size);
}

static inline bool is_statistic_poison(const void *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)value)[i] != statistic_poison(i, size))
            return false;
    return true;
}

/* Whether a value is that NaN after a conversion, which keeps the first bits of a NaN. */
static inline bool is_from_statistic_poison(const void *value, size_t size)
{
    const unsigned char *byte = value;
    return byte[size - 1] == 0xff && (byte[size - 2] | 3) == 0xff && byte[size - 2] != 0xff;
}

/* Fills the gaps between an input's rows with a NaN that keeps its bits in sums and products. */
static inline void poison_gap(void *data, size_t bytes, size_t size)
{
    unsigned char *byte = data;
    memset(byte, 0x5a, bytes);
    for (size_t end = size; end <= bytes; end += size) {
        byte[end - 2] = 0xfb;
        byte[end - 1] = 0x7f;
    }
}

/* Whether a value comes from such a gap, whatever its sign. */
static inline bool is_from_gap(const void *value, size_t size)
{
    unsigned char gap[sizeof(double)];
    poison_gap(gap, size, size);
    return memcmp(value, gap, size - 1) == 0 &&
           (((const unsigned char *)value)[size - 1] & 0x7f) == gap[size - 1];
}

/* The shapes and conventions of LayerNorm and RMSNorm in well-known models.
 *
 *     const model_shape *model = model_find("gpt2-xl");   // hidden 1600, 1024 tokens, torch
 */

enum { MODEL_PROMPT = 512 }; /* tokens of a prompt */

typedef struct model_shape {
    const char *name;       /* "gpt2-xl" */
    const char *title;      /* "GPT-2 1.5B (XL)" */
    size_t hidden;          /* elements of one normalised row */
    size_t tokens;          /* rows of one full sequence (context, frames or patches) */
    const char *convention; /* a preset's name, or a list */
    const char *source;     /* where hidden, tokens and eps are printed */
} model_shape;

const model_shape *models(size_t *count);

/* Finds a model by its name in the table, by the id of such a model on Hugging Face ("openai-community/gpt2"), or
 * reads a config.json of Hugging Face (the file or its folder; valid until the next call). Case is ignored. Otherwise
 * the program ends (2) with the nearest name, or with what the file lacks. */
const model_shape *model_find(const char *name);
/* The type in the config.json that was found last; NULL: not known. */
const char *model_dtype(void);

#endif
