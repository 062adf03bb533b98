/* Reads a stored run, writes its cases as JSON, and makes its answer: the columns and rows of its table, the
 * recommended kernel, and the sentences. The sentences take every figure from a row of the answer, so that they and the
 * table agree. */
#include "show/answer.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/die.h"
#include "domain/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the stored run ---- */

ln_operation view_operation(const run_view *part)
{
    return part->standings.count ? part->standings.standings[0].operation : LN_OPERATION_LAYERNORM;
}

bool view_next_part(const run_view *whole, run_view *part)
{
    kernel_standing *all = whole->standings.standings, *first = all;
    const size_t count = whole->standings.count;
    if (part->store)
        first = part->standings.standings + part->standings.count;
    if (part->store && first == all + count)
        return false;
    *part = *whole;
    part->owns_store = false;
    part->standings = (standing_list){.standings = first};
    part->others = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].operation == first->operation)
            part->standings.count++;
        else
            part->others |= OPERATION_BIT(all[i].operation);
    return true;
}

void view_free(run_view *view)
{
    machine_free(&view->machine);
    free(view->standings.standings);
    json_decref(view->kernels);
    if (view->owns_store)
        store_close(view->store);
    *view = (struct run_view){0};
}

json_t *json_facts(const machine_facts *machine)
{
    json_t *object = json_object();
    for (size_t i = 0; i < machine->count; i++)
        json_object_set_new(object, machine->facts[i].name, json_text(machine->facts[i].value));
    return object;
}

bool view_is_partial(const run_view *view)
{
    return view->run.state != RUN_COMPLETE || view->run.counts.missing > 0;
}

void view_add_coverage(const run_view *view, text_buffer *out)
{
    const run_counts *counts = &view->run.counts;
    const bool ended = view->run.state == RUN_COMPLETE;
    coverage covered = {.requested = counts->requested, .unsupported = counts->unsupported};
    stored_table lost =
        store_ask(view->store,
                  "SELECT format('%s %s %s %dx%d', kernel, convention, input, rows, hidden) AS "
                  "name, reason FROM missing WHERE run = ?1 ORDER BY case_id LIMIT ?2",
                  "ii", view->run.id, (int64_t)COVERAGE_NAMED);
    for (size_t i = 0; i < lost.rows; i++)
        coverage_missing(&covered, table_text(&lost, i, "name"), table_text(&lost, i, "reason"));
    covered.missing = counts->missing;
    covered.done = counts->requested - counts->unsupported - counts->missing;
    coverage_add_line(out, &covered, "judged");
    if (!ended)
        text_add(out, "; the run did not finish");
    coverage_free(&covered);
    stored_table_free(&lost);
}

json_t *verdict_json(const case_verdict *verdict)
{
    return json_pack("{s:s?, s:s, s:o}", "verdict", verdict_word(verdict->kind), "reason",
                     verdict_reason(verdict->kind), "detail", json_text(verdict->detail));
}

relation_value as_verdict(const case_verdict *verdict)
{
    char described[VERDICT_MAX_LENGTH];
    return as_json(verdict_json(verdict), verdict_describe(verdict, described, sizeof described));
}

relation_value as_class(const char *word)
{
    return as_json(reproducible_json(word), word);
}

json_t *case_json(const stored_case *stored, const char *label, const char *class,
                  const char *regime)
{
    const ln_metrics *measured = &stored->metrics;
    const digits_state digits = stored_digits(stored);
    json_t *object = case_key_json(&stored->key), *metrics = json_null();
    char hash[20]; /* 64 bits as hex: JSON numbers are exact to 53 bits only */
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)stored->output_hash);
    if (stored->judged && measured->elements > 0) { /* a kernel that crashed has no errors */
        /* The fraction of elements in each bin; results/README.md has the edges. */
        json_t *histogram = json_array();
        uint64_t all = 0;
        for (size_t i = 0; i < ULP_BINS; i++)
            all += measured->ulp_histogram[i];
        for (size_t i = 0; all > 0 && i < ULP_BINS; i++)
            json_array_append_new(histogram,
                                  json_real((double)measured->ulp_histogram[i] / (double)all));
        metrics = metrics_json(measured);
        json_object_set_new(metrics, "ulp_histogram", histogram);
    }
    json_object_update_new(
        object,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "label",
                  label && label[0] ? json_text(label) : json_null(), "regime", json_text(regime),
                  "reproducibility", reproducible_json(class), "has_correct_digits",
                  digits == DIGITS_UNKNOWN ? json_null() : json_boolean(digits == DIGITS_YES),
                  "bound_row_ulp", json_figure(stored->bound_row_ulp), "output_hash",
                  stored->hashed ? json_string(hash) : json_null(), "metrics", metrics, "speed",
                  stored->speed.repetitions ? speed_json(&stored->speed) : json_null()));
    json_object_update_new(object, verdict_json(&stored->verdict));
    return object;
}

