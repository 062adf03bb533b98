/* lnbench hunt --exact: does a kernel round correctly? */
#include "base/interrupt.h"
#include "base/allocate.h"
#include "cli/command.h"
#include "referee/layernorm/exact.h"
#include "answer/run_view.h"
#include "worker/worker.h"
#include <math.h>

typedef struct verify_options {
    word_list kernels, plugins;
    uint64_t seed, elements;
    double deadline;
    output_file printed;
} verify_options;

static bool claims(const kernel_entry *kernel)
{
    return kernel->facts.traits & LN_TRAIT_CORRECTLY_ROUNDED;
}

/* Those that were asked for, or else all that claim it and can run here. */
static bool is_wanted(const verify_options *options, const kernel_entry *kernel)
{
    for (size_t i = 0; i < options->kernels.count; i++)
        if (kernel_is_meant(kernel, options->kernels.words[i]))
            return true;
    return options->kernels.count == 0 && claims(kernel) && !kernel->unsupported[0];
}

static bool is_exact(const exact_findings *found)
{
    return found->verdict.kind == VERDICT_RIGHT && found->wrong == 0 && found->wrong_facts == 0;
}

static const char *exact_answer(const exact_findings *found)
{
    return found->verdict.kind != VERDICT_RIGHT ? verdict_phrase(found->verdict.kind)
           : is_exact(found)                    ? "yes"
                                                : "no";
}

static relation *findings_relation(const kernel_entry *const *kernels, const exact_findings *found,
                                   size_t count)
{
    static const relation_column columns[] = {
        COLUMN("kernel", "kernel"),
        COLUMN("claims it", "claims_exact"),
        COLUMN("correctly rounded", "correctly_rounded"),
        COLUMN("elements", "elements"),
        COLUMN("aimed at midpoints", "aimed_at_midpoints"),
        COLUMN("wrong", "wrong"),
        COLUMN("mean, rstd", "facts"),
        COLUMN("wrong", "wrong_facts"),
        COLUMN("hash", "hash"),
        FOR_PROGRAMS("first_wrong"),
        FOR_PROGRAMS(EACH_MEMBER),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++) {
        const exact_findings *own = &found[i];
        relation_row(rows, as_text(kernels[i]->facts.name), as_flag(claims(kernels[i])),
                     as_json(json_boolean(is_exact(own)), exact_answer(own)),
                     as_count(own->elements), as_count(own->aimed), as_count(own->wrong),
                     as_count(own->facts), as_count(own->wrong_facts), as_hash(own->hash),
                     as_word(own->first), as_verdict(&own->verdict));
    }
    return rows;
}

static bool print_findings(const output_file *out, const kernel_entry *const *kernels,
                           const exact_findings *found, size_t count, error *err)
{
    if (!relation_print(findings_relation(kernels, found, count), out, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        char described[256];
        if (found[i].first[0])
            output_line(out, "%s: %s", kernels[i]->facts.name, found[i].first);
        if (found[i].verdict.kind != VERDICT_RIGHT)
            output_line(out, "%s: %s", kernels[i]->facts.name,
                        verdict_describe(&found[i].verdict, described, sizeof described));
    }
    return true;
}

static exit_code exit_code_of(const exact_findings *found, size_t count)
{
    exit_code code = EXIT_CODE_FINE;
    for (size_t i = 0; i < count; i++) {
        code = worse_exit_code(code, verdict_exit_code(&found[i].verdict));
        if (found[i].verdict.kind == VERDICT_RIGHT && !is_exact(&found[i]))
            code = worse_exit_code(code, EXIT_CODE_ACCURACY);
    }
    return code;
}

static exit_code verify(const verify_options *options, worker_process *worker,
                        const kernel_list *all, error *err)
{
    judge_settings settings = {
        .seed = options->seed, .max_row_ulp = INFINITY, .deadline_seconds = options->deadline};
    progress_bar progress = {0};
    exact_request request = {options->seed, options->elements, &progress};
    const kernel_entry **kernels = allocate_zeroed(all->count + 1, sizeof *kernels);
    exact_findings *found = allocate_zeroed(all->count + 1, sizeof *found);
    row_judge *judge = judge_create(worker_runner(worker), &settings);
    size_t count = 0;
    bool fine =
        (judge || fail_memory(err, "the judge")) && kernel_words_check(all, &options->kernels, err);
    for (size_t i = 0; fine && i < all->count; i++)
        if (is_wanted(options, &all->kernels[i]))
            kernels[count++] = &all->kernels[i];
    if (fine && count == 0)
        fine = fail(err, EXIT_CODE_USAGE, "no kernel claims it: name some with --kernels");
    progress_begin(&progress, (double)options->elements * (double)count);
    for (size_t i = 0; fine && i < count; i++)
        fine = exact_verify(judge, &request, kernels[i], &found[i], err);
    progress_end(&progress);
    fine = fine && print_findings(&options->printed, kernels, found, count, err);
    exit_code code = fine ? exit_code_of(found, count) : err->code;
    judge_destroy(judge);
    free(found);
    free(kernels);
    return code;
}

static exit_code verify_exact(void *context, const cli_call *call, error *err)
{
    verify_options *options = context;
    worker_process *worker;
    kernel_list kernels;
    (void)call;
    interrupt_watch();
    if (!worker_start(options->plugins.words, options->plugins.count, &worker, &kernels, err))
        return err->code;
    exit_code code = verify(options, worker, &kernels, err);
    kernel_list_free(&kernels);
    worker_stop(worker);
    return code;
}

static const cli_option options[] = {
    {"kernels", "GLOB,...", "these kernels, by name or label (default: all that claim it)",
     OPTION_LIST, offsetof(verify_options, kernels)},
    PLUGIN_OPTION(verify_options, plugins),
    {"elements", "N", "at least so many results of each (default: 1000000)", OPTION_COUNT,
     offsetof(verify_options, elements)},
    {"seed", "N", "of the corpus (default: 1)", OPTION_COUNT, offsetof(verify_options, seed)},
    DEADLINE_OPTION(verify_options, deadline, 10),
    OUTPUT_OPTIONS(verify_options, printed),
};

const cli_command hunt_exact = {
    .name = "hunt --exact",
    .brief = "does a kernel round correctly?",
    .usage = "[OPTION...]",
    .summary = "Compares a kernel's bits with the certified, correctly rounded results.",
    .details =
        "The corpus follows from the seed: every convention, every input family, rows of LayerNorm "
        "whose\n"
        "results are midpoints of two numbers or lie next to one, with and without a residual, in\n"
        "place and not. Kernels of one element type that are correctly rounded print the same "
        "hash,\n"
        "on every machine.\n"
        "Exit code: 0; 5 a result is not the correctly rounded one; 6 a kernel failed; 2 usage;\n"
        "7 files or environment; 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(verify_options, .seed = 1, .elements = 1000000, .deadline = 10),
    .body = verify_exact,
};
