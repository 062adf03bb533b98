/* Descriptors of kernels: properties, origin, names and labels, reproducibility, and promised errors.
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

/* The role of ln_layernorm() itself, which calls one of the other kernels. */
#define KERNEL_ROLE_CALL "library"

typedef struct kernel_facts {
    ln_operation operation;
    char name[NAME_MAX_LENGTH];
    char role[16]; /* "textbook", "tuned", "library"; "": a plugin that names none */
    char statistics[32], apply[32], schedule[32], isa[16];
    ln_type storage, param, accumulator;
    unsigned unroll, traits;
    bool has_bound;
} kernel_facts;

/* A loaded kernel. */
typedef struct kernel_entry {
    kernel_facts facts;
    char source[NAME_MAX_LENGTH];  /* "builtin" or the plugin's name */
    char version[NAME_MAX_LENGTH]; /* of the library behind a plugin; "": none */
    unsigned plugin, kernel; /* indexes of the plugin and of the kernel in it, in every worker */
    uint64_t object_hash;    /* FNV-1a of its file */
    char unsupported[REPLY_TEXT_LENGTH]; /* why this CPU cannot run it; "": it can */
    /* Floating-point control that loading the plugin changed, as -ffast-math does; its kernels run and are judged
     * in that state. "": nothing. */
    char set_at_load[CHANGE_LENGTH];
} kernel_entry;

typedef struct kernel_list {
    kernel_entry *kernels;
    size_t count;
    char left_out[512]; /* the peers that cannot be loaded, and the reasons; "": all are loaded */
} kernel_list;

/* Returns true if a word that a user typed means this kernel: its name, a pattern that fits it, or its label. The
 * label is the part of the name that tables show, or the version of another library. */
bool kernel_is_meant(const kernel_entry *kernel, const char *word);
/* Return the kernel of this name, or the only one of this label. If the word means no kernel or several, kernel_find()
 * returns NULL; kernel_meant() ends the program (2) and names the nearest kernel, or those that share the label. */
const kernel_entry *kernel_find(const kernel_list *kernels, const char *word);
const kernel_entry *kernel_meant(const kernel_list *kernels, const char *word);
/* Ends the program in the same way if a word means no kernel. A label of several means all of them. */
void kernel_words_check(const kernel_list *kernels, const word_list *words);
/* Returns the given convention; NULL: the first preset of the operation of the kernels that the words mean (if they
 * compute several operations, of the first one). A convention that none of these kernels computes ends the program
 * (2). */
const char *kernel_words_convention(const kernel_list *kernels, const word_list *words,
                                    const char *given);
void kernel_list_free(kernel_list *kernels);

/* Names of kernels: matching patterns, and labels under a heading. */

/* Writes the label of a kernel in a table whose heading names a type and an ISA ("": it does not): the name without
 * these words, "naive" for "naive_f32_avx512". Writes at most `size` bytes with the terminating 0. */
void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size);
/* Returns true if a word is the label of this kernel under any heading. */
bool kernel_label_fits(const char *label, const char *name);

/* Returns true if a glob matches the name of a kernel or is its label, since users type what tables print. */
bool kernel_name_matches(const char *glob, const char *name);

/* Returns true if a word is an ISA of isa.def, "any", or "" (not known). */
bool kernel_isa_is_known(const char *isa);

/* The role of a kernel for users who choose one; kernel_role_words has the names ("" for ROLE_OURS). */
typedef enum kernel_role {
    ROLE_OURS,     /* lnbench's tuned kernels */
    ROLE_LIBRARY,  /* a call of ln_layernorm() or ln_rmsnorm() */
    ROLE_TEXTBOOK, /* a usual way to write the operation, by its role in kernels.def */
    ROLE_PEER,     /* of another library */
    ROLE_PLUGIN,   /* of the user */
} kernel_role;
extern const char *const kernel_role_words[ROLE_PLUGIN + 1];

/* Reproducibility: the properties of a call that may change the bits of a row (the axes), and the resulting classes.
 * conformance/invariance.c measures it. */

enum { INVARIANCE_HIDDEN = 2 }; /* the number of hidden sizes that are tested */

typedef enum invariance_axis {
    AXIS_CALL,      /* the same call on the same buffers again */
    AXIS_ROWS,      /* rows in the batch */
    AXIS_POSITION,  /* the row's place in the batch */
    AXIS_THREADS,   /* threads of the call */
    AXIS_ALIGNMENT, /* alignment of the buffers */
    AXIS_STRIDE,    /* gaps between rows, and mean and rstd requested */
    AXIS_IN_PLACE,  /* y is x */
    AXIS_ISA,       /* the kernel of the same name on another ISA */
    AXIS_COUNT,
} invariance_axis;

/* Each class includes the ones before it. */
typedef enum reproducibility {
    REPRODUCIBLE_UNKNOWN,
    REPRODUCIBLE_NONE, /* two equal calls differ */
    REPRODUCIBLE_RUN,  /* equal calls give equal bits */
    REPRODUCIBLE_ROW,  /* the bits of a row depend only on the row and the parameters */
    REPRODUCIBLE_ISA,  /* and they are the same on every ISA, of at least two that this CPU has */
} reproducibility;

