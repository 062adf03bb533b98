#include "show/answer.h"
#include "base/allocate.h"
#include "base/die.h"
#include "base/text.h"
#include "domain/kernel_json.h"
#include "domain/reproducible.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return (int)word_find(regime, WORDS(regimes));
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

static int by_speed(const void *a, const void *b)
{
    const answer_row *left = a, *right = b;
    if (left->at_key && right->at_key)
        return view_by_speed(left->at_key, right->at_key);
    double own = left->standing->errors[SCOPE_ANY].error;
    double other = right->standing->errors[SCOPE_ANY].error;
    int by_error = left->at_key || right->at_key ? !left->at_key - !right->at_key
                   : isnan(own) || isnan(other)  ? isnan(own) - isnan(other)
                                                 : (own > other) - (own < other);
    return by_error ? by_error : strcmp(left->kernel, right->kernel);
}

static void make_rows(const run_view *view, run_answer *answer)
{
    static const ranked_kernel none = {.doubt = STANDING_NOT_TIMED};
    answer->rows = allocate_zeroed(view->standings.count + 1, sizeof *answer->rows);
    for (size_t i = 0; i < view->standings.count; i++) {
        const kernel_standing *standing = &view->standings.standings[i];
        const error_sum *all = &standing->errors[SCOPE_ALL];
        if (standing->dtype != answer->dtype)
            continue;
        const ranked_kernel *ranked = ranked_of(&answer->ranking, standing->kernel);
        answer->rows[answer->count++] =
            (answer_row){.kernel = standing->kernel,
                         .standing = standing,
                         .ranked = ranked ? ranked : &none,
                         .all = all,
                         .label = descriptor_word(view->kernels, standing->kernel, "label"),
                         .version = descriptor_word(view->kernels, standing->kernel, "version"),
                         .reproducible = reproducible_stored(view->kernels, standing->kernel),
                         .relative = NAN,
                         .speedup = NAN};
        answer->cases = all->judged > answer->cases ? all->judged : answer->cases;
    }
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        size_t column = find_column(answer, key);
        if (view->views[i].speed.repetitions == 0 || key->dtype != answer->dtype ||
            column == answer->column_count)
            continue;
        for (size_t row = 0; row < answer->count; row++)
            if (strcmp(answer->rows[row].kernel, key->kernel) == 0)
                answer->rows[row].cells[column] = &view->views[i];
    }
    for (size_t row = 0; row < answer->count; row++)
        answer->rows[row].at_key = answer->rows[row].cells[answer->key];
    qsort(answer->rows, answer->count, sizeof *answer->rows, by_speed);
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
        if (row->standing->role == ROLE_PEER && is_faster(answer, row, peer))
            peer = row;
    }
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        bool near_peer;
        if (fastest)
            row->relative = ratio_to(view, answer, row, fastest, &row->tied);
        double ratio = peer ? ratio_to(view, answer, row, peer, &near_peer) : NAN;
        row->speedup = row == peer ? 1 : 1 / ratio;
    }
}

const char *answer_half(const run_answer *answer)
{
    size_t apart = 0;
    for (size_t i = 0; i < answer->count; i++)
        apart += answer->rows[i].all->apart;
    return answer->column_count == 0 ? STANDING_NOT_TIMED
           : apart == 0              ? "timed, judged on the timed rows only"
                                     : NULL;
}

const char *answer_doubt(const run_answer *answer, const answer_row *row)
{
    const char *half = answer_half(answer);
    return half ? half : row->ranked->doubt[0] ? row->ranked->doubt : NULL;
}

const answer_row *answer_accurate(const run_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->rows[i].ranked->callable && answer->rows[i].ranked->within)
            return &answer->rows[i];
    return NULL;
}

/* Of a textbook form or of a peer, the one that stands first: rows come fastest first. */
static bool is_best(const run_view *view, const run_answer *answer, size_t row)
{
    const answer_row *own = &answer->rows[row];
    const char *key = own->standing->role == ROLE_PEER ? "source" : "statistics";
    const char *kind = descriptor_word(view->kernels, own->kernel, key);
    for (size_t i = 0; i < row; i++)
        if (answer->rows[i].standing->role == own->standing->role &&
            strcmp(descriptor_word(view->kernels, answer->rows[i].kernel, key), kind) == 0)
            return false;
    return own->all->judged > 0 || own->at_key;
}

static size_t count_shown(const run_answer *answer)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++)
        count += answer->rows[i].shown && answer->rows[i].standing->role != ROLE_PLUGIN;
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
            if (row->standing->role == ROLE_TEXTBOOK && count_shown(answer) < ANSWER_ROWS &&
                strcmp(descriptor_word(view->kernels, row->kernel, "statistics"), statistics) ==
                    0 &&
                is_best(view, answer, i))
                row->shown = true;
        }
    }
}

