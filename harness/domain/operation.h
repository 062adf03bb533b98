/* An operation: its tensors by role, its conventions, and properties. Code that allocates, guards, fills or passes
 * tensors loops over the roles and names none of them.
 *
 *     const operation *what = operations[message->operation];
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
    TYPE_ACCUMULATOR, /* for an input, whose kernel is not known: f64 with f64 rows, else f32 */
} role_type;

typedef struct tensor_role {
    const char *name;
    role_shape shape;
    role_type type;
    bool output;
    bool optional; /* a call may leave it out under any convention */
    /* Returns true if a call under the convention has this tensor; NULL: every call has it. */
    bool (*needed)(const ln_convention *convention);
    unsigned with; /* bits of the inputs that a call must have, to have this tensor too */
    unsigned over; /* bit of the input whose memory this output uses in an in-place call; 0: none */
    size_t stride; /* for a table: offset of its stride in ln_problem */
} tensor_role;

/* A member of ln_convention that the operation has. Its value is a level, the index of a word. */
typedef struct convention_field {
    const char *name;         /* in lists, NAME=WORD */
    const char *const *words; /* the names of its levels */
    size_t levels;
    size_t place;         /* offset of the member, an int or an enum, in ln_convention */
    bool eps;             /* the place of eps: NAME=EPS@WORD; level 0: no eps, NAME=0 */
    const char *expected; /* the error for another word; NULL: "must be" and the words */
    const unsigned char *
        taken_for; /* for each level, the one that it is easily mistaken for; NULL: there is none */
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
    const convention_field *fields; /* in the order in which a list names them */
    size_t field_count;
    const convention_preset *presets;
    size_t preset_count;
    double eps_f64; /* eps of the first preset for f64 rows; 0: the same as for other types */
    /* Returns the affine form of LayerNorm that its parameters correspond to; NULL: the convention's `affine`. */
    ln_affine (*form)(const ln_convention *convention);
} operation;

/* Indexed by ln_operation. */
extern const operation *const operations[]; /* ends with NULL */
extern const size_t operation_count;

/* Returns the number of combinations of the fields' levels. */
size_t convention_count(const operation *what);
/* Returns the convention with an index below that count, with eps 0. The first field varies fastest. */
ln_convention convention_numbered(const operation *what, uint64_t number);
size_t convention_level(const convention_field *field, const ln_convention *convention);
void convention_set_level(const convention_field *field, size_t level, ln_convention *convention);
ln_affine convention_form(const ln_convention *convention); /* see operation.form */
bool convention_equal(const ln_convention *a, const ln_convention *b);
/* Fills others[] with conventions that are easily mistaken for `own`, and returns their number. */
size_t convention_neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST]);

/* Return true if 1 + g is rounded to g's type, and if the root or xhat is rounded to the storage type. */
static inline bool convention_rounds_factor(const ln_convention *convention)
{
    return convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED;
}

static inline bool convention_rounds_between(const ln_convention *convention)
{
    return convention->root || convention->cast;
}

/* Returns the bytes of x and y, which every call reads and writes. Figures in GB/s count these bytes only. */
double call_bytes(const operation *what, size_t rows, size_t hidden, ln_type dtype);

const char *operation_name(ln_operation kind);
bool operation_from_name(const char *name, ln_operation *kind);
/* Returns the bit (OPERATION_BIT) of the named operation, or the bits of all for "all"; NULL means the first
 * operation. Another name ends the program (2). */
unsigned operations_parse(const char *name);

/* The memory of a tensor: `rows` rows of row_bytes each, which begin stride_bytes apart. A parameter is one row. */
typedef struct role_extent {
    size_t rows, row_bytes, stride_bytes;
    size_t element; /* bytes */
} role_extent;

role_extent role_extent_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator);

/* Returns the bytes from the start of the first element to the end of the last one. */
static inline size_t extent_bytes(const role_extent *extent)
{
    return extent->rows ? (extent->rows - 1) * extent->stride_bytes + extent->row_bytes : 0;
}