typedef struct invariance_result {
    unsigned tested, varies;              /* sets of axes: 1u << AXIS_... */
    uint64_t defaults[INVARIANCE_HIDDEN]; /* FNV-1a of y with default settings, by hidden size */
} invariance_result;

const char *axis_name(invariance_axis axis);
const char *reproducibility_name(reproducibility class); /* "-", "none", "run", "row", "isa" */
/* Returns the class of a name, which may come from a stranger's file; UNKNOWN for other words and for NULL. */
reproducibility reproducibility_named(const char *name);
/* Returns the name of the measured class, or else the declared one in brackets: "row", "(row)", "-". */
const char *reproducibility_word(reproducibility measured, reproducibility declared);
reproducibility reproducibility_of(const invariance_result *found);
/* Returns the class that the kernel's traits promise; UNKNOWN: none. */
reproducibility reproducibility_declared(const kernel_facts *facts);
/* Returns the class, with the axes that change the bits: "row", "run (threads, stride)", "-". */
const char *reproducibility_describe(const invariance_result *found, char *buffer, size_t size);

/* Copies own[] and the other kernels of the same families (equal kernels for other ISAs) to chosen[], which has room
 * for all kernels; returns their number. */
size_t with_families(const kernel_list *kernels, const kernel_entry *const *own, size_t own_count,
                     const kernel_entry **chosen);

/* Fills in AXIS_ISA: compares the default outputs of tested kernels of the same family; found[i] is of kernels[i]. */
void invariance_compare_isas(const kernel_entry *const *kernels, invariance_result *found,
                             size_t count);

/* Return the reproducibility class of a kernel as tables print it, a static string: the measured one ("none", "run",
 * "row", "isa"), or else the declared one in brackets ("(row)"), or else "-".
 *
 *     table_cell(table, reproducible_stored(view->kernels, "naive_f32_avx2"));
 */

/* Reads it from the kernel's descriptor, in the array of a run's descriptors. */
const char *reproducible_stored(const json_t *kernels, const char *kernel);
/* Takes it from a measurement; NULL: not measured. */
const char *reproducible_found(const kernel_facts *facts, const invariance_result *found);

/* Returns true if a kernel of these descriptors must give the same bits on every CPU that can run it: its measured or
 * its declared class is "isa". */
bool reproducible_everywhere(const json_t *kernels, const char *kernel);

/* Returns the measured class as JSON; null if there is none. */
json_t *reproducible_json(const char *word);
/* Returns true if both classes were measured and the second one is lower. */
bool reproducible_is_less(const char *base, const char *new);
/* Returns "row", or "run was row" if the two differ. */
const char *reproducible_both(const char *base, const char *new, char buffer[32]);

/* A kernel's descriptor as published JSON (lnbench list kernels --json). */

/* Returns {"name", "label" (as in tables under a heading of its type and ISA), "role", "statistics", "apply",
 * "schedule", "io", "param", "acc", "isa", "unroll", "supported", "traits", "source", "unsupported_because",
 * "object_hash", "bound", "reproducibility", "declared_reproducibility", "varies_with"}. found NULL: its invariance
 * was not measured. */
json_t *kernel_json(const kernel_entry *kernel, const invariance_result *found);

/* Writes a peer's version, a plugin's name, or for other kernels the name without its type and ISA. */
void kernel_entry_label(const kernel_entry *kernel, char label[NAME_MAX_LENGTH]);

/* Sets the labels in the descriptors of a run's kernels of one operation to those that its answer prints: without the
 * kernel's type and the answer's ISA, and different within a type. */
void kernel_labels_set(json_t *kernels, ln_operation what, const char *isa);

/* Returns the traits, "fma, nontemporal", or "-". */
const char *kernel_traits(const kernel_entry *kernel, char buffer[128]);

/* Returns a member of a kernel's descriptor ("isa", "param", ...), or "" if it is not there. */
const char *descriptor_word(const json_t *kernels, const char *kernel, const char *key);
/* Returns true if it is ln_layernorm() or ln_rmsnorm() itself. */
bool kernel_is_call(const json_t *kernels, const char *kernel);
kernel_role kernel_role_of(const json_t *kernels, const char *kernel);

/* The error that layernorm.h and rmsnorm.h promise for a call. Tests compare these with the headers and with judged
 * results (results/judged/cells.tsv). */

/* Finds the accuracy class of a call such as library_fast_f32; false: the kernel is no call. */
bool call_class(const kernel_facts *kernel, ln_accuracy *accuracy);

/* Returns true if the promise of a class covers an input family: `fast` and `reproducible` compute squares, which
 * overflow in some families. */
bool promise_covers(ln_accuracy accuracy, const char *family);

/* Returns the promised row ULP on families that the class covers; infinite: no promise under this convention. `fast`
 * promises under PyTorch's convention only, and no class promises if RMSNorm rounds in between. */
double promised_row_ulp(ln_accuracy accuracy, ln_type storage, const ln_convention *convention);

#endif
