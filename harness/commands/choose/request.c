/* What a choice rests on: of the kernels that were asked for, which have what it takes. */
#include "commands/choose/request.h"
#include "base/allocate.h"
#include "domain/convention.h"
#include "run/plan.h"
#include "commands/choose/show.h"
#include <math.h>
#include <string.h>

static bool is_declined(const scored_kernel *candidate)
{
    const stored_case *stored = candidate->view.stored;
    return candidate->fate == FATE_UNTIMED && stored->judged &&
           stored->verdict.kind == VERDICT_DECLINED;
}

static void lose(coverage *covered, const chosen *one, const char *kernel, const char *why)
{
    char what[NAME_MAX_LENGTH + 64];
    snprintf(what, sizeof what, "%s %zux%zu", kernel, one->wanted.rows, one->wanted.hidden);
    coverage_lose(covered, what, why);
}

static const asked_case *find_lost(const kernel_evidence *evidence, const char *kernel)
{
    for (size_t i = 0; i < evidence->lost_count; i++)
        if (is_of_group(&evidence->lost[i].key, &evidence->group) &&
            strcmp(evidence->lost[i].key.kernel, kernel) == 0)
            return &evidence->lost[i];
    return NULL;
}

static bool has_lost(const chosen *one, const scored_kernel *candidate)
{
    const case_key *key = &candidate->view.stored->key;
    const kernel_standing *own = standing_of(&one->evidence.standings, key->kernel, key->dtype);
    return own && own->lost > 0;
}

/* One that was judged on such rows, but never to be timed, was not asked for. */
static void cover_candidate(const chosen *one, const scored_kernel *candidate, coverage *covered)
{
    const char *kernel = candidate->view.stored->key.kernel;
    const asked_case *lost = find_lost(&one->evidence, kernel);
    bool untimed = candidate->fate == FATE_UNTIMED;
    if (is_declined(candidate))
        covered->declined++;
    else if (candidate->fate == FATE_UNJUDGED ||
             (candidate->fate == FATE_DOUBTED && has_lost(one, candidate)))
        lose(covered, one, kernel, candidate->reason);
    else if (untimed && lost)
        lose(covered, one, kernel, lost->reason);
    else if (!untimed)
        covered->done++;
}

static bool is_about(const chosen *one, const asked_case *lost)
{
    return is_of_group(&lost->key, &one->evidence.group) &&
           choice_takes(&one->wanted, one->evidence.kernels, lost->key.kernel);
}

bool chosen_lacks_times(const chosen *one)
{
    for (size_t i = 0; i < one->evidence.lost_count; i++)
        if (is_about(one, &one->evidence.lost[i]))
            return true;
    return !one->evidence.timed;
}

static bool is_candidate(const chosen *one, const char *kernel)
{
    for (size_t i = 0; i < one->choice.count; i++)
        if (strcmp(one->choice.candidates[i].view.stored->key.kernel, kernel) == 0)
            return true;
    return false;
}

void chosen_cover(const chosen *one, coverage *covered)
{
    for (size_t i = 0; i < one->choice.count; i++)
        cover_candidate(one, &one->choice.candidates[i], covered);
    for (size_t i = 0; i < one->evidence.lost_count; i++) {
        const asked_case *lost = &one->evidence.lost[i];
        if (is_about(one, lost) && !is_candidate(one, lost->key.kernel))
            lose(covered, one, lost->key.kernel, lost->reason);
    }
    covered->asked = covered->done + covered->declined + covered->lost;
}

enum { ROWS_OF_A_SEQUENCE = 512 };

static const char *const class_names[] = {"any", "fast", "accurate", "reproducible", "exact"};
enum { CLASSES = sizeof class_names / sizeof *class_names };

const char *class_name(accuracy_class class)
{
    return class_names[class];
}

static bool class_from_name(const char *name, accuracy_class *class, error *err)
{
    for (int i = CLASS_FAST; i < CLASSES; i++)
        if (strcmp(class_names[i], name) == 0) {
            *class = (accuracy_class)i;
            return true;
        }
    return fail(err, EXIT_CODE_USAGE,
                "--class %.60s: fast, accurate, reproducible or exact was expected", name);
}

static bool add_shape(choose_request *choosing, const choose_wanted *common, const char *word,
                      error *err)
{
    choose_wanted wanted = *common;
    char rows[64];
    /* A hidden size alone stands for the rows of one sequence. */
    if (word[0] && strlen(word) < 20 && strspn(word, "0123456789") == strlen(word)) {
        snprintf(rows, sizeof rows, "%dx%s", ROWS_OF_A_SEQUENCE, word);
        word = rows;
    }
    if (!shape_parse(word, &wanted.rows, &wanted.hidden, err))
        return false;
    choosing->all = allocate_room(choosing->all, choosing->count, sizeof *choosing->all);
    choosing->all[choosing->count++] = (chosen){.wanted = wanted};
    return true;
}

static bool add_model_rows(choose_request *choosing, const choose_wanted *common,
                           const model_shape *model, const word_list *tokens, error *err)
{
    char word[96];
    size_t rows[3];
    model_rows(model, rows);
    for (size_t i = 0; tokens->count == 0 && i < 3; i++) {
        snprintf(word, sizeof word, "%zux%zu", rows[i], model->hidden);
        if ((i == 0 || rows[i] != rows[i - 1]) && !add_shape(choosing, common, word, err))
            return false;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        snprintf(word, sizeof word, "%.60sx%zu", tokens->words[i], model->hidden);
        if (strspn(tokens->words[i], "0123456789") != strlen(tokens->words[i]))
            return fail(err, EXIT_CODE_USAGE, "--tokens %.60s: a whole number was expected",
                        tokens->words[i]);
        if (!add_shape(choosing, common, word, err))
            return false;
    }
    return true;
}

