#include "answer/answer.h"
#include "base/allocate.h"
#include "domain/kernel_json.h"
#include "domain/kernel_name.h"
#include "domain/reproducible.h"
#include "inputs/inputs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static answer_role role_of(const run_view *view, const char *kernel)
{
    const char *source = descriptor_word(view->kernels, kernel, "source");
    if (kernel_is_call(view->kernels, kernel))
        return ANSWER_LIBRARY;
    if (kernel_is_peer(view->kernels, kernel))
        return ANSWER_PEER;
    if (source[0] && strcmp(source, "builtin") != 0)
        return ANSWER_PLUGIN;
    return strcmp(descriptor_word(view->kernels, kernel, "role"), "textbook") == 0 ? ANSWER_TEXTBOOK
                                                                                   : ANSWER_OTHER;
}

/* ---- columns ---- */

static bool same_column(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->cache == b->cache &&
           a->threads == b->threads && strcmp(a->convention, b->convention) == 0 &&
           strcmp(a->input, b->input) == 0;
}

static size_t find_column(const run_answer *answer, const case_key *key)
{
    size_t i = 0;
    while (i < answer->column_count && !same_column(&answer->columns[i].key, key))
        i++;
    return i;
}

static int regime_rank(const char *regime)
{
    static const char *const regimes[] = {"L1", "L2", "L3", "DRAM"};
    int rank = 0;
    while (rank < 4 && strcmp(regime, regimes[rank]) != 0)
        rank++;
    return rank;
}

static int column_order(const void *a, const void *b)
{
    const answer_column *left = a, *right = b;
    int by_cache = (int)left->key.cache - (int)right->key.cache;
    int by_threads = (int)left->key.threads - (int)right->key.threads;
    int by_regime = regime_rank(left->regime) - regime_rank(right->regime);
    if (by_cache || by_threads || by_regime)
        return by_cache ? by_cache : by_threads ? by_threads : by_regime;
    return (left->key.hidden > right->key.hidden) - (left->key.hidden < right->key.hidden);
}

/* The columns, their copies' speeds, and which of them ranks: in L2, near a hidden size of 768. */
static void make_columns(const run_view *view, run_answer *answer)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        const view_case *own = &view->views[i];
        const case_key *key = &own->stored->key;
        if (own->speed.repetitions == 0 || key->dtype != answer->dtype)
            continue;
        size_t at = find_column(answer, key);
        if (at == ANSWER_COLUMNS)
            continue;
        answer_column *column = &answer->columns[at];
        if (at == answer->column_count) {
            *column = (answer_column){.key = *key, .regime = own->regime, .copy.gbps = NAN};
            answer->column_count++;
        }
        if (is_roof(key->kernel) && !(own->speed.gbps <= column->copy.gbps)) {
            column->copy = own->speed;
            memcpy(column->key.kernel, key->kernel, sizeof key->kernel);
        }
    }
    qsort(answer->columns, answer->column_count, sizeof *answer->columns, column_order);
    double nearest = INFINITY;
    for (size_t i = 0; i < answer->column_count; i++) {
        const answer_column *column = &answer->columns[i];
        double away = fabs(log((double)column->key.hidden / 768)) +
                      10 * abs(regime_rank(column->regime) - 1) +
                      100.0 * (double)column->key.cache + 100.0 * (column->key.threads - 1);
        if (away < nearest) {
            nearest = away;
            answer->key = i;
        }
    }
}

/* ---- rows ---- */

static answer_row *find_row(const run_view *view, run_answer *answer, const char *kernel)
{
    for (size_t i = answer->count; i-- > 0;)
        if (strcmp(answer->rows[i].kernel, kernel) == 0)
            return &answer->rows[i];
    answer_row *row = &answer->rows[answer->count++];
    *row = (answer_row){.kernel = kernel,
                        .fit = kernel_fit_of(view->fits, view->fit_count, kernel),
                        .version = descriptor_word(view->kernels, kernel, "version"),
                        .reproducible = reproducible_stored(view->kernels, kernel),
                        .role = role_of(view, kernel),
                        .relative = NAN,
                        .speedup = NAN,
                        .ordinary = NAN,
                        .worst = NAN,
                        .most = NAN,
                        .lost_from = NAN};
    return row;
}