json_t *view_run_json(const run_view *view)
{
    json_t *array = json_array();
    stored_table ids = store_ask(view->store,
                                 "SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE "
                                 "run = ?1 ORDER BY cases.id",
                                 "i", view->run.id);
    for (size_t i = 0; i < ids.rows; i++) {
        stored_case stored;
        const case_key *key = &stored.key;
        if (store_case(view->store, ids.cells[i].whole, &stored))
            json_array_append_new(
                array, case_json(&stored, descriptor_word(view->kernels, key->kernel, "label"),
                                 reproducible_stored(view->kernels, key->kernel),
                                 machine_regime(&view->machine, key->operation, key->rows,
                                                key->hidden, key->dtype)));
    }
    stored_table_free(&ids);
    return array;
}

/* ---- columns ---- */

/* Selects one row for each timed case of the answer's operation and type, ordered by column. level: the number of the
 * cache level. The key column is the one nearest to L2 and to a hidden size of 768. name: "L2 768", with more words
 * where columns would have equal names. */
static stored_table ask_speeds(const run_answer *answer)
{
    static const char sql[] =
        "WITH own AS (SELECT *, CASE cache WHEN 'hot' THEN 0 WHEN 'cold' THEN 1 WHEN 'in-place' "
        "THEN 2 ELSE 3 END AS state, CASE regime WHEN 'L1' THEN 0 WHEN 'L2' THEN 1 WHEN 'L3' THEN "
        "2 ELSE 3 END AS level, min(case_id) OVER (PARTITION BY convention, input, rows, hidden, "
        "cache, threads) AS place FROM timed WHERE run = ?1 AND operation = ?2 AND types = ?3 AND "
        "repetitions > 0), "
        "numbered AS (SELECT *, dense_rank() OVER (ORDER BY state, threads, level, hidden, place) "
        "- 1 AS number, place = first_value(place) OVER near AS is_key, time_hi_ns - "
        "time_lo_ns > 2 * ?5 * time_ns AS noisy, regime || ' ' || "
        "iif(min(place) OVER alike = max(place) OVER alike, '', rows || 'x') || hidden || "
        "iif(cache = 'hot', '', ' ' || cache) || iif(threads = first_value(threads) OVER near, "
        "'', ' ' || threads || 't') AS name FROM own "
        "WINDOW alike AS (PARTITION BY hidden, cache, threads, regime), near AS (ORDER BY "
        "abs(ln(hidden / 768.0)) + 10 * abs(level - 1) + 100 * state + 100 * (threads - 1), "
        "state, threads, level, hidden, place)) "
        "SELECT * FROM numbered WHERE number < ?4 ORDER BY number, case_id";
    return store_ask(answer->view->store, sql, "issid", answer->view->run.id,
                     operation_name(view_operation(answer->view)), dtype_name(answer->dtype),
                     (int64_t)ANSWER_COLUMNS, SPEED_NOISY);
}

/* Makes the columns, with the speed of the fastest copy in each. */
static void make_columns(run_answer *answer, const stored_table *timed)
{
    for (size_t i = 0; i < timed->rows; i++) {
        const size_t number = (size_t)table_whole(timed, i, "number");
        answer_column *column = &answer->columns[number];
        stored_case first;
        if (number == answer->column_count &&
            store_case(answer->view->store, table_whole(timed, i, "case_id"), &first)) {
            *column = (answer_column){.key = first.key,
                                      .regime = regime_names[table_whole(timed, i, "level")],
                                      .copy_gbps = NAN,
                                      .copy_noisy = ""};
            text_copy(column->name, sizeof column->name, table_text(timed, i, "name"));
            answer->key = table_whole(timed, i, "is_key") ? number : answer->key;
            answer->column_count++;
        }
        if (table_whole(timed, i, "is_copy") && table_real(timed, i, "copy_ratio") == 1) {
            column->copy_gbps = table_real(timed, i, "gbps");
            column->copy_noisy = table_whole(timed, i, "noisy") ? "!" : "";
            text_copy(column->key.kernel, NAME_MAX_LENGTH, table_text(timed, i, "kernel"));
        }
    }
}