static const answer_row *row_of(const run_answer *answer, const ranked_kernel *ranked)
{
    for (size_t i = 0; ranked && i < answer->count; i++)
        if (answer->rows[i].ranked == ranked)
            return &answer->rows[i];
    return NULL;
}

/* The fastest, of all or of those that can be recommended, and who contradicts that. */
static void find_untold(run_answer *answer, int of)
{
    const kernel_ranking *ranking = &answer->ranking;
    const ranked_kernel *first = of == OF_ALL ? ranking->fastest : NULL;
    for (size_t i = 0; of == OF_CALLABLE && !first && i < ranking->count; i++)
        first = ranking->kernels[i].near ? &ranking->kernels[i] : NULL;
    for (size_t i = 0; first && i < ranking->count; i++) {
        const ranked_kernel *own = &ranking->kernels[i];
        const answer_row *row = row_of(answer, own);
        bool sooner = of == OF_ALL ? own->sooner_than_fastest : own->sooner_than_best;
        if (row && (own == first || sooner) && answer->untold_count[of] < UNTOLD_MOST)
            answer->untold[of][answer->untold_count[of]++] = row;
    }
}

bool answer_is_noisy(const run_answer *answer)
{
    return answer->untold_count[OF_ALL] > 1 || answer->untold_count[OF_CALLABLE] > 1;
}

static bool is_untold(const run_answer *answer, const answer_row *row)
{
    for (int of = OF_ALL; of <= OF_CALLABLE; of++)
        for (size_t i = 0; i < answer->untold_count[of]; i++)
            if (answer->untold[of][i] == row)
                return true;
    return false;
}

/* The short table: the fastest, the recommended kernel, all of the library and of plugins,
 * the best of each peer, and textbook forms. */
static void choose_rows(const run_view *view, run_answer *answer)
{
    const answer_row *accurate = answer_accurate(answer);
    answer->fastest = answer->untold_count[OF_ALL] == 1 ? answer->untold[OF_ALL][0] : NULL;
    find_untold(answer, OF_CALLABLE);
    answer->recommended = row_of(answer, answer->ranking.recommended);
    answer->tuned = row_of(answer, answer->ranking.tuned);
    if (answer->recommended && !answer->recommended->ranked->proven)
        answer->proven = row_of(answer, answer->ranking.proven);
    for (size_t i = 0; i < answer->count; i++) {
        answer_row *row = &answer->rows[i];
        kernel_role role = row->standing->role;
        row->shown = row == accurate || row == answer->recommended || row == answer->proven ||
                     row == answer->tuned || is_untold(answer, row) ||
                     ((role == ROLE_LIBRARY || role == ROLE_PLUGIN) &&
                      (row->all->judged > 0 || row->at_key)) ||
                     (role == ROLE_PEER && is_best(view, answer, i));
        if (role == ROLE_PEER && row->at_key && !answer->peer)
            answer->peer = row;
    }
    show_textbook(view, answer);
}

/* Who is fastest at the key column, and the ISA that labels leave out. */
static void rank(const run_view *view, run_answer *answer)
{
    *answer = (run_answer){
        .view = view, .dtype = view_answer_type(view), .isa = "", .plan = view->run.plan};
    make_columns(view, answer);
    recommend_wanted wanted = {.run = view->run.id, .budget = STANDING_ROW_ULP, .kappa = NAN};
    if (answer->column_count > 0)
        wanted.at = answer->columns[answer->key].key;
    wanted.at.operation = view_operation(view);
    wanted.at.dtype = answer->dtype;
    answer->ranking = store_recommend(view->store, &wanted);
    make_rows(view, answer);
    find_untold(answer, OF_ALL);
    const answer_row *named =
        answer->untold_count[OF_ALL] > 0 ? answer->untold[OF_ALL][0] : answer_accurate(answer);
    answer->isa = named ? descriptor_word(view->kernels, named->kernel, "isa") : "";
}

void answer_label(const run_view *view)
{
    for (int kind = 0; kind < OPERATIONS; kind++) {
        run_answer answer;
        if (!(view_operations(view) & OPERATION_BIT(kind)))
            continue;
        run_view part = view_part(view, (ln_operation)kind);
        rank(&part, &answer);
        kernel_labels_set(view->kernels, (ln_operation)kind, answer.isa);
        answer_free(&answer);
        view_part_free(&part);
    }
}

void answer_make(const run_view *view, run_answer *answer)
{
    rank(view, answer);
    compare_speeds(view, answer);
    choose_rows(view, answer);
}

void answer_free(run_answer *answer)
{
    free(answer->rows);
    free(answer->ranking.kernels);
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
    return (speed->copy_ratio_hi - speed->copy_ratio_lo) / 2 / speed->copy_ratio;
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

const char *answer_role_word(const run_answer *answer, const answer_row *row)
{
    kernel_role role = row->standing->role;
    return role == ROLE_PLUGIN          ? kernel_role_words[role]
           : row == answer->recommended ? "recommended"
           : row == answer->fastest     ? "fastest"
                                        : kernel_role_words[role];
}