static void count_errors(answer_row *row, const stored_case *stored, bool timed)
{
    const case_verdict *verdict = &stored->verdict;
    const ln_metrics *metrics = &stored->metrics;
    bool extreme = stored_is_extreme(stored), check = is_check(stored->key.input);
    if (verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_SKIPPED) {
        row->unsupported++;
        return;
    }
    if (stored_is_hunted(stored))
        return;
    bool wrong = verdict->kind != VERDICT_OK && verdict->kind != VERDICT_OK_NO_BOUND;
    double row_error = metrics->mismatches ? INFINITY : metrics->row_ulp_max;
    row->judged++;
    row->apart += !timed;
    row->refereed += check;
    row->wrong += wrong;
    row->usable += stored_usable(stored) == USABLE_YES;
    row->rounded += !wrong && !metrics->mismatches &&
                    (metrics->elements == 0 || metrics->correctly_rounded == 1);
    row->extreme += extreme;
    row->extreme_wrong += wrong && extreme;
    if (verdict_exit_code(verdict) != EXIT_CODE_FINE) {
        row->faults++;
        if (!row->fault || (!check && is_check(row->fault->key.input)))
            row->fault = stored;
    }
    if (strcmp(stored->key.input, "normal") == 0 && !(row_error <= row->ordinary))
        row->ordinary = row_error;
    if (!(row_error <= row->most) && !isnan(row_error))
        row->most = row_error;
    if (!extreme && !(row_error <= row->worst) && !isnan(row_error))
        row->worst = row_error;
}

/* Where the digits of a kernel are gone. A kappa below 10 tells of something else than the mean. */
static void find_lost(const run_view *view, run_answer *answer)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *judged = &view->rows.rows[i];
        const case_key *key = &view->cases.cases[judged->case_index].key;
        if (key->dtype != answer->dtype || !(judged->kappa >= 10) ||
            judged->row_ulp < dtype_no_digit(key->dtype) || case_is_extreme(key))
            continue;
        answer_row *row = find_row(view, answer, key->kernel);
        if (!(row->lost_from <= judged->kappa))
            row->lost_from = judged->kappa;
    }
}

static void make_rows(const run_view *view, run_answer *answer)
{
    answer->rows =
        allocate_zeroed(json_array_size(view->kernels) + view->cases.count + view->lost_count + 1,
                        sizeof *answer->rows);
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        if (stored->key.dtype != answer->dtype || is_roof(stored->key.kernel))
            continue;
        answer_row *row = find_row(view, answer, stored->key.kernel);
        if (view->views[i].speed.repetitions > 0) {
            size_t column = find_column(answer, &stored->key);
            if (column < answer->column_count)
                row->cells[column] = &view->views[i];
        }
        if (stored->judged)
            count_errors(row, stored, view->views[i].speed.repetitions > 0);
    }
    for (size_t i = 0; i < view->lost_count; i++)
        if (view->lost[i].key.dtype == answer->dtype)
            find_row(view, answer, view->lost[i].key.kernel)->lost++;
    find_lost(view, answer);
    for (size_t i = 0; i < answer->count; i++)
        answer->cases =
            answer->rows[i].judged > answer->cases ? answer->rows[i].judged : answer->cases;
}

static bool is_faster(const run_answer *answer, const answer_row *row, const answer_row *other)
{
    const view_case *own = row->cells[answer->key];
    const view_case *cell = other ? other->cells[answer->key] : NULL;
    return own && (!cell || view_by_speed(own, cell) < 0);
}

/* time / the other's time at the key column: over the rounds that both were timed in. */
static double ratio_to(const run_view *view, const run_answer *answer, const answer_row *row,
                       const answer_row *base, bool *tied)
{
    const view_case *own = row->cells[answer->key], *other = base->cells[answer->key];
    *tied = false;
    if (!own || !other)
        return NAN;
    speed_pair pair =
        speed_of_pair(&view->cases, (size_t)(own - view->views), (size_t)(other - view->views));
    *tied = pair.lo <= 1 && pair.hi >= 1;
    return isnan(pair.ratio) ? own->speed.time_ns / other->speed.time_ns : pair.ratio;
}

static void compare_speeds(const run_view *view, run_answer *answer)
{
    const answer_row *fastest = NULL, *peer = NULL;
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        fastest = is_faster(answer, row, fastest) ? row : fastest;
        if (row->role == ANSWER_PEER && is_faster(answer, row, peer))
            peer = row;
    }
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        bool near_peer;
        row->at_key = row->cells[answer->key];
        if (fastest)
            row->relative = ratio_to(view, answer, row, fastest, &row->tied);
        double ratio = peer ? ratio_to(view, answer, row, peer, &near_peer) : NAN;
        row->speedup = row == peer ? 1 : 1 / ratio;
    }
}

