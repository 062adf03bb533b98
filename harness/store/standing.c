#include "store/standing.h"
#include "base/allocate.h"
#include "base/text.h"
#include "store/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const record_field sum_fields[] = {
    FIELD(COUNT, error_sum, judged),
    {"failed", FIELD_COUNT, offsetof(error_sum, wrong), 0, NULL},
    {"type_limited", FIELD_COUNT, offsetof(error_sum, limited), 0, NULL},
    {"has_correct_digits", FIELD_COUNT, offsetof(error_sum, usable), 0, NULL},
    FIELD(COUNT, error_sum, checked),
    FIELD(COUNT, error_sum, apart),
    FIELD(REAL, error_sum, error),
    {"case_id", FIELD_COUNT, offsetof(error_sum, at), 0, NULL},
};

static const record_field standing_fields[] = {
    TEXT_FIELD(kernel_standing, kernel),
    WORD_FIELD(kernel_standing, dtype, dtype_names),
    {"missing", FIELD_COUNT, offsetof(kernel_standing, lost), 0, NULL},
    FIELD(REAL, kernel_standing, lost_from),
    FIELD(FLAG, kernel_standing, rounded),
    FIELD(FLAG, kernel_standing, proven),
    FIELD(COUNT, kernel_standing, fault),
    FIELD(FLAG, kernel_standing, accurate),
    TEXT_FIELD(kernel_standing, doubt),
    FIELD(FLAG, kernel_standing, other_param),
    WORD_FIELD(kernel_standing, operation, operation_names),
};

static bool take_standing(const result_store *store, sqlite3_stmt *statement, kernel_standing *own,
                          error *err)
{
    char role[16];
    *own = (kernel_standing){0};
    store_copy_text(statement, store_column(statement, "role"), role, sizeof role);
    own->role = kernel_role_from_word(role);
    for (int scope = 0; scope < SCOPES; scope++)
        own->errors[scope].error = NAN;
    return store_take(store, statement, FIELDS(standing_fields), own, err);
}

static bool take_sum(const result_store *store, sqlite3_stmt *statement, error_sum *sum, error *err)
{
    return store_take(store, statement, FIELDS(sum_fields), sum, err);
}

/* The scope of a row; SCOPES: nothing was judged. */
static int scope_of(sqlite3_stmt *statement)
{
    static const char *const names[] = {"all", "any", "ordinary", "edge_case", "adversarial"};
    char word[16];
    store_copy_text(statement, store_column(statement, "scope"), word, sizeof word);
    return (int)word_find(word, WORDS(names));
}

bool store_standings(result_store *store, int64_t run, double budget, standing_list *list,
                     error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_STANDING, err, "ids", run, budget, "");
    bool row = false;
    *list = (standing_list){0};
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        kernel_standing read;
        const kernel_standing *last =
            list->count ? &list->standings[list->count - 1] : NULL; /* its rows stand together */
        int scope = scope_of(statement);
        fine = take_standing(store, statement, &read, err);
        if (!is_roof(read.kernel) &&
            (!last || strcmp(last->kernel, read.kernel) != 0 || last->dtype != read.dtype)) {
            list->standings = allocate_room(list->standings, list->count, sizeof *list->standings);
            list->standings[list->count++] = read;
        }
        if (!is_roof(read.kernel) && scope < SCOPES)
            fine = fine &&
                   take_sum(store, statement, &list->standings[list->count - 1].errors[scope], err);
        fine = fine && store_next(store, statement, &row, err);
    }
    if (!fine) {
        free(list->standings);
        *list = (standing_list){0};
    }
    return fine;
}

const kernel_standing *standing_of(const standing_list *list, const char *kernel, ln_type dtype)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->standings[i].dtype == dtype && strcmp(list->standings[i].kernel, kernel) == 0)
            return &list->standings[i];
    return NULL;
}

static bool take_input_sum(const result_store *store, sqlite3_stmt *statement, void *row,
                           error *err)
{
    return take_sum(store, statement, &((input_error *)row)->sum, err);
}

bool store_input_errors(result_store *store, int64_t run, const char *convention,
                        input_error **errors, size_t *count, error *err)
{
    static const record_field fields[] = {
        TEXT_FIELD(input_error, kernel),
        WORD_FIELD(input_error, dtype, dtype_names),
        {"scope", FIELD_TEXT, offsetof(input_error, input), INPUT_MAX_LENGTH - 1, NULL},
    };
    static const row_form form = {sizeof(input_error), FIELDS(fields), take_input_sum};
    return store_list(
        store,
        store_bound(store, STATEMENT_STANDING, err, "ids", run, (double)INFINITY, convention),
        &form, errors, count, err);
}

double error_rough_limit(ln_type type)
{
    return fmin(1000, dtype_no_digit(type) / 8);
}

error_class error_class_of(const error_sum *sum, ln_type type)
{
    return !sum->judged                            ? ERROR_UNKNOWN
           : isinf(sum->error)                     ? ERROR_NAN
           : !(sum->error > 1)                     ? ERROR_EXACT
           : sum->error <= 4                       ? ERROR_GOOD
           : sum->error <= error_rough_limit(type) ? ERROR_ROUGH
                                                   : ERROR_LOST;
}

const char *error_in_words(double size, ln_type type, const case_verdict *at,
                           char words[ERROR_WORDS])
{
    if (isinf(size))
        return at && verdict_exit_code(at) == EXIT_CODE_KERNEL_FAILED ? "fault" : "NaN";
    if (size >= dtype_no_digit(type))
        return "no digit";
    snprintf(words, ERROR_WORDS, size >= 1000 ? "%.0e" : size < 10 ? "%.1f" : "%.0f", size);
    return isnan(size) ? "-" : words;
}

/* "up to 7.0 row ULP"; what is no figure in words. */
static const char *worst_words(const kernel_standing *own, const case_verdict *worst,
                               char buffer[40])
{
    char number[ERROR_WORDS];
    double size = own->errors[SCOPE_ANY].error;
    const char *words = error_in_words(size, own->dtype, worst, number);
    snprintf(buffer, 40, "up to %s row ULP", words);
    return isfinite(size) && size < dtype_no_digit(own->dtype) ? buffer
           : isfinite(size)                                    ? "no correct digit on some rows"
           : strcmp(words, "NaN") == 0                         ? "NaN on some rows"
                                                               : "it failed on some";
}

const char *standing_objection(const kernel_standing *own, const case_verdict *worst,
                               char words[OBJECTION_WORDS])
{
    char buffer[40];
    const error_sum *all = &own->errors[SCOPE_ALL], *extreme = &own->errors[SCOPE_EXTREME];
    const char *largest = worst_words(own, worst, buffer);
    size_t wrong = all->wrong + all->limited;
    bool extreme_alone = wrong == extreme->wrong + extreme->limited;
    if (all->judged == 0)
        snprintf(words, OBJECTION_WORDS, "was not judged");
    else if (wrong == 0)
        snprintf(words, OBJECTION_WORDS, "has %s%s", largest == buffer ? "errors " : "", largest);
    else
        snprintf(words, OBJECTION_WORDS, "%s on %zu of %zu case%s%s (%s%s)",
                 all->wrong ? "fails" : "is type-limited", wrong, all->judged,
                 all->judged == 1 ? "" : "s", extreme_alone ? ", all edge cases" : "",
                 extreme_alone ? "elsewhere " : "", largest);
    return words;
}
