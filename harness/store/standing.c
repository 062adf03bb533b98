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
    FIELD(REAL, kernel_standing, lost_from),
    FIELD(FLAG, kernel_standing, rounded),
    FIELD(COUNT, kernel_standing, fault),
    WORD_FIELD(kernel_standing, operation, operation_names),
};

static void take_standing(const result_store *store, sqlite3_stmt *statement, kernel_standing *own)
{
    char role[16];
    *own = (kernel_standing){0};
    store_copy_text(statement, store_column(statement, "role"), role, sizeof role);
    own->role = kernel_role_from_word(role);
    for (int scope = 0; scope < SCOPES; scope++)
        own->errors[scope].error = NAN;
    store_take(store, statement, FIELDS(standing_fields), own);
}

static void take_sum(const result_store *store, sqlite3_stmt *statement, error_sum *sum)
{
    store_take(store, statement, FIELDS(sum_fields), sum);
}

/* The scope of a row; SCOPES: nothing was judged. */
static int scope_of(sqlite3_stmt *statement)
{
    static const char *const names[] = {"all", "any", "ordinary", "edge_case", "adversarial"};
    char word[16];
    store_copy_text(statement, store_column(statement, "scope"), word, sizeof word);
    return (int)word_find(word, WORDS(names));
}

standing_list store_standings(result_store *store, int64_t run)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_STANDING, "is", run, "");
    standing_list list = {0};
    while (store_next(store, statement)) {
        kernel_standing read;
        const kernel_standing *last =
            list.count ? &list.standings[list.count - 1] : NULL; /* its rows stand together */
        int scope = scope_of(statement);
        take_standing(store, statement, &read);
        if (is_roof(read.kernel))
            continue;
        if (!last || strcmp(last->kernel, read.kernel) != 0 || last->dtype != read.dtype) {
            list.standings = allocate_room(list.standings, list.count, sizeof *list.standings);
            list.standings[list.count++] = read;
        }
        if (scope < SCOPES)
            take_sum(store, statement, &list.standings[list.count - 1].errors[scope]);
    }
    return list;
}

const kernel_standing *standing_of(const standing_list *list, const char *kernel, ln_type dtype)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->standings[i].dtype == dtype && strcmp(list->standings[i].kernel, kernel) == 0)
            return &list->standings[i];
    return NULL;
}

/* ---- which kernel to call ---- */

static void take_role(const result_store *store, sqlite3_stmt *statement, void *row)
{
    char role[16];
    (void)store;
    store_copy_text(statement, store_column(statement, "role"), role, sizeof role);
    ((ranked_kernel *)row)->role = kernel_role_from_word(role);
}

/* The words as a JSON array; "": all kernels. */
static char *words_json(const word_list *words)
{
    json_t *array = json_array();
    for (size_t i = 0; words && i < words->count; i++)
        json_array_append_new(array, json_string(words->words[i]));
    char *json = words && words->count ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return json;
}

static void note_answers(kernel_ranking *ranking)
{
    for (size_t i = ranking->count; i-- > 0;) {
        const ranked_kernel *own = &ranking->kernels[i];
        if (own->recommended)
            ranking->recommended = own;
        if (own->case_id && own->within && own->callable && own->proven && !own->doubt[0])
            ranking->proven = own;
        if (own->case_id && own->role != ROLE_PEER && !own->other_param)
            ranking->fastest = own;
    }
    const ranked_kernel *call = ranking->recommended;
    for (size_t i = ranking->count; call && i-- > 0;) {
        const ranked_kernel *own = &ranking->kernels[i];
        if (own->case_id && own->within && !own->callable && !own->doubt[0] &&
            strcmp(own->kernel, call->dispatched) != 0 &&
            own->copy_ratio > 1.1 * call->copy_ratio && own->copy_ratio_lo > call->copy_ratio_hi)
            ranking->tuned = own;
    }
}