/* ---- rows ---- */

/* Compares two figures in ascending order; an undefined one comes last. */
static int compare_figures(double own, double other)
{
    return isnan(own) || isnan(other) ? isnan(own) - isnan(other) : (own > other) - (own < other);
}

/* Orders rows by speed, the fastest first: by the stored copy ratio, which is paired round by round, or by the time if
 * no copy was timed. Rows that were not timed come last, the most accurate first. */
static int by_speed(const void *a, const void *b)
{
    const answer_row *left = a, *right = b;
    const ranked_kernel *own = left->ranked, *other = right->ranked;
    int by_share = compare_figures(-own->copy_ratio, -other->copy_ratio);
    int by_time = compare_figures(own->time_ns, other->time_ns);
    int by_error = own->case_id
                       ? 0
                       : compare_figures(left->standing->errors[SCOPE_NO_EDGE_CASES].error,
                                         right->standing->errors[SCOPE_NO_EDGE_CASES].error);
    return by_share   ? by_share
           : by_time  ? by_time
           : by_error ? by_error
                      : strcmp(left->kernel, right->kernel);
}

static void make_rows(const run_view *view, run_answer *answer, const stored_table *timed)
{
    static const ranked_kernel none = {
        .time_ns = NAN, .copy_ratio = NAN, .doubt = "its speed was not measured"};
    answer->rows = allocate_zeroed(view->standings.count + 1, sizeof *answer->rows);
    for (size_t i = 0; i < view->standings.count; i++) {
        const kernel_standing *standing = &view->standings.standings[i];
        const error_sum *all = &standing->errors[SCOPE_ALL];
        if (standing->dtype != answer->dtype)
            continue;
        const ranked_kernel *ranked = ranked_of(&answer->ranking, standing->kernel);
        answer_row *row = &answer->rows[answer->count++];
        *row = (answer_row){.kernel = standing->kernel,
                            .standing = standing,
                            .ranked = ranked ? ranked : &none,
                            .all = all,
                            .label = descriptor_word(view->kernels, standing->kernel, "label"),
                            .reproducible = reproducible_stored(view->kernels, standing->kernel),
                            .speedup = NAN};
        answer->cases = all->judged > answer->cases ? all->judged : answer->cases;
        for (size_t k = 0; k < timed->rows; k++)
            if (strcmp(table_text(timed, k, "kernel"), standing->kernel) == 0)
                row->cells[table_whole(timed, k, "number")] =
                    (speed_figures){.time_ns = table_real(timed, k, "time_ns"),
                                    .gbps = table_real(timed, k, "gbps"),
                                    .copy_ratio = table_real(timed, k, "copy_ratio"),
                                    .copy_ratio_lo = table_real(timed, k, "copy_ratio_lo"),
                                    .copy_ratio_hi = table_real(timed, k, "copy_ratio_hi"),
                                    .repetitions = (unsigned)table_whole(timed, k, "repetitions")};
    }
    qsort(answer->rows, answer->count, sizeof *answer->rows, by_speed);
    for (size_t i = 0; i < answer->count; i++) {
        const speed_figures *cell = &answer->rows[i].cells[answer->key];
        answer->rows[i].at_key = cell->repetitions ? cell : NULL;
    }
}

/* Returns the fastest callable row that is accurate enough, even if a doubt prevents its recommendation, or NULL. */
static const answer_row *first_accurate(const run_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->rows[i].ranked->callable && answer->rows[i].ranked->within)
            return &answer->rows[i];
    return NULL;
}

static const answer_row *row_of(const run_answer *answer, const ranked_kernel *ranked)
{
    for (size_t i = 0; ranked && i < answer->count; i++)
        if (answer->rows[i].ranked == ranked)
            return &answer->rows[i];
    return NULL;
}

/* Marks the fastest of all kernels, or of those that can be recommended, and up to two others that may be faster. If
 * speeds are too noisy, also marks the recommended one. */