static int by_speed(const void *a, const void *b)
{
    const answer_row *left = a, *right = b;
    if (!left->at_key || !right->at_key)
        return left->at_key    ? -1
               : right->at_key ? 1
                               : (left->worst > right->worst) - (left->worst < right->worst);
    return view_by_speed(left->at_key, right->at_key);
}

/* A peer's version; a plugin's name is its own. */
static void make_label(const run_answer *answer, answer_row *row)
{
    bool whole = row->role == ANSWER_PLUGIN;
    if (row->version[0])
        snprintf(row->label, sizeof row->label, "%.60s", row->version);
    else
        kernel_label(row->kernel, whole ? "" : dtype_name(answer->dtype), whole ? "" : answer->isa,
                     row->label, sizeof row->label);
}

static bool is_accurate(const answer_row *row)
{
    return row->fit && row->fit->accurate;
}

/* Our own kernels have a proof, which the rows of the inputs only check; the referee was off. */
static bool is_unrefereed(const answer_row *row)
{
    bool proven = row->role == ANSWER_OTHER || row->role == ANSWER_TEXTBOOK;
    return !proven && row->role != ANSWER_PEER && row->judged > 0 && row->refereed == 0;
}

const char *answer_half(const run_answer *answer)
{
    size_t apart = 0, unrefereed = 0;
    for (size_t i = 0; i < answer->count; i++) {
        apart += answer->rows[i].apart;
        unrefereed += is_unrefereed(&answer->rows[i]);
    }
    return answer->column_count == 0 ? "judged, not timed"
           : apart == 0              ? "timed, judged on the timed rows only"
           : unrefereed > 0          ? "not judged beyond these rows"
                                     : NULL;
}

const char *answer_doubt(const run_answer *answer, const answer_row *row)
{
    const char *half = answer_half(answer);
    return half ? half : row->fit && row->fit->doubt[0] ? row->fit->doubt : NULL;
}

const answer_row *answer_accurate(const run_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        if (is_accurate(&answer->rows[i]))
            return &answer->rows[i];
    return NULL;
}

/* Of a textbook form or of a peer, the one that stands first: rows come fastest first. */
static bool is_best(const run_view *view, const run_answer *answer, size_t row)
{
    const answer_row *own = &answer->rows[row];
    const char *key = own->role == ANSWER_PEER ? "source" : "statistics";
    const char *kind = descriptor_word(view->kernels, own->kernel, key);
    for (size_t i = 0; i < row; i++)
        if (answer->rows[i].role == own->role &&
            strcmp(descriptor_word(view->kernels, answer->rows[i].kernel, key), kind) == 0)
            return false;
    return own->judged > 0 || !isnan(own->relative);
}

static size_t count_shown(const run_answer *answer)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++)
        count += answer->rows[i].shown && answer->rows[i].role != ANSWER_PLUGIN;
    return count;
}

/* The best of each textbook form, in the table's order, for as long as there is room. */
static void show_textbook(const run_view *view, run_answer *answer)
{
    for (size_t form = 0; form < json_array_size(view->kernels); form++) {
        const char *statistics =
            json_string_value(json_object_get(json_array_get(view->kernels, form), "statistics"));
        for (size_t i = 0; statistics && i < answer->count; i++) {
            answer_row *row = &answer->rows[i];
            if (row->role == ANSWER_TEXTBOOK && count_shown(answer) < ANSWER_ROWS &&
                strcmp(descriptor_word(view->kernels, row->kernel, "statistics"), statistics) ==
                    0 &&
                is_best(view, answer, i))
                row->shown = true;
        }
    }
}

/* The fastest that can be taken. */
static void take_row(run_answer *answer)
{
    answer_row *take = NULL;
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        if (!is_accurate(row) || answer_doubt(answer, row) || !row->at_key)
            continue;
        if (!take || view_outdoes(row->at_key, row->fit->error, take->at_key, take->fit->error)) {
            i = take ? (size_t)-1 : i; /* its time is less than all before it */
            take = row;
        }
    }
    if (take)
        take->shown = true;
    answer->take = take;
}

/* The short table: the fastest, the fastest that can be taken, all of the library and of plugins,
 * the best of each peer, and textbook forms. */
static void choose_rows(const run_view *view, run_answer *answer)
{
    const answer_row *accurate = answer_accurate(answer);
    answer->fastest = answer->take = answer->peer = NULL;
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        bool timed = !isnan(row->relative), peer = row->role == ANSWER_PEER;
        bool fastest = !answer->fastest && !peer && timed;
        row->shown = fastest || row == accurate ||
                     ((row->role == ANSWER_LIBRARY || row->role == ANSWER_PLUGIN) &&
                      (row->judged > 0 || timed)) ||
                     (peer && is_best(view, answer, i));
        if (peer && timed && !answer->peer)
            answer->peer = row;
        if (fastest)
            answer->fastest = row;
    }
    take_row(answer);
    show_textbook(view, answer);
}