static sqlite3_stmt *bound_at(result_store *store, statement_kind kind,
                              const recommend_wanted *wanted, const char *words)
{
    const case_key *at = &wanted->at;
    sqlite3_stmt *statement = store_statement(store, kind);
    store_bind(statement, 2, "ss", operation_name(at->operation), dtype_name(at->dtype));
    store_bind(statement, 7, "siisis", at->convention, (int64_t)at->rows, (int64_t)at->hidden,
               cache_name(at->cache), (int64_t)at->threads, at->input);
    store_bind(statement, 13, "ss", wanted->param, words);
    return statement;
}

kernel_ranking store_recommend(result_store *store, const recommend_wanted *wanted)
{
    static const record_field fields[] = {
        TEXT_FIELD(ranked_kernel, kernel),
        TEXT_FIELD(ranked_kernel, dispatched),
        FIELD(COUNT, ranked_kernel, case_id),
        FIELD(REAL, ranked_kernel, time_ns),
        FIELD(REAL, ranked_kernel, time_lo_ns),
        FIELD(REAL, ranked_kernel, time_hi_ns),
        FIELD(REAL, ranked_kernel, copy_ratio),
        FIELD(REAL, ranked_kernel, copy_ratio_lo),
        FIELD(REAL, ranked_kernel, copy_ratio_hi),
        FIELD(COUNT, ranked_kernel, judged),
        FIELD(REAL, ranked_kernel, error),
        FIELD(COUNT, ranked_kernel, worst),
        FIELD(FLAG, ranked_kernel, callable),
        FIELD(FLAG, ranked_kernel, other_param),
        FIELD(FLAG, ranked_kernel, proven),
        FIELD(FLAG, ranked_kernel, in_budget),
        TEXT_FIELD(ranked_kernel, doubt),
        FIELD(FLAG, ranked_kernel, within),
        FIELD(FLAG, ranked_kernel, near),
        FIELD(FLAG, ranked_kernel, recommended),
        FIELD(FLAG, ranked_kernel, sooner_than_fastest),
        FIELD(FLAG, ranked_kernel, sooner_than_best),
    };
    static const row_form form = {sizeof(ranked_kernel), FIELDS(fields), take_role};
    char *words = words_json(wanted->kernels);
    kernel_ranking ranking = {0};
    sqlite3_stmt *statement = bound_at(store, STATEMENT_RECOMMENDED, wanted, words);
    store_bind(statement, 1, "i", wanted->run);
    store_bind(statement, 4, "did", wanted->budget, (int64_t)wanted->proven, wanted->kappa);
    ranking.count = store_list(store, statement, &form, &ranking.kernels);
    free(words);
    note_answers(&ranking);
    return ranking;
}

const ranked_kernel *ranked_of(const kernel_ranking *ranking, const char *kernel)
{
    for (size_t i = 0; i < ranking->count; i++)
        if (strcmp(ranking->kernels[i].kernel, kernel) == 0)
            return &ranking->kernels[i];
    return NULL;
}

int64_t store_timed_run(result_store *store, const recommend_wanted *wanted, const char *machine)
{
    char *words = words_json(wanted->kernels);
    int64_t run = 0;
    for (int i = 0; run == 0 && i < 4; i++) {
        sqlite3_stmt *statement = bound_at(store, STATEMENT_TIMED_RUN, wanted, words);
        store_bind(statement, 4, "si", i < 2 ? machine : "", (int64_t)(i % 2 == 0));
        run = store_number(store, statement);
    }
    free(words);
    return run;
}

/* ---- errors ---- */

static void take_input_sum(const result_store *store, sqlite3_stmt *statement, void *row)
{
    take_sum(store, statement, &((input_error *)row)->sum);
}

size_t store_input_errors(result_store *store, int64_t run, const char *convention,
                          input_error **errors)
{
    static const record_field fields[] = {
        TEXT_FIELD(input_error, kernel),
        WORD_FIELD(input_error, dtype, dtype_names),
        {"scope", FIELD_TEXT, offsetof(input_error, input), INPUT_MAX_LENGTH - 1, NULL},
    };
    static const row_form form = {sizeof(input_error), FIELDS(fields), take_input_sum};
    return store_list(store, store_bound(store, STATEMENT_STANDING, "is", run, convention), &form,
                      errors);
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