static void find_maybe_fastest(run_answer *answer, int of)
{
    enum { MOST = 3 };
    const kernel_ranking *ranking = &answer->ranking;
    const ranked_kernel *first = of == OF_ALL ? ranking->fastest : NULL;
    for (size_t i = 0; of == OF_CALLABLE && !first && i < ranking->count; i++)
        first = ranking->kernels[i].near ? &ranking->kernels[i] : NULL;
    for (size_t i = 0; first && i < answer->count && answer->maybe_fastest_count[of] < MOST; i++) {
        answer_row *row = &answer->rows[i];
        row->maybe_fastest[of] =
            row->ranked == first ||
            (of == OF_ALL ? row->ranked->sooner_than_fastest : row->ranked->sooner_than_best);
        answer->maybe_fastest_count[of] += row->maybe_fastest[of];
    }
    for (size_t i = 0;
         of == OF_CALLABLE && answer->maybe_fastest_count[of] > 1 && i < answer->count; i++)
        if (answer->rows[i].ranked->recommended && !answer->rows[i].maybe_fastest[of]) {
            answer->rows[i].maybe_fastest[of] = true;
            answer->maybe_fastest_count[of]++;
        }
}

/* Returns whether a row is the fastest of its textbook form or of its peer. The rows are in order of speed. */
static bool is_best(const run_answer *answer, size_t row)
{
    const json_t *kernels = answer->view->kernels;
    const answer_row *own = &answer->rows[row];
    const char *key = own->standing->role == ROLE_PEER ? "source" : "statistics";
    const char *kind = descriptor_word(kernels, own->kernel, key);
    for (size_t i = 0; i < row; i++)
        if (answer->rows[i].standing->role == own->standing->role &&
            strcmp(descriptor_word(kernels, answer->rows[i].kernel, key), kind) == 0)
            return false;
    return own->all->judged > 0 || own->at_key;
}

/* Chooses the rows of the short table: the fastest, the recommended kernel, all of the library and of plugins, then the
 * best of each peer and of each textbook form, in the order of the kernel table, as long as there is room. */
static void choose_rows(run_answer *answer)
{
    const answer_row *accurate = first_accurate(answer);
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        kernel_role role = row->standing->role;
        bool measured = row->all->judged > 0 || row->at_key;
        row->shown = row->maybe_fastest[OF_ALL] || row->maybe_fastest[OF_CALLABLE] ||
                     row == accurate || row == answer->recommended || row == answer->proven ||
                     row == answer->tuned ||
                     (measured && (role == ROLE_LIBRARY || role == ROLE_PLUGIN)) ||
                     (role == ROLE_PEER && is_best(answer, i));
        count += row->shown && role != ROLE_PLUGIN;
    }
    const json_t *kernels = answer->view->kernels;
    for (size_t form = 0; form < json_array_size(kernels); form++) {
        const char *statistics =
            json_string_value(json_object_get(json_array_get(kernels, form), "statistics"));
        for (size_t i = 0; statistics && i < answer->count && count < ANSWER_ROWS; i++) {
            answer_row *row = &answer->rows[i];
            if (row->shown || row->standing->role != ROLE_TEXTBOOK || !is_best(answer, i) ||
                strcmp(descriptor_word(kernels, row->kernel, "statistics"), statistics) != 0)
                continue;
            row->shown = true;
            count++;
        }
    }
}

/* Ranks the kernels at the key column, and finds the ISA that labels leave out. */
static void rank(const run_view *view, run_answer *answer)
{
    const standing_list *standings = &view->standings;
    *answer = (run_answer){.view = view,
                           .dtype = standings->count ? standings->standings[0].dtype : LN_F32,
                           .isa = ""};
    for (size_t i = 0; i < standings->count; i++)
        if (standings->standings[i].dtype == LN_F32)
            answer->dtype = LN_F32;
    stored_table timed = ask_speeds(answer);
    make_columns(answer, &timed);
    recommend_request wanted = {.run = view->run.id, .budget = STANDING_ROW_ULP, .kappa = NAN};
    if (answer->column_count > 0)
        wanted.at = answer->columns[answer->key].key;
    wanted.at.operation = view_operation(view);
    wanted.at.dtype = answer->dtype;
    answer->ranking = store_recommend(view->store, &wanted);
    make_rows(view, answer, &timed);
    stored_table_free(&timed);
    find_maybe_fastest(answer, OF_ALL);
    const answer_row *fastest = row_of(answer, answer->ranking.fastest);
    const answer_row *named = fastest ? fastest : first_accurate(answer);
    answer->isa = named ? descriptor_word(view->kernels, named->kernel, "isa") : "";
}

