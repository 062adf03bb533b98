#include "store/standing.h"
#include "base/allocate.h"
#include "store/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of standing.sql. */
enum {
    KERNEL,
    TYPES,
    ROLE,
    LOST,
    LOST_FROM,
    ROUNDED,
    PROVEN,
    FAULT,
    SCOPE,
    JUDGED,
    WRONG,
    LIMITED,
    USABLE,
    CHECKED,
    APART,
    ERROR_COLUMN,
    CASE_ID,
    ACCURATE,
    DOUBT,
    OTHER_PARAM,
    OPERATION_NAME,
};

static size_t count_at(sqlite3_stmt *statement, int column)
{
    return (size_t)sqlite3_column_int64(statement, column);
}

static error_sum read_sum(sqlite3_stmt *statement)
{
    return (error_sum){
        .judged = count_at(statement, JUDGED),
        .wrong = count_at(statement, WRONG),
        .limited = count_at(statement, LIMITED),
        .usable = count_at(statement, USABLE),
        .checked = count_at(statement, CHECKED),
        .apart = count_at(statement, APART),
        .error = store_real(statement, ERROR_COLUMN),
        .at = sqlite3_column_int64(statement, CASE_ID),
    };
}

static kernel_standing read_standing(sqlite3_stmt *statement)
{
    kernel_standing own = {.dtype = LN_F32,
                           .lost = count_at(statement, LOST),
                           .lost_from = store_real(statement, LOST_FROM),
                           .rounded = sqlite3_column_int(statement, ROUNDED) != 0,
                           .proven = sqlite3_column_int(statement, PROVEN) != 0,
                           .fault = sqlite3_column_int64(statement, FAULT),
                           .accurate = sqlite3_column_int(statement, ACCURATE) != 0,
                           .other_param = sqlite3_column_int(statement, OTHER_PARAM) != 0};
    char word[16];
    store_copy_text(statement, KERNEL, own.kernel, sizeof own.kernel);
    store_copy_text(statement, TYPES, word, sizeof word);
    dtype_from_name(word, &own.dtype);
    store_copy_text(statement, ROLE, word, sizeof word);
    own.role = kernel_role_from_word(word);
    store_copy_text(statement, OPERATION_NAME, word, sizeof word);
    operation_from_name(word, &own.operation);
    store_copy_text(statement, DOUBT, own.doubt, sizeof own.doubt);
    for (int scope = 0; scope < SCOPES; scope++)
        own.errors[scope].error = NAN;
    return own;
}

/* The scope of a row; SCOPES: nothing was judged. */
static int scope_of(sqlite3_stmt *statement)
{
    static const char *const names[] = {"all", "any", "ordinary", "extreme", "hunted"};
    char word[16];
    int scope = 0;
    store_copy_text(statement, SCOPE, word, sizeof word);
    while (scope < SCOPES && strcmp(word, names[scope]) != 0)
        scope++;
    return scope;
}

bool store_standings(result_store *store, int64_t run, double budget, standing_list *list,
                     error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_STANDING, err, "ids", run, budget, "");
    bool row = false;
    *list = (standing_list){0};
    bool fine = statement && store_next(store, statement, &row, err);
    for (; fine && row; fine = store_next(store, statement, &row, err)) {
        const kernel_standing read = read_standing(statement);
        const kernel_standing *last =
            list->count ? &list->standings[list->count - 1] : NULL; /* its rows stand together */
        int scope = scope_of(statement);
        if (is_roof(read.kernel))
            continue;
        if (!last || strcmp(last->kernel, read.kernel) != 0 || last->dtype != read.dtype) {
            list->standings = allocate_room(list->standings, list->count, sizeof *list->standings);
            list->standings[list->count++] = read;
        }
        if (scope < SCOPES)
            list->standings[list->count - 1].errors[scope] = read_sum(statement);
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

bool store_input_errors(result_store *store, int64_t run, const char *convention,
                        input_error **errors, size_t *count, error *err)
{
    sqlite3_stmt *statement =
        store_bound(store, STATEMENT_STANDING, err, "ids", run, (double)INFINITY, convention);
    bool row = false;
    *errors = NULL;
    *count = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    for (; fine && row; fine = store_next(store, statement, &row, err)) {
        const kernel_standing read = read_standing(statement);
        *errors = allocate_room(*errors, *count, sizeof **errors);
        input_error *own = &(*errors)[(*count)++];
        *own = (input_error){.dtype = read.dtype, .sum = read_sum(statement)};
        memcpy(own->kernel, read.kernel, sizeof own->kernel);
        store_copy_text(statement, SCOPE, own->input, sizeof own->input);
    }
    if (!fine) {
        free(*errors);
        *errors = NULL;
        *count = 0;
    }
    return fine;
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
        snprintf(words, OBJECTION_WORDS, "is %s on %zu of %zu case%s%s (%s%s)",
                 all->wrong ? "wrong" : "at the limit of its types", wrong, all->judged,
                 all->judged == 1 ? "" : "s", extreme_alone ? ", all extreme" : "",
                 extreme_alone ? "elsewhere " : "", largest);
    return words;
}
