/* What an operation is: its tensors by role, and what else tells it from another. Whoever lays out,
 * guards, fills or hands over tensors walks the roles and names none of them.
 *
 *     const operation *what = operations[order->operation];
 *     for (size_t role = 0; role < what->count; role++) {
 *         role_extent extent = role_extent_of(&what->roles[role], &problem, accumulator);
 *         void *data = malloc(extent_bytes(&extent));
 *         role_set(role, &tensors, data); // tensors.x = data, ...
 *     }
 *
 * A new operation is a number in layernorm.h, a file beside this one and a line of operations.def. Nothing here
 * owns memory. */
#ifndef LNBENCH_OPERATION_H
#define LNBENCH_OPERATION_H

#include "base/arena.h"
#include "domain/case.h"

enum {
    ROLES_MOST = 8,
    NEIGHBOURS_MOST = 8,
};

/* The roles of what normalises rows, in the order of ln_tensors; an operation has some of them. */
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
    SHAPE_TABLE,     /* rows x hidden, a stride of its own from row to row */
    SHAPE_ROWS,      /* a number a row */
    SHAPE_HIDDEN,    /* a number a column */
    SHAPE_PARAMETER, /* likewise, or a single one, as the affine form says */
} role_shape;

typedef enum role_type {
    TYPE_STORAGE,
    TYPE_PARAMETER,
    TYPE_ACCUMULATOR, /* of an input, which is there before any kernel is: f64 with f64 rows, else f32 */
} role_type;

typedef struct tensor_role {
    const char *name;
    role_shape shape;
    role_type type;
    bool output;
    bool optional; /* a call may leave it out under any convention */
    /* Under which conventions a call has it; NULL: all. */
    bool (*needed)(const ln_convention *convention);
    unsigned with; /* the inputs without which a call has not got it */
    unsigned over; /* the input whose place it takes in place; 0: none */
    size_t stride; /* of a table: offset of its stride in ln_problem */
} tensor_role;

/* Conventions that are easily taken for `own`: how many, into others[]. */
typedef size_t find_neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST]);

/* A member of ln_convention that the operation has, by name: its value is a level, the index of a word. */
typedef struct convention_field {
    const char *name;         /* in lists, NAME=WORD */
    const char *const *words; /* of its levels */
    size_t levels;
    size_t place;         /* of the member, an int or an enum, in ln_convention */
    bool eps;             /* the place of eps: NAME=EPS@WORD; level 0: there is none, NAME=0 */
    const char *expected; /* what is said of another word; NULL: "must be", and the words */
} convention_field;

typedef struct convention_preset {
    const char *name;
    ln_convention convention;
    const char *origin; /* whose it is, in a few words */
} convention_preset;

typedef struct operation {
    const char *name;
    const char *title; /* in headings */
    const tensor_role *roles;
    size_t count;          /* of roles */
    size_t result;         /* the output that is judged element by element */
    bool rows_independent; /* a row of the result depends on that row and the parameters alone */
    const convention_field *fields; /* in the order of a list */
    size_t field_count;
    const convention_preset *presets;
    size_t preset_count;
    double eps_f64; /* of the first preset, where rows are f64; 0: the same */
    find_neighbours *neighbours;
    /* Which affine form does what its parameters do (beta may be left out); NULL: the convention's. */
    ln_affine (*form)(const ln_convention *convention);
    /* Whether 1 + g is rounded to g's type; NULL: never. */
    bool (*rounds_factor)(const ln_convention *convention);
    /* Whether its root or xhat is rounded to the storage type; NULL: never. */
    bool (*rounds_between)(const ln_convention *convention);
} operation;

/* By ln_operation. */
extern const operation *const operations[]; /* ends with NULL */
extern const size_t operation_count;

/* How many conventions the levels of the fields make; that of a number below it, the first
 * field fastest, without an eps; the level of a field; the affine form that it comes to; and whether two are the same, with their eps. */