void answer_make(const run_view *view, run_answer *answer)
{
    rank(view, answer);
    for (size_t i = answer->count; i-- > 0;) /* the fastest last, so that it is kept */
        if (answer->rows[i].standing->role == ROLE_PEER && answer->rows[i].at_key)
            answer->peer = &answer->rows[i];
    for (size_t i = 0; answer->peer && i < answer->count; i++)
        answer->rows[i].speedup = answer_speedup(answer->rows[i].ranked, answer->peer->ranked);
    find_maybe_fastest(answer, OF_CALLABLE);
    answer->noisy =
        answer->maybe_fastest_count[OF_ALL] > 1 || answer->maybe_fastest_count[OF_CALLABLE] > 1;
    if (answer->maybe_fastest_count[OF_ALL] == 1)
        answer->fastest = row_of(answer, answer->ranking.fastest);
    for (size_t i = 0; answer->fastest && i < answer->count; i++) {
        const ranked_kernel *own = answer->rows[i].ranked, *fastest = answer->fastest->ranked;
        answer->unsure |= own->role != ROLE_PEER && own->copy_ratio < 0.9 * fastest->copy_ratio &&
                          own->copy_ratio_hi > fastest->copy_ratio;
    }
    answer->recommended = row_of(answer, answer->ranking.recommended);
    answer->tuned = row_of(answer, answer->ranking.tuned);
    if (answer->recommended && !answer->recommended->ranked->proven)
        answer->proven = row_of(answer, answer->ranking.proven);
    choose_rows(answer);
}

void answer_free(run_answer *answer)
{
    free(answer->rows);
    free(answer->ranking.kernels);
    *answer = (run_answer){0};
}

run_view view_load(result_store *store, int64_t run)
{
    run_view view = {.store = store,
                     .run = store_run(store, run),
                     .machine = store_machine(store, run),
                     .kernels = store_kernels(store, run),
                     .standings = store_standings(store, run)};
    /* Give the descriptors the labels that the answers print. */
    for (run_view part = {0}; view_next_part(&view, &part);) {
        run_answer answer;
        rank(&part, &answer);
        kernel_labels_set(view.kernels, view_operation(&part), answer.isa);
        answer_free(&answer);
    }
    return view;
}

run_view load_stored_run(const char *database, uint64_t wanted)
{
    result_store *store = store_open(database, STORE_READ);
    int64_t run = wanted ? (int64_t)wanted : store_latest_run(store);
    run_view view = view_load(store, run);
    view.owns_store = true;
    return view;
}

/* ---- names and numbers ---- */

const char *answer_error_words(const run_answer *answer, const error_sum *sum,
                               char words[ERROR_WORDS])
{
    stored_case at;
    bool known = isinf(sum->error) && store_case(answer->view->store, sum->at, &at);
    return error_in_words(sum->error, answer->dtype, known ? &at.verdict : NULL, words);
}

double answer_speedup(const ranked_kernel *own, const ranked_kernel *base)
{
    const double ratio = own->copy_ratio / base->copy_ratio;
    return isnan(ratio) ? base->time_ns / own->time_ns : ratio;
}

const char *answer_speedup_words(const ranked_kernel *own, const ranked_kernel *base,
                                 char words[SPEEDUP_WORDS])
{
    const double ratio = answer_speedup(own, base);
    const double least = own->copy_ratio_lo / base->copy_ratio_hi;
    const double most = own->copy_ratio_hi / base->copy_ratio_lo;
    char number[16];
    if (ratio > 0.95 && ratio < 1.05)
        snprintf(words, SPEEDUP_WORDS, "about as fast");
    else
        snprintf(words, SPEEDUP_WORDS, "%s%s times as fast",
                 most < 1.3 * least && (least > 1 || most < 1) ? "" : "perhaps ",
                 answer_times(ratio, number));
    return words;
}

const char *answer_times(double ratio, char buffer[16])
{
    snprintf(buffer, 16, ratio >= 10 ? "%.0f" : ratio >= 1 ? "%.1f" : "%.2f", ratio);
    return isnan(ratio) ? "-" : buffer;
}

double answer_spread(const ranked_kernel *own)
{
    return (own->time_hi_ns - own->time_lo_ns) / 2 / own->time_ns;
}

const char *answer_role_word(const run_answer *answer, const answer_row *row)
{
    kernel_role role = row->standing->role;
    return role == ROLE_PLUGIN          ? kernel_role_words[role]
           : row == answer->recommended ? "recommended"
           : row == answer->fastest     ? answer->unsure ? "≈ fastest" : "fastest"
                                        : kernel_role_words[role];
}

/* ---- the sentences ---- */

