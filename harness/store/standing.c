#include "store/standing.h"
#include "base/arena.h"
#include "base/text.h"
#include "domain/coverage.h"
#include "recommended_sql.h" /* the SQL files of the same names, as bytes */
#include "standing_sql.h"
#include "store/internal.h"
#include <math.h>

standing_list store_standings(result_store *store, int64_t run)
{
    static const record_field fields[] = {FIELD(NAME, kernel_standing, kernel),
                                          WORD_FIELD(kernel_standing, dtype, dtype_names),
                                          WORD_FIELD(kernel_standing, role, kernel_role_words),
                                          FIELD(REAL, kernel_standing, missing_from),
                                          FIELD(FLAG, kernel_standing, rounded),
                                          FIELD(COUNT, kernel_standing, fault),
                                          WORD_FIELD(kernel_standing, operation, operation_names)};
    static const record_field sum_fields[] = {
        FIELD(COUNT, error_sum, judged),
        FIELD_AT(COUNT, error_sum, "failed", wrong),
        FIELD_AT(COUNT, error_sum, "type_limited", limited),
        FIELD_AT(COUNT, error_sum, "has_correct_digits", with_digits),
        FIELD(COUNT, error_sum, checked),
        FIELD(COUNT, error_sum, untimed),
        FIELD(REAL, error_sum, error),
        FIELD_AT(COUNT, error_sum, "case_id", at)};
    static const char *const scopes[] = {"all", "any", "ordinary", "edge_case", "adversarial"};
    sqlite3_stmt *statement = store_bound(store, standing_sql, "i", run);
    standing_list list = {0};
    while (store_next(store, statement)) {
        kernel_standing read = {0};
        kernel_standing *last = list.count ? &list.standings[list.count - 1] : NULL;
        size_t scope = word_find(store_text(statement, 6), WORDS(scopes)); /* none: not judged */
        store_take(store, statement, FIELDS(fields), &read);
        for (int i = 0; i < SCOPES; i++)
            read.errors[i].error = NAN;
        if (is_copy(read.kernel))
            continue;
        /* The rows of a kernel and type are adjacent. */
        if (!last || strcmp(last->kernel, read.kernel) != 0 || last->dtype != read.dtype) {
            list.standings = allocate_room(list.standings, list.count, sizeof *list.standings);
            last = &list.standings[list.count++];
            *last = read;
        }
        if (scope < SCOPES)
            store_take(store, statement, FIELDS(sum_fields), &last->errors[scope]);
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

/* Returns the names as a JSON array, or NULL if there are none, which means all kernels. */
static char *words_json(const word_list *words)
{
    if (!words || words->count == 0)
        return NULL;
    json_t *array = list_words(words);
    char *json = json_dumps(array, JSON_COMPACT);
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

/* Binds the parameters that both queries share; recommended.sql lists their numbers. */
static sqlite3_stmt *bound_at(result_store *store, const char *sql, const recommend_request *wanted,
                              const char *words)
{
    const case_key *at = &wanted->at;
    sqlite3_stmt *statement = store_bound(store, sql, "");
    store_bind(statement, 2, "ss", operation_name(at->operation), dtype_name(at->dtype));
    store_bind(statement, 7, "siisis", at->convention, (int64_t)at->rows, (int64_t)at->hidden,
               cache_name(at->cache), (int64_t)at->threads, at->input);
    store_bind(statement, 13, "ss", wanted->param, words);
    return statement;
}

kernel_ranking store_recommend(result_store *store, const recommend_request *wanted)
{
    static const record_field fields[] = {FIELD(NAME, ranked_kernel, kernel),
                                          WORD_FIELD(ranked_kernel, role, kernel_role_words),
                                          FIELD(TEXT, ranked_kernel, dispatched),
                                          FIELD(COUNT, ranked_kernel, case_id),
                                          FIELD(REAL, ranked_kernel, time_ns),
                                          FIELD(REAL, ranked_kernel, time_lo_ns),
                                          FIELD(REAL, ranked_kernel, time_hi_ns),
                                          FIELD(REAL, ranked_kernel, copy_ratio),
                                          FIELD(REAL, ranked_kernel, copy_ratio_lo),
                                          FIELD(REAL, ranked_kernel, copy_ratio_hi),
                                          FIELD(COUNT, ranked_kernel, judged),
                                          FIELD(REAL, ranked_kernel, error),
                                          FIELD(FLAG, ranked_kernel, callable),
                                          FIELD(FLAG, ranked_kernel, other_param),
                                          FIELD(FLAG, ranked_kernel, proven),
                                          FIELD(FLAG, ranked_kernel, in_budget),
                                          FIELD(TEXT, ranked_kernel, doubt),
                                          FIELD(FLAG, ranked_kernel, within),
                                          FIELD(FLAG, ranked_kernel, near),
                                          FIELD(FLAG, ranked_kernel, recommended),
                                          FIELD(FLAG, ranked_kernel, sooner_than_fastest),
                                          FIELD(FLAG, ranked_kernel, sooner_than_best)};
    char *words = words_json(wanted->kernels);
    kernel_ranking ranking = {0};
    sqlite3_stmt *statement = bound_at(store, recommended_sql, wanted, words);
    store_bind(statement, 1, "i", wanted->run);
    store_bind(statement, 4, "did", wanted->budget, (int64_t)wanted->proven, wanted->kappa);
    ranking.count =
        store_list(store, statement, sizeof *ranking.kernels, FIELDS(fields), &ranking.kernels);
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

int64_t store_timed_run(result_store *store, const recommend_request *wanted, const char *machine)
{
    /* ?4: the machine or ''. ?5: only runs that timed the library's calls and ran the conformance tests. */
    static const char sql[] =
        "SELECT id FROM runs WHERE (?4 = '' OR machine = ?4) AND (NOT ?5 OR triples > 0) AND "
        "EXISTS (SELECT 1 FROM timed LEFT JOIN kernels ON kernels.run = timed.run AND name = "
        "kernel WHERE timed.run = runs.id AND operation = ?2 AND types = ?3 AND convention = ?7 "
        "AND rows = ?8 AND hidden = ?9 AND cache = ?10 AND threads = ?11 AND input = ?12 AND NOT "
        "is_copy AND (NOT ?5 OR ?14 <> '' OR role = 'library') AND (?13 = '' OR descriptor ->> "
        "'$.param' = ?13) AND (?14 = '' OR EXISTS (SELECT 1 FROM json_each(?14) AS word WHERE "
        "kernel_matches(word.value, kernel) OR descriptor ->> '$.label' = word.value))) ORDER BY "
        "id "
        "DESC LIMIT 1";
    char *words = words_json(wanted->kernels);
    int64_t run = 0;
    for (int i = 0; run == 0 && i < 4; i++) {
        sqlite3_stmt *statement = bound_at(store, sql, wanted, words);
        store_bind(statement, 4, "si", i < 2 ? machine : "", (int64_t)(i % 2 == 0));
        run = store_number_of(store, statement);
    }
    free(words);
    return run;
}

/* ---- errors ---- */

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

const char *standing_objection(const kernel_standing *own, const case_verdict *worst,
                               char words[OBJECTION_WORDS])
{
    char number[ERROR_WORDS], largest[48];
    const error_sum *all = &own->errors[SCOPE_ALL], *edge = &own->errors[SCOPE_EDGE_CASES];
    size_t wrong = all->wrong + all->limited;
    double size = own->errors[wrong ? SCOPE_NO_EDGE_CASES : SCOPE_ALL].error;
    const char *figure = error_in_words(size, own->dtype, worst, number);
    bool edge_alone = wrong == edge->wrong + edge->limited;
    const bool is_figure = isfinite(size) && size < dtype_no_digit(own->dtype);
    const char *how = all->wrong ? "fails" : is_figure ? "larger or NaN" : "loses digits";
    if (is_figure)
        snprintf(largest, sizeof largest, "errors up to %s row ULP", figure);
    else
        snprintf(largest, sizeof largest, "%s",
                 isfinite(size)               ? "no correct digit on some rows"
                 : strcmp(figure, "NaN") != 0 ? "faults on some rows"
                 : worst                      ? "NaN on some rows"
                                              : "NaN or faults on some rows");
    if (all->judged == 0)
        snprintf(words, OBJECTION_WORDS, "was not judged");
    else if (wrong == 0)
        snprintf(words, OBJECTION_WORDS, "has %s", largest);
    else if (edge_alone)
        snprintf(words, OBJECTION_WORDS, "has %s (%s in %zu edge case%s)", largest, how, wrong,
                 plural(wrong));
    else
        snprintf(words, OBJECTION_WORDS, "has %s (%s in %zu of %zu cases)", largest, how, wrong,
                 all->judged);
    return words;
}