/* One convention: the one given, else the model's, else torch. */
static bool set_convention(const choose_options *options, const model_shape *model,
                           choose_wanted *wanted, error *err)
{
    word_list conventions = {0};
    bool fine = true;
    split_conventions(&options->conventions, NULL, &conventions);
    if (conventions.count > 1)
        fine = fail(err, EXIT_CODE_USAGE, "--conventions: one was expected, %zu were given",
                    conventions.count);
    const char *given = conventions.count == 1 ? conventions.words[0]
                        : model                ? model->convention
                                               : "torch";
    fine = fine && convention_parse(given, &wanted->convention, err);
    ln_convention own;
    if (fine && model && convention_parse(model->convention, &own, err) &&
        own.operation != wanted->convention.operation)
        fine =
            fail(err, EXIT_CODE_USAGE,
                 "--conventions %s is of %s: %s has %s, as %s computes it (lnbench list "
                 "conventions --operation %s)",
                 given, operation_name(wanted->convention.operation), model->name,
                 operation_name(own.operation), model->convention, operation_name(own.operation));
    if (fine)
        convention_label(&wanted->convention, wanted->convention_label);
    word_list_free(&conventions);
    return fine;
}

static bool check_budget(const choose_budget *budget, error *err)
{
    if (budget->proven && isnan(budget->row_ulp))
        return fail(err, EXIT_CODE_USAGE,
                    "--proven: bounds are proven of row ULP: give --max-row-ulp X with it");
    if (!isnan(budget->kappa) && !(budget->kappa >= 1 && budget->kappa <= 1e8))
        return fail(err, EXIT_CODE_USAGE, "--kappa %g: a number from 1 to 1e8 was expected",
                    budget->kappa);
    if (budget->correctly_rounded > 1)
        return fail(err, EXIT_CODE_USAGE,
                    "--correctly-rounded %g: a share from 0 to 1 was expected",
                    budget->correctly_rounded);
    return true;
}

static bool request_common(const choose_options *options, const model_shape *model,
                           choose_wanted *wanted, error *err)
{
    accuracy_class class = options->exact ? CLASS_EXACT : CLASS_ANY;
    if (options->exact && options->class)
        return fail(err, EXIT_CODE_USAGE, "--exact and --class exclude each other");
    if (options->class && !class_from_name(options->class, &class, err))
        return false;
    *wanted = (choose_wanted){.budget = options->budget,
                              .class = class,
                              .model = model ? model->name : NULL,
                              .type_named = options->dtype || (model && model_dtype()),
                              .every_row = class == CLASS_ANY && isnan(options->budget.kappa),
                              .time_on = options->time_on,
                              .threads = (unsigned)options->threads,
                              .kernels = &options->kernels};
    /* As where run is asked: another limit, if one is given, stands alone. */
    if (wanted->every_row && isnan(options->budget.row_ulp) && isnan(options->budget.ulp) &&
        isnan(options->budget.bits) && isnan(options->budget.correctly_rounded))
        wanted->budget.row_ulp = STANDING_ROW_ULP;
    const char *own = model && model_dtype() ? model_dtype() : "f32";
    if (!dtype_from_name(options->dtype ? options->dtype : own, &wanted->dtype))
        return fail(err, EXIT_CODE_USAGE, "--dtypes %.60s: f32, f64, bf16 or f16 was expected",
                    options->dtype);
    wanted->param = options->param ? options->param : dtype_name(wanted->dtype);
    ln_type param;
    if (!dtype_from_name(wanted->param, &param))
        return fail(err, EXIT_CODE_USAGE, "--param %.60s: f32, f64, bf16 or f16 was expected",
                    options->param);
    if (!cache_from_name(options->cache, &wanted->cache))
        return fail(err, EXIT_CODE_USAGE, "--cache %.60s: expected hot, cold, in-place or read",
                    options->cache);
    if (options->threads < 1 || options->threads > 4096)
        return fail(err, EXIT_CODE_USAGE, "--threads %llu: a number from 1 to 4096 was expected",
                    (unsigned long long)options->threads);
    return check_budget(&options->budget, err) && set_convention(options, model, wanted, err);
}

bool request_read(const choose_options *options, choose_request *choosing, error *err)
{
    choose_wanted common;
    const model_shape *model = NULL;
    if (options->model && !(model = model_find(options->model, err)))
        return false;
    if (model && options->shapes.count)
        return fail(err, EXIT_CODE_USAGE,
                    "--shapes and --model exclude each other: a model has its own shapes (--tokens "
                    "changes their rows)");
    if (!model && options->tokens.count)
        return fail(err, EXIT_CODE_USAGE, "--tokens goes with --model; --shapes has its own rows");
    if (!model && options->shapes.count == 0)
        return fail(
            err, EXIT_CODE_USAGE,
            "choose for what? --shapes ROWSxHIDDEN, as in 512x768, or --model NAME (lnbench "
            "list models)");
    if (options->stored && options->fresh)
        return fail(err, EXIT_CODE_USAGE,
                    "--stored and --fresh exclude each other: measure never, or always");
    if ((options->run || options->machine) &&
        (options->fresh || (options->run && options->machine)))
        return fail(err, EXIT_CODE_USAGE,
                    "--run, --machine and --fresh exclude each other: a stored run, the runs of "
                    "another machine, or new ones");
    if (!request_common(options, model, &common, err))
        return false;
    for (size_t i = 0; i < options->shapes.count; i++)
        if (!add_shape(choosing, &common, options->shapes.words[i], err))
            return false;
    return !model || add_model_rows(choosing, &common, model, &options->tokens, err);
}