/* Adds a name as number `i` of `count` to a list such as "a, b and c". */
static void add_listed(const char *name, size_t i, size_t count, text_buffer *out)
{
    clean_format(out, FORM_LINE, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", name);
}

/* Returns whether the answer compares the speed of a row with that of this peer. */
static bool is_compared(const answer_row *peer, const answer_row *row)
{
    return peer->standing->role == ROLE_PEER && peer->shown && !isnan(row->speedup / peer->speedup);
}

/* Adds "89.8 GB/s at 85x768 (L2), 1.1 times as fast as oneDNN 3.8.0 and 4.5 times as fast as PyTorch 1.13.0". */
static void add_speed(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    const answer_column *at = &answer->columns[answer->key];
    char number[16], low[16], high[16], words[SPEEDUP_WORDS];
    size_t peers = 0, count = 0;
    const ranked_kernel *own = row->ranked;
    const double spread = answer_spread(own);
    const double gbps = row->at_key->gbps, work = gbps * own->time_ns;
    text_format(out, "%s GB/s", number_short(gbps, number));
    if (spread > SPEED_NOISY)
        text_format(out, " [%s, %s]", number_short(work / own->time_hi_ns, low),
                    number_short(work / own->time_lo_ns, high));
    text_format(out, " at %zux%zu (%s)", at->key.rows, at->key.hidden, at->regime);
    for (size_t i = 0; i < answer->count; i++)
        peers += is_compared(&answer->rows[i], row);
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *peer = &answer->rows[i];
        if (!is_compared(peer, row))
            continue;
        text_add(out, count == 0 ? ", " : "");
        add_listed(answer_speedup_words(row->ranked, peer->ranked, words), count++, peers, out);
        clean_format(out, FORM_LINE, " as %s", peer->label);
    }
    const bool sure = !answer->unsure && spread <= SPEED_NOISY;
    if (peers == 0 && sure && row == answer->fastest && answer->ranking.count > 1)
        text_add(out, ", the fastest kernel");
}

/* Adds the kernels whose speed does not differ significantly from the recommended one's. */
static void add_near(const run_answer *answer, text_buffer *out)
{
    size_t near = 0, count = 0;
    for (size_t i = 0; i < answer->ranking.count; i++)
        near += answer->ranking.kernels[i].near && !answer->ranking.kernels[i].recommended;
    for (size_t i = 0; i < answer->ranking.count; i++) {
        const ranked_kernel *own = &answer->ranking.kernels[i];
        if (!own->near || own->recommended)
            continue;
        text_add(out, count == 0 ? "; " : "");
        add_listed(own->kernel, count++, near, out);
    }
    if (near > 0)
        text_format(out,
                    " show%s no significant difference in speed, so the smallest error decides",
                    near == 1 ? "s" : "");
}

/* Adds the recommended kernel and its speed, or why there is none. */
static void add_choice(const run_answer *answer, const answer_row *shown, text_buffer *out)
{
    const answer_row *own = answer->recommended;
    if (own) {
        clean_format(out, FORM_LINE,
                     own->ranked->dispatched[0] ? "Recommended: %s (dispatches to %s), "
                                                : "Recommended: %s, ",
                     own->kernel, own->ranked->dispatched);
        add_speed(answer, own, out);
        if (answer->maybe_fastest_count[OF_CALLABLE] <= 1)
            add_near(answer, out);
        text_add(out, ".\n");
        return;
    }
    size_t untimed = 0;
    for (size_t i = 0; i < answer->count; i++)
        untimed += answer->rows[i].all->untimed;
    /* A run may have measured only speed, or only accuracy. */
    if (answer->column_count == 0 || untimed == 0)
        text_format(out, "No kernel is recommended, because %s.\n",
                    answer->column_count == 0 ? "speed was not measured"
                                              : "errors were judged on the timed rows only");
    else if (shown)
        clean_format(out, FORM_LINE, "No kernel is recommended: %s is accurate enough, but %s.\n",
                     shown->kernel, shown->ranked->doubt);
    else
        text_format(out,
                    "No kernel is recommended: no library call or plugin of this run stays within "
                    "%g row ULP in all cases, edge cases included.\n",
                    STANDING_ROW_ULP);
    if (shown && shown->at_key) {
        clean_format(out, FORM_LINE, "%s reaches ", shown->kernel);
        add_speed(answer, shown, out);
        text_add(out, ".\n");
    }
}