void answer_make(const run_view *view, run_answer *answer)
{
    *answer = (run_answer){.dtype = view_answer_type(view), .isa = "", .plan = view->run.plan};
    make_columns(view, answer);
    make_rows(view, answer);
    compare_speeds(view, answer);
    qsort(answer->rows, answer->count, sizeof *answer->rows, by_speed);
    choose_rows(view, answer);
    const answer_row *named = answer->fastest ? answer->fastest : answer_accurate(answer);
    answer->isa = named ? descriptor_word(view->kernels, named->kernel, "isa") : "";
    for (size_t i = 0; i < answer->count; i++)
        make_label(answer, &answer->rows[i]);
}

void answer_free(run_answer *answer)
{
    free(answer->rows);
    *answer = (run_answer){0};
}

/* Whether rows, too, must be said for the heading to name one column. */
static bool needs_rows(const run_answer *answer, size_t column)
{
    const answer_column *own = &answer->columns[column];
    size_t alike = 0;
    for (size_t i = 0; i < answer->column_count; i++) {
        const answer_column *other = &answer->columns[i];
        alike += other->key.hidden == own->key.hidden && other->key.cache == own->key.cache &&
                 other->key.threads == own->key.threads && strcmp(other->regime, own->regime) == 0;
    }
    return alike > 1;
}

const char *answer_column_name(const run_answer *answer, size_t column, char buffer[64])
{
    const case_key *key = &answer->columns[column].key;
    char rows[24] = "", cache[16] = "", threads[16] = "";
    if (needs_rows(answer, column))
        snprintf(rows, sizeof rows, "%zux", key->rows);
    if (key->cache != CACHE_HOT)
        snprintf(cache, sizeof cache, " %s", cache_name(key->cache));
    if (key->threads != answer->columns[answer->key].key.threads)
        snprintf(threads, sizeof threads, " %ut", key->threads);
    snprintf(buffer, 64, "%s %s%zu%s%s", answer->columns[column].regime, rows, key->hidden, cache,
             threads);
    return buffer;
}

const char *answer_shape(const run_answer *answer, char buffer[64])
{
    const answer_column *key = &answer->columns[answer->key];
    snprintf(buffer, 64, "%zux%zu (%s)", key->key.rows, key->key.hidden, key->regime);
    return buffer;
}

const char *answer_times(double ratio, char buffer[16])
{
    snprintf(buffer, 16, ratio >= 10 ? "%.0f" : ratio >= 1 ? "%.1f" : "%.2f", ratio);
    return isnan(ratio) ? "-" : buffer;
}

double answer_spread(const speed_figures *speed)
{
    return (speed->roof_hi - speed->roof_lo) / 2 / speed->roof_ratio;
}

void noise_count(speed_noise *noise, double spread)
{
    noise->speeds++;
    noise->wide += spread > SPEED_NOISY;
    noise->widest = fmax(noise->widest, spread);
}

void noise_add_line(text_buffer *out, const speed_noise *noise, const char *remedy)
{
    if (noise->wide > 0)
        text_format(
            out,
            "! Noisy: %zu of %zu speeds uncertain by more than %.0f %%: see lnbench doctor, "
            "or %s.\n",
            noise->wide, noise->speeds, 100 * SPEED_NOISY, remedy);
    else if (noise->speeds > 0)
        text_format(out, "Quiet: every speed above is known within ±%.1f %%.\n",
                    100 * noise->widest);
}

const char *answer_error(const run_answer *answer, double row_ulp, char buffer[16])
{
    if (isinf(row_ulp))
        return "NaN";
    if (row_ulp >= dtype_no_digit(answer->dtype))
        return "no digit";
    if (row_ulp >= 1000)
        snprintf(buffer, 16, "%.0e", row_ulp);
    else
        snprintf(buffer, 16, row_ulp < 10 ? "%.1f" : "%.0f", row_ulp);
    return isnan(row_ulp) ? "-" : buffer;
}

const char *answer_role_word(const run_answer *answer, const answer_row *row)
{
    static const char *const words[] = {"", "library", "textbook", "peer", "plugin"};
    return row->role == ANSWER_PLUGIN ? words[ANSWER_PLUGIN]
           : row == answer->take      ? "take"
           : row == answer->fastest   ? "fastest"
                                      : words[row->role];
}