/* Returns true if a call under the convention needs the tensor. */
bool role_is_needed(const tensor_role *role, const ln_convention *convention);

static inline bool operation_has(const operation *what, size_t role)
{
    return what->roles[role].shape != SHAPE_NONE;
}

/* Returns the role whose memory this role uses in an in-place call: an input's, or its own. */
static inline size_t role_in_place(const operation *what, size_t role)
{
    return what->roles[role].over ? (size_t)__builtin_ctz(what->roles[role].over) : role;
}

/* Returns the number of elements in one row of the tensor; for a parameter, of all its elements. */
static inline size_t role_columns(const tensor_role *role, const ln_convention *convention,
                                  size_t hidden)
{
    return role->shape == SHAPE_NONE        ? 0
           : role->shape == SHAPE_ROWS      ? 1
           : role->shape == SHAPE_PARAMETER ? ln_parameter_elements(convention->affine, hidden)
                                            : hidden;
}

/* Returns true for an output with one number for each row: mean and rstd. */
static inline bool role_is_statistic(const tensor_role *role)
{
    return role->output && role->shape == SHAPE_ROWS;
}

/* Returns true for an output table that is not the result: x + residual. */
static inline bool role_is_sum(const operation *what, size_t role)
{
    const tensor_role *own = &what->roles[role];
    return own->output && own->shape == SHAPE_TABLE && role != what->result;
}

/* Returns true if the tensor has the same number of elements for any number of rows. */
static inline bool role_is_parameter(const tensor_role *role)
{
    return role->shape == SHAPE_HIDDEN || role->shape == SHAPE_PARAMETER;
}

/* Returns true for an input that no call can leave out; rows that are stored to be run again have these inputs. */
static inline bool role_is_kept(const tensor_role *role)
{
    return !role->output && !role->optional && role->shape != SHAPE_NONE;
}

/* Get and set a call's tensor by its role (`tensors` has a pointer for each role, in their order), and find the stride
 * of a table in a problem. */
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

/* A problem with its inputs; the blocks of rows that the judge checks are made from it. */
typedef struct operation_call {
    ln_operation operation;
    ln_problem problem;
    void *inputs[ROLES_MOST]; /* indexed by role; NULL: the call does not have it */
} operation_call;

/* Returns a call with dense rows and without inputs. */
operation_call call_dense(const ln_convention *convention, ln_type storage, ln_type param,
                          size_t rows, size_t hidden);
/* Allocates every input in `memory`, even if its convention does not need it; the optional ones only if `optional`. */
void call_allocate(arena *memory, operation_call *call, bool optional);
/* Removes the inputs that its convention does not need. */
void call_drop_unneeded(operation_call *call);

/* Returns a problem with dense rows. */
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
/* Does the same for a word that a user typed; an error ends the program (2). */
ln_convention convention_named(const char *given);
/* Does the same for rows of this type: torch-rms uses the epsilon of the type, as PyTorch does for eps=None. Stored
 * conventions name their eps, so they are read without a type. */
ln_convention convention_for(const char *given, ln_type storage);

/* Writes the canonical list into `buffer` and returns it: "ddof=0,eps=1e-05@var,affine=vector" with the shortest
 * decimals, or "operation=rmsnorm,eps=1e-05@square,weight=w" without keys at their first level. convention_parse()
 * reads it back. */
const char *convention_format(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

/* Returns the name of an equal preset, or else the canonical list. Conventions are stored and printed so. */
const char *convention_label(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

/* Poison: NaNs that outputs hold before a call, so that elements that a kernel did not write are found. y and the sum
 * hold one kind of NaN (bytes of POISON), mean and rstd another, and the gaps between an input's rows a third. */

enum { POISON = 0xff };

/* Returns byte `at` of a poisoned mean or rstd; the last two bytes identify it. */
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

/* Returns true for such a NaN after a conversion to another type, which keeps the leading bits. */
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

/* Returns true if a value is the NaN of such a gap, of either sign. */
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
/* Returns the type that the config.json found last names ("f32"); NULL: it names none, or there was no file. */
const char *model_dtype(void);

#endif