/* Adds how accurate the kernel is, and whether that is proven or measured. */
static void add_accuracy(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    char number[ERROR_WORDS], hunted[ERROR_WORDS], times[16];
    const error_sum *adversarial = &row->standing->errors[SCOPE_ADVERSARIAL];
    if (answer->recommended)
        text_add(out, "Its error ");
    else
        clean_format(out, FORM_LINE, "The error of %s ", row->kernel);
    const char *largest = answer_error_words(answer, row->all, number);
    text_format(out, "was at most %s row ULP in %s%zu judged case%s", largest,
                row->all->judged == 1 ? "the " : "all ", row->all->judged,
                plural(row->all->judged));
    if (adversarial->error > row->all->error &&
        strcmp(answer_error_words(answer, adversarial, hunted), largest) != 0)
        text_format(out, " (%s on adversarial rows, which a search for large errors found)",
                    hunted);
    if (row->ranked->proven)
        text_format(out, "; at most %g is proven for all but edge cases and conformance tests",
                    PROVEN(STANDING_ROW_ULP));
    else
        text_add(out, "; this is measured, not proven");
    if (answer->proven) {
        text_add(out, "; for all but edge cases and conformance tests, ");
        clean_format(out, FORM_LINE, "%s is proven to be within ", answer->proven->kernel);
        text_format(out, "%g row ULP and takes %s times as long", PROVEN(STANDING_ROW_ULP),
                    answer_times(answer_speedup(row->ranked, answer->proven->ranked), times));
    }
    text_add(out, ".\n");
}

/* Adds "library_fast_f32 is 1.7 times as fast, but has errors up to 6.8 row ULP", without a full stop. */
static void add_cost(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    stored_case worst;
    char times[SPEEDUP_WORDS], objection[OBJECTION_WORDS];
    const answer_row *own = answer->recommended;
    const error_sum *any = &row->standing->errors[SCOPE_NO_EDGE_CASES];
    const bool known = store_case(answer->view->store, any->at, &worst);
    clean_format(out, FORM_LINE, "%s is %s, but %s", row->kernel,
                 answer_speedup_words(row->ranked, own->ranked, times),
                 !row->ranked->within
                     ? standing_objection(row->standing, known ? &worst.verdict : NULL, objection)
                 : row->ranked->callable ? row->ranked->doubt
                                         : "no library call dispatches to it");
}

/* Returns the fastest call that is faster than the recommended kernel and passes all cases, but has errors beyond the
 * budget, or NULL. */
static const answer_row *fastest_right(const run_answer *answer)
{
    for (const answer_row *row = answer->rows; row < answer->recommended; row++)
        if (row->ranked->callable && !row->ranked->in_budget && !row->ranked->other_param &&
            !row->ranked->doubt[0] && row->all->wrong + row->all->limited == 0)
            return row;
    return NULL;
}

/* Adds the kernels that are faster than the recommended one, and their drawbacks. */
static void add_faster(const run_answer *answer, text_buffer *out)
{
    const answer_row *fastest = answer->fastest, *own = answer->recommended;
    char times[SPEEDUP_WORDS];
    for (int of = OF_CALLABLE; of >= OF_ALL; of--) {
        const size_t count = answer->maybe_fastest_count[of];
        size_t named = 0;
        if (count <= 1)
            continue;
        text_add(out, "Too noisy to say which is fastest of ");
        for (size_t i = 0; i < answer->count; i++)
            if (answer->rows[i].maybe_fastest[of])
                add_listed(answer->rows[i].kernel, named++, count, out);
        text_add(out, of == OF_ALL ? ", at any error.\n"
                                   : ": the one with the smallest error is recommended.\n");
    }
    bool costs =
        fastest && own && fastest != own && fastest != answer->tuned && !fastest->ranked->near;
    if (answer->tuned && own)
        clean_format(
            out, FORM_LINE, "%s is accurate enough and %s, but %s does not dispatch to it%s",
            answer->tuned->kernel, answer_speedup_words(answer->tuned->ranked, own->ranked, times),
            own->kernel, costs ? "; " : ".\n");
    if (!costs)
        return;
    add_cost(answer, fastest, out);
    const answer_row *right = fastest_right(answer);
    if (right && right != fastest) {
        text_add(out, "; ");
        add_cost(answer, right, out);
    }
    text_add(out, ".\n");
}

/* Writes the gravest failure of a kernel in the short table and its rows, such as "no correct digit on some rows
 * with |mean| above 1e4 std", or "". A row of kappa 1e4 has |mean| = 1e4 std. */
