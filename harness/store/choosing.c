#include "store/choosing.h"
#include "base/allocate.h"
#include "base/text.h"
#include "inputs/inputs.h"
#include "inputs/offset.h"
#include "store/internal.h"
#include <math.h>
#include <string.h>

bool store_run_on(result_store *store, const char *name, int64_t *run, error *err)
{
    enum { RUN, MACHINES, LIST };
    char list[512];
    bool row;
    sqlite3_stmt *statement = store_bound(store, STATEMENT_RUN_ON, err, "s", name);
    if (!statement || !store_next(store, statement, &row, err))
        return false;
    *run = sqlite3_column_int64(statement, RUN);
    int64_t machines = sqlite3_column_int64(statement, MACHINES);
    store_copy_text(statement, LIST, list, sizeof list);
    sqlite3_reset(statement);
    if (machines == 0)
        return fail(err, EXIT_CODE_USAGE, "--machine %.80s: %.200s has no run of such a processor",
                    name, store->path);
    return machines == 1 ||
           fail(err, EXIT_CODE_USAGE, "--machine %.80s: several machines: take one by --run: %s",
                name, list);
}

static bool take_timed_key(const result_store *store, sqlite3_stmt *statement, void *row,
                           error *err)
{
    return store_take_key(store, statement, &((timed_kernel *)row)->key, err);
}

bool store_timed_kernels(result_store *store, const errors_wanted *wanted, const char *machine,
                         timed_kernel **timed, size_t *count, error *err)
{
    static const record_field fields[] = {
        FIELD(COUNT, timed_kernel, run),
        TEXT_FIELD(timed_kernel, param),
        TEXT_FIELD(timed_kernel, object_hash),
        FIELD(FLAG, timed_kernel, judged),
    };
    static const row_form form = {sizeof(timed_kernel), FIELDS(fields), take_timed_key};
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_TIMED_KERNELS, err, "issidi", wanted->run, machine, wanted->convention,
        (int64_t)wanted->hidden, wanted->kappa, (int64_t)wanted->of_cases);
    return store_list(store, statement, &form, timed, count, err);
}

/* Kappa of the sweep's rows as JSON, from row 0 on. */
static void add_kappas(ln_type dtype, text_buffer *out)
{
    for (size_t row = 0; row < OFFSET_SWEEP_ROWS; row++)
        text_format(out, "%s%.17g", row ? ", " : "[", offset_sweep_kappa(dtype, row));
    text_add(out, "]");
}

static bool take_figure(const result_store *store, sqlite3_stmt *statement, errors_near *errors,
                        error *err)
{
    static const char *const names[] = {"row_ulp", "bound", "norm", "ulp", "misrounded"};
    static const record_field fields[] = {
        FIELD(COUNT, figure_near, hidden),
        FIELD(REAL, figure_near, kappa),
        FIELD(REAL, figure_near, worst),
        FIELD(COUNT, figure_near, cases),
    };
    char word[16];
    bool shifted = sqlite3_column_int(statement, store_column(statement, "shifted")) != 0;
    store_copy_text(statement, store_column(statement, "figure"), word, sizeof word);
    size_t figure = word_find(word, WORDS(names));
    if (figure < FIGURES)
        return store_take(store, statement, FIELDS(fields), &errors->figures[figure][shifted], err);
    errors->fault = sqlite3_column_int64(statement, store_column(statement, "worst"));
    return true;
}

/* Those of the kernel that a row is about: a new one has no figures. */
static errors_near *errors_of(errors_near **errors, size_t *count, const char *kernel)
{
    for (size_t i = *count; i-- > 0;)
        if (strcmp((*errors)[i].kernel, kernel) == 0)
            return &(*errors)[i];
    *errors = allocate_room(*errors, *count, sizeof **errors);
    errors_near *added = &(*errors)[(*count)++];
    *added = (errors_near){0};
    snprintf(added->kernel, sizeof added->kernel, "%s", kernel);
    for (int figure = 0; figure < FIGURES; figure++)
        for (int shifted = 0; shifted < 2; shifted++)
            added->figures[figure][shifted] = (figure_near){.worst = NAN, .kappa = NAN};
    return added;
}

bool store_errors_near(result_store *store, const errors_wanted *wanted, errors_near **errors,
                       size_t *count, error *err)
{
    text_buffer kappas = {0};
    char kernel[NAME_MAX_LENGTH];
    bool row = false;
    *errors = NULL;
    *count = 0;
    add_kappas(wanted->dtype, &kappas);
    sqlite3_stmt *statement = store_bound(store, STATEMENT_ERRORS_NEAR, err, "issids", wanted->run,
                                          dtype_name(wanted->dtype), wanted->convention,
                                          (int64_t)wanted->hidden, wanted->kappa, kappas.bytes);
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        store_copy_text(statement, 0, kernel, sizeof kernel);
        fine = take_figure(store, statement, errors_of(errors, count, kernel), err) &&
               store_next(store, statement, &row, err);
    }
    text_free(&kappas);
    return fine;
}

static const record_field breach_fields[] = {
    TEXT_FIELD(class_breach, kernel),  TEXT_FIELD(class_breach, unfit),
    TEXT_FIELD(class_breach, lacking), FIELD(COUNT, class_breach, case_id),
    TEXT_FIELD(class_breach, input),   FIELD(COUNT, class_breach, hidden),
    FIELD(FLAG, class_breach, bare),   FIELD(REAL, class_breach, found),
    FIELD(REAL, class_breach, most),   FIELD(COUNT, class_breach, cases),
};

bool store_class(result_store *store, const errors_wanted *wanted, const char *class,
                 class_breach **breaches, size_t *count, error *err)
{
    text_buffer sizes = {0}, families = {0}, kappas = {0};
    size_t family_count;
    const input_family *family = input_families(&family_count);
    static const row_form form = {sizeof(class_breach), FIELDS(breach_fields), NULL};
    text_format(&sizes, "[%zu]", wanted->hidden);
    for (size_t i = 0; i < family_count; i++)
        text_format(&families, "%s\"%s\"", i ? ", " : "[", family[i].name);
    text_add(&families, "]");
    add_kappas(wanted->dtype, &kappas);
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_CLASS, err, "isssssss", wanted->run, dtype_name(wanted->dtype), class,
        sizes.bytes, wanted->convention, wanted->without_eps, families.bytes, kappas.bytes);
    bool fine = store_list(store, statement, &form, breaches, count, err);
    text_free(&sizes);
    text_free(&families);
    text_free(&kappas);
    return fine;
}
