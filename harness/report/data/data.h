/* What of a stored run a report shows: its kernels with their speeds and errors, and which of them
 * the reader asks for by name (the fastest, the fastest accurate one, two-pass, each peer, ...).
 *
 *     report_data data;
 *     if (!report_data_make(&view, NULL, &data, &err)) ...
 *         best = report_best(&data, &data.looks[0], &data.shape);
 *     report_data_free(&data);
 */
#ifndef LNBENCH_REPORT_DATA_H
#define LNBENCH_REPORT_DATA_H

#include "base/text.h"
#include "domain/regime.h"
#include "answer/answer.h"

typedef struct report_kernel {
    const char *name, *isa, *source, *version; /* of the view; "" where unknown */
    const char *reproducibility;               /* as a view_case has it */
    const kernel_standing *standing;           /* over all conventions, as in the answer */
    char form[48];                             /* of a textbook kernel: "two-pass"; else "" */
    char label[NAME_MAX_LENGTH];               /* as in the answer's table: "two_pass" */
    error_class class;                         /* of SCOPE_ANY */
} report_kernel;

/* Cases that may be compared with each other. */
typedef struct report_group {
    const char *convention;
    ln_type dtype;
    cache_state cache;
    unsigned threads;
    size_t cases; /* timed, or judged; 0: there are none */
} report_group;

typedef struct report_shape {
    size_t rows, hidden;
} report_shape;

/* A name that the reader asks for, which may stand for several kernels: at each shape the fastest
 * of them is shown. */
typedef struct report_look {
    enum {
        LOOK_FASTEST = 1, /* at any error, no peer; as the answer's fastest */
        LOOK_ACCURATE,    /* at most 2 row ULP on any row; as the answer's take */
        LOOK_TWO_PASS,
        LOOK_WELFORD,
        LOOK_NAIVE,
        LOOK_FUSED,
        LOOK_PLUGIN,
        LOOK_PEER, /* of one library */
    } kind;
    int style;          /* of plots/style.gp: the same on every chart */
    const char *source; /* of a peer or plugin */
    char label[64];
} report_look;

enum { LOOKS_MOST = 12, REPORT_NAME = NAME_MAX_LENGTH + 66 };

typedef struct report_data {
    const run_view *view;
    report_kernel *kernels; /* every kernel of the type but the roofs */
    size_t kernel_count;
    size_t *kernel_of; /* of each case: its kernel, kernel_count for a roof or another type */
    size_t *timed;     /* cases of the group with a speed, roofs too */
    size_t timed_count;
    report_group group;  /* what was timed most */
    report_group judged; /* whose errors stand beside it: convention and type count */
    bool is_other_type;  /* charts have the type in their names */
    bool has_shape;
    report_shape shape; /* of the group: the one with most kernels */
    const char *shape_regime;
    double shape_roof; /* GB/s of the fastest copy there; NaN: not measured */
    const char *shape_roof_name;
    report_look looks[LOOKS_MOST];
    size_t look_count;
    input_error *input_errors; /* under the convention of `judged` */
    size_t input_error_count;
    run_answer answer; /* what the terminal shows; of another type of the run: nothing */
} report_data;

/* type NULL: the type that was timed most, or judged most where nothing was. */
bool report_data_make(const run_view *view, const ln_type *type, report_data *data, error *err);
void report_data_free(report_data *data);

/* Fills the looks; report_data_make() does. */
void report_looks(report_data *data);
bool report_is_timed(const view_case *at); /* a finite GB/s */
const report_kernel *report_kernel_at(const report_data *data, const view_case *at);
/* The case of a kernel at one shape of the group; NULL: not timed there. */
const view_case *report_case_at(const report_data *data, const report_kernel *kernel,
                                const report_shape *shape);
bool report_in_look(const report_look *look, const report_kernel *kernel);
/* The fastest case of a look at a shape; NULL: none. And of those at a hidden size in a regime. */
const view_case *report_best(const report_data *data, const report_look *look,
                             const report_shape *shape);
const view_case *report_best_in(const report_data *data, const report_look *look,
                                const char *regime, size_t hidden);
/* The best of data->looks[look] at the report's shape; NULL: none, or an earlier look has it. */
const view_case *report_shown(const report_data *data, size_t look);
/* "fastest, within 2 ULP", "": what a kernel is at the report's shape. */
const char *report_titles(const report_data *data, const view_case *at, char words[64]);
/* "fastest: one_sweep", "naive_avx2", "oneDNN 2.6.3": the same and its label. */
const char *report_name(const report_data *data, const view_case *at, char words[REPORT_NAME]);
const report_look *report_look_of(const report_data *data, int kind); /* NULL: there is none */
/* The distinct hidden sizes timed in a regime, ascending, at most `most`. */
size_t report_hidden_sizes(const report_data *data, const char *regime, size_t *sizes, size_t most);

bool report_is_failure(const case_verdict *verdict);
/* Whether the scope of a judged case is the group that errors are shown of. */
bool report_is_judged(const report_data *data, const stored_case *stored);
/* "f32, torch, hot cache, 1 thread" */
void report_group_words(const report_group *group, text_buffer *out);
/* The same, and the ISA that labels leave out. */
void report_heading_words(const report_data *data, text_buffer *out);
/* "AMD EPYC, 2 cores, in a virtual machine" */
void report_machine_words(const run_view *view, text_buffer *out);
/* "AMD EPYC | commit 1234567 | 2026-01-01T00:00:00Z | run 3, seed 1" */
void report_footer(const run_view *view, text_buffer *out);

#endif