static void describe_failing(const run_answer *answer, const answer_row *row, char words[128])
{
    const error_sum *any = &row->standing->errors[SCOPE_NO_EDGE_CASES];
    char number[ERROR_WORDS];
    stored_case worst;
    if (row->shown && isfinite(row->standing->missing_from)) {
        snprintf(words, 128, "no correct digit on some rows with |mean| above 1e%.0f std",
                 floor(log10(row->standing->missing_from) + 0.3));
        return;
    }
    const char *largest = answer_error_words(answer, any, number);
    bool is_nan = strcmp(largest, "NaN") == 0;
    if (row->shown && (is_nan || strcmp(largest, "no digit") == 0) &&
        store_case(answer->view->store, any->at, &worst))
        snprintf(words, 128, "%s on the input '%.60s'",
                 is_nan ? "NaN or infinity" : "no correct digit", worst.key.input);
}

/* Adds the kernels of the short table that fail, and on which rows; kernels with the same failure are named together.
 * Then adds those that crashed or broke their contract. */
static void add_failing(const run_answer *answer, text_buffer *out)
{
    char(*words)[128] = allocate_zeroed(answer->count + 1, sizeof *words);
    bool any = false;
    for (size_t i = 0; i < answer->count; i++)
        describe_failing(answer, &answer->rows[i], words[i]);
    for (size_t i = 0; i < answer->count; i++) {
        size_t members = 0, count = 0;
        for (size_t j = i; words[i][0] && j < answer->count; j++)
            members += strcmp(words[j], words[i]) == 0;
        if (members == 0)
            continue;
        text_add(out, any ? "; " : "");
        for (size_t j = i; count < members; j++)
            if (strcmp(words[j], words[i]) == 0) {
                add_listed(answer->rows[j].label, count++, members, out);
                if (j > i)
                    words[j][0] = '\0';
            }
        clean_format(out, FORM_LINE, members == 1 ? " gives %s" : " give %s", words[i]);
        any = true;
    }
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        stored_case fault;
        if (!row->shown || !store_case(answer->view->store, row->standing->fault, &fault) ||
            (row->standing->role != ROLE_PLUGIN &&
             verdict_exit_code(&fault.verdict) != EXIT_CODE_KERNEL_FAILED))
            continue;
        clean_format(out, FORM_LINE, "%s%s failed (%s) in the %s '%s'", any ? "; " : "", row->label,
                     verdict_reason(fault.verdict.kind),
                     is_check(fault.key.input) ? "conformance test" : "case", fault.key.input);
        any = true;
    }
    free(words);
    text_add(out, any ? ".\n" : "");
}

/* Adds the number of cases behind the figures, and whether the plan has only a few. */
static void add_basis(const run_answer *answer, text_buffer *out)
{
    size_t cases = 0, tests = 0;
    bool provisional = strcmp(answer->view->run.plan, "quick") == 0 ||
                       strcmp(answer->view->run.plan, "choose") == 0;
    for (size_t i = 0; i < answer->count; i++) {
        const error_sum *all = answer->rows[i].all;
        cases = all->judged - all->checked > cases ? all->judged - all->checked : cases;
        tests = all->checked > tests ? all->checked : tests;
    }
    if (cases == 0)
        return;
    clean_format(out, FORM_LINE,
                 provisional ? "Provisional: each kernel was judged on up to"
                             : "Each kernel was judged on up to");
    text_format(out, " %zu case%s (input, size and convention)", cases, plural(cases));
    if (tests > 0)
        text_format(out, "; library calls, plugins and peers also on %zu conformance case%s", tests,
                    plural(tests));
    clean_format(out, FORM_LINE, " (%s plan).\n", answer->view->run.plan);
}

void answer_sentences(const run_answer *answer, text_buffer *out)
{
    const answer_row *shown = answer->recommended ? answer->recommended : first_accurate(answer);
    if (answer->cases > 0) {
        add_choice(answer, shown, out);
        if (shown)
            add_accuracy(answer, shown, out);
    } else if (answer->fastest) {
        clean_format(out, FORM_LINE, "%s reaches ", answer->fastest->kernel);
        add_speed(answer, answer->fastest, out);
        text_add(out, "; errors were not judged, so no kernel is recommended.\n");
    } else if (answer->maybe_fastest_count[OF_ALL] == 0) {
        text_add(out, "Nothing was measured.\n");
    }
    add_faster(answer, out);
    add_failing(answer, out);
    if (answer->cases > 0)
        add_basis(answer, out);
}