size_t convention_count(const operation *what);
ln_convention convention_numbered(const operation *what, uint64_t number);
size_t convention_level(const convention_field *field, const ln_convention *convention);
void convention_set_level(const convention_field *field, size_t level, ln_convention *convention);
ln_affine convention_form(const ln_convention *convention);
bool convention_equal(const ln_convention *a, const ln_convention *b);

/* Bytes of the tables that every call of a LayerNorm reads and writes, x and y; and likewise of another
 * operation: what figures in GB/s count. */
double call_bytes(const operation *what, size_t rows, size_t hidden, ln_type dtype);

const char *operation_name(ln_operation kind);
bool operation_from_name(const char *name, ln_operation *kind);
/* Bits of ln_operation: of the one named, or of "all"; NULL is the first. Another name ends the program (2). */
unsigned operations_parse(const char *name);

/* Where a tensor's elements lie: `rows` runs of row_bytes, the next one stride_bytes on. A parameter is
 * one such run. */
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

/* Whether a call under the convention has the tensor if it may have it. */
bool role_is_needed(const tensor_role *role, const ln_convention *convention);

static inline bool operation_has(const operation *what, size_t role)
{
    return what->roles[role].shape != SHAPE_NONE;
}

/* The role whose place a tensor takes in place: that of an input, or its own. */
static inline size_t role_in_place(const operation *what, size_t role)
{
    return what->roles[role].over ? (size_t)__builtin_ctz(what->roles[role].over) : role;
}

/* Elements of a row of it: those of a parameter are as many whatever the number of rows. */
static inline size_t role_columns(const tensor_role *role, const ln_convention *convention,
                                  size_t hidden)
{
    return role->shape == SHAPE_NONE        ? 0
           : role->shape == SHAPE_ROWS      ? 1
           : role->shape == SHAPE_PARAMETER ? ln_parameter_elements(convention->affine, hidden)
                                            : hidden;
}

/* Whether it is an output of one number a row. */
static inline bool role_is_statistic(const tensor_role *role)
{
    return role->output && role->shape == SHAPE_ROWS;
}

/* Whether it is a table beside the result: the sum with a residual. */
static inline bool role_is_sum(const operation *what, size_t role)
{
    const tensor_role *own = &what->roles[role];
    return own->output && own->shape == SHAPE_TABLE && role != what->result;
}

/* Whether it has so many elements whatever the number of rows. */
static inline bool role_is_parameter(const tensor_role *role)
{
    return role->shape == SHAPE_HIDDEN || role->shape == SHAPE_PARAMETER;
}

/* Whether a row that is kept, to be run again, has it: what a call cannot leave out. */
static inline bool role_is_kept(const tensor_role *role)
{
    return !role->output && !role->optional && role->shape != SHAPE_NONE;
}

/* The pointer of a role in the tensors of a call, which are pointers in the order of the roles; and the
 * stride of a table in a problem. */
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

/* The inputs of a call: what blocks are made from. */
typedef struct operation_call {
    ln_operation operation;
    ln_problem problem;
    void *inputs[ROLES_MOST]; /* by role; NULL: not there */
} operation_call;

/* Of dense rows, without inputs, and of the operation of its convention. */
operation_call call_dense(const ln_convention *convention, ln_type storage, ln_type param,
                          size_t rows, size_t hidden);
/* Room for every input, whether its convention has it or not; `optional`: for those too that a call may
 * leave out. */
void call_allocate(arena *memory, operation_call *call, bool optional);
/* Leaves out those that its convention has not. */
void call_drop_unneeded(operation_call *call);

/* A problem with dense rows. */
ln_problem problem_dense(const ln_convention *convention, ln_type storage, ln_type param,
                         size_t rows, size_t hidden);
/* Sets the stride of every table. */
void problem_set_strides(ln_problem *problem, size_t stride);

#endif
