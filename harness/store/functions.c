/* What SQL cannot say, as functions for scripts (script.h); no view uses them, so that other programs read
 * the views as we do. */
#include "domain/convention.h"
#include "domain/kernel.h"
#include "exact/apart.h"
#include "store/internal.h"
#include "store/standing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_at(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

static double real_at(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

static ln_type type_at(sqlite3_value *value)
{
    ln_type type = LN_F32;
    dtype_from_name(text_at(value), &type);
    return type;
}

static void give_text(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* kernel_label(name, type, isa) */
static void label_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    char label[NAME_MAX_LENGTH];
    (void)count;
    kernel_label(text_at(values[0]), text_at(values[1]), text_at(values[2]), label, sizeof label);
    give_text(context, label);
}

/* kernel_matches(glob, name) */
static void match_kernel(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int(context, kernel_name_matches(text_at(values[0]), text_at(values[1])));
}

/* cache_phrase(cache) */
static void phrase_of_cache(sqlite3_context *context, int count, sqlite3_value **values)
{
    cache_state cache = CACHE_HOT;
    (void)count;
    cache_from_name(text_at(values[0]), &cache);
    give_text(context, cache_phrase(cache));
}

/* roof_words(kernel) */
static void words_of_roof(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    give_text(context, roof_words(text_at(values[0])));
}

/* operation_title(operation) */
static void title_of_operation(sqlite3_context *context, int count, sqlite3_value **values)
{
    ln_operation kind;
    (void)count;
    if (operation_from_name(text_at(values[0]), &kind))
        give_text(context, operations[kind]->title);
}

/* no_digit(types), rough_limit(types) */
static void no_digit_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_double(context, dtype_no_digit(type_at(values[0])));
}

static void rough_limit_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_double(context, error_rough_limit(type_at(values[0])));
}

/* error_class(judged, error, types) */
static void class_of_error(sqlite3_context *context, int count, sqlite3_value **values)
{
    const error_sum sum = {.judged = (size_t)sqlite3_value_int64(values[0]),
                           .error = real_at(values[1])};
    (void)count;
    sqlite3_result_int(context, (int)error_class_of(&sum, type_at(values[2])));
}

/* error_words(error, types, verdict, reason): the verdict of the case that has it */
static void words_of_error(sqlite3_context *context, int count, sqlite3_value **values)
{
    case_verdict verdict = {.kind = VERDICT_PENDING};
    char words[ERROR_WORDS];
    (void)count;
    verdict_from_words(text_at(values[2]), text_at(values[3]), &verdict.kind);
    give_text(context, error_in_words(real_at(values[0]), type_at(values[1]), &verdict, words));
}

/* affine(convention): the form of its parameters as a number, NULL where it is no convention */
static void affine_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    ln_convention convention;
    error ignored = {0};
    (void)count;
    if (convention_parse(text_at(values[0]), &convention, &ignored))
        sqlite3_result_int(context, convention.operation == LN_OPERATION_RMSNORM
                                        ? (int)convention.weight
                                        : (int)convention.affine);
}

/* apart_ulp, apart_relative(asked, computed, hidden, std): how far two conventions lie apart on a row of
 * +-std in turn */
static void distance_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    ln_convention both[2];
    ln_apart apart[4];
    error ignored = {0};
    (void)count;
    if (convention_parse(text_at(values[0]), &both[0], &ignored) &&
        convention_parse(text_at(values[1]), &both[1], &ignored) &&
        ln_reference_apart(both, 2, (size_t)sqlite3_value_int64(values[2]),
                           (float)real_at(values[3]), apart))
        sqlite3_result_double(context,
                              sqlite3_user_data(context) ? apart[1].relative : apart[1].row_ulp);
}

void store_add_functions(const result_store *store)
{
    static int relative;
    static const struct {
        const char *name;
        int arguments;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
        void *context;
    } functions[] = {
        {"kernel_label", 3, label_of, NULL},
        {"kernel_matches", 2, match_kernel, NULL},
        {"cache_phrase", 1, phrase_of_cache, NULL},
        {"copy_words", 1, words_of_roof, NULL},
        {"operation_title", 1, title_of_operation, NULL},
        {"no_digit", 1, no_digit_of, NULL},
        {"rough_limit", 1, rough_limit_of, NULL},
        {"error_class", 3, class_of_error, NULL},
        {"error_words", 4, words_of_error, NULL},
        {"affine", 1, affine_of, NULL},
        {"apart_ulp", 4, distance_of, NULL},
        {"apart_relative", 4, distance_of, &relative},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        store_check(
            store,
            sqlite3_create_function(store->database, functions[i].name, functions[i].arguments,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                    functions[i].context, functions[i].function, NULL, NULL),
            "use it");
}
