/* A kernel as the harness knows it: what its descriptor says, and where it comes from. */
#ifndef LNBENCH_KERNEL_H
#define LNBENCH_KERNEL_H

#include "base/text.h"
#include "domain/case.h"
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
/* The kernel of this name, or the only one of this label; NULL and an error (2) that names the nearest,
 * or those that share the label. */
const kernel_entry *kernel_find(const kernel_list *kernels, const char *word, error *err);
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

#endif
