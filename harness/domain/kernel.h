/* A kernel as the harness knows it: what its descriptor says, and where it comes from.
 *
 *     const kernel_entry *kernel = kernel_meant(&kernels, "two_pass");   // a name or a label, or the program ends
 *     if (kernel->facts.has_bound) ...
 */
#ifndef LNBENCH_KERNEL_H
#define LNBENCH_KERNEL_H

#include "base/text.h"
#include "domain/case.h"
#include "domain/operation.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REPLY_TEXT_LENGTH = 256, CHANGE_LENGTH = 96 };

/* The role of ln_layernorm() itself, which takes one of the other kernels. */
#define KERNEL_ROLE_CALL "library"

typedef struct kernel_facts {
    ln_operation operation; /* that it computes */
    char name[NAME_MAX_LENGTH];
    char role[16]; /* "textbook", "tuned", "library"; "": of a plugin that tells none */
    char statistics[32], apply[32], schedule[32], isa[16];
    ln_type storage, param, accumulator;
    unsigned unroll, traits;
    bool has_bound;
} kernel_facts;

/* One kernel as the harness knows it. */
typedef struct kernel_entry {
    kernel_facts facts;
    char source[NAME_MAX_LENGTH];        /* "builtin" or the plugin's name */
    char version[NAME_MAX_LENGTH];       /* of the library behind a plugin, "" if it says none */
    unsigned plugin, kernel;             /* its place in every worker */
    uint64_t object_hash;                /* FNV-1a of the file it comes from */
    char unsupported[REPLY_TEXT_LENGTH]; /* why this CPU can't run it, "" if it can */
    /* What loading it set of floating-point control, as -ffast-math does: its kernels are called, and
     * judged, in that state. "": nothing. */
    char set_at_load[CHANGE_LENGTH];
} kernel_entry;

typedef struct kernel_list {
    kernel_entry *kernels;
    size_t count;
    char left_out[512]; /* which peer can't be loaded, and why; "" where all can */
} kernel_list;

/* Whether what is typed means this kernel: its name, a pattern of names, or its label: what tables show
 * of its name, or of another library's kernel that library's version. */
bool kernel_is_meant(const kernel_entry *kernel, const char *word);
/* The kernel of this name, or the only one of this label; NULL where the word means none or several. kernel_meant()
 * ends the program then (2), with the nearest name, or those that share the label. */
const kernel_entry *kernel_find(const kernel_list *kernels, const char *word);
const kernel_entry *kernel_meant(const kernel_list *kernels, const char *word);
/* Where a word means no kernel, or is the label of several, the program ends with these errors. */
void kernel_words_check(const kernel_list *kernels, const word_list *words);
/* Adds to `names` what each word means among these: a label becomes the name of its kernel; a name, a
 * pattern, and a word that means none of them stay. A label of several ends the program (2). */
void kernel_words_named(const kernel_list *kernels, const word_list *words, word_list *names);
/* The convention that is given, or, where none is, the first preset of the operation of the kernels that the
 * words mean: the operation that comes first, where they have several. One of none of theirs ends the program (2). */
const char *kernel_words_convention(const kernel_list *kernels, const word_list *words,
                                    const char *given);
void kernel_list_free(kernel_list *kernels);

/* Names of kernels: globs that fit them, and their labels under a heading. */

/* The label of a kernel under a heading that says its type and ISA ("": it does not): the name without
 * these words, "naive" of "naive_f32_avx512". At most `size` bytes with the end. */
void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size);
/* Whether it is the label of this kernel under some heading. */
bool kernel_label_fits(const char *label, const char *name);

/* Whether a glob fits the name of a kernel, or is its label: what is printed can be typed. */
bool kernel_name_matches(const char *glob, const char *name);

/* Whether it is an ISA of isa.def, "any", or "" (not known). */
bool kernel_isa_is_known(const char *isa);

/* What a kernel is to those who choose among them. */

/* What it is, and the word for it: "" of ours. */
typedef enum kernel_role {
    ROLE_OURS,     /* with a proof, as the textbook's */
    ROLE_LIBRARY,  /* a call of ln_layernorm() */
    ROLE_TEXTBOOK, /* what people write: the role of its line in kernels.def */
    ROLE_PEER,     /* another library's */
    ROLE_PLUGIN,   /* the user's */
} kernel_role;
extern const char *const kernel_role_words[ROLE_PLUGIN + 1];

/* Reproducibility: on what the bits of a row may depend (axes), and the classes that follow.
 * conformance/invariance.c runs a kernel to find out. */

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
/* The class of a name, which may come from a file of somebody else's; UNKNOWN for other words and for NULL. */
reproducibility reproducibility_named(const char *name);
/* The one that was measured, else the one that is declared, in brackets: "row", "(row)", "-". */
const char *reproducibility_word(reproducibility measured, reproducibility declared);
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

/* A kernel's descriptor as published JSON (lnbench list kernels --json). */

/* {"name","label" (as tables have it under a heading of its type and ISA),"role","statistics","apply","schedule","io","param","acc","isa","unroll","supported","traits","source",
 * and "unsupported_because", "object_hash", "bound", "reproducibility", "declared_reproducibility",
 * "varies_with"}; found NULL: its invariance was not measured. NULL when memory runs out. */
json_t *kernel_json(const kernel_entry *kernel, const invariance_result *found);

/* A peer's version, a plugin's name, else the name without its type and ISA. */
void kernel_entry_label(const kernel_entry *kernel, char label[NAME_MAX_LENGTH]);

/* The descriptors of a run's kernels of one operation: their labels become those that its answer prints under its heading, without
 * each kernel's type and the answer's ISA, so that within a type they tell kernels apart. */
void kernel_labels_set(json_t *kernels, ln_operation what, const char *isa);

/* "fma, nontemporal": the traits, or "-". */
const char *kernel_traits(const kernel_entry *kernel, char buffer[128]);

/* A word that a run's descriptors tell of a kernel ("isa", "param", ...), "" where they don't. */
const char *descriptor_word(const json_t *kernels, const char *kernel, const char *key);
/* Whether it is a call of ln_layernorm(), of our library. */
bool kernel_is_call(const json_t *kernels, const char *kernel);
kernel_role kernel_role_of(const json_t *kernels, const char *kernel);

/* What layernorm.h and rmsnorm.h promise of a call's errors. A test compares the former, and both with what was
 * judged (results/judged/cells.tsv). */

/* The class of a call such as library_fast_f32; false: it is none. */
bool call_class(const kernel_facts *kernel, ln_accuracy *accuracy);

/* Whether a class may be held to rows of an input family: `fast` and `reproducible` have squares, which
 * overflow in some. */
bool promise_covers(ln_accuracy accuracy, const char *family);

/* In row ULP, of the families that the class covers; infinite: nothing is promised under this
 * convention, as `fast` does under PyTorch's alone, and no class where RMSNorm rounds on the way. */
double promised_row_ulp(ln_accuracy accuracy, ln_type storage, const ln_convention *convention);

#endif
