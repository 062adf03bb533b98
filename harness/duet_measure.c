/* Goes through the shapes and kernels of a duet. */
#include "duet.h"
#include "session_setup.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shapes as words, so that each can have a plan of its own: the given ones, or those that the
 * quick plan times. */
static bool list_shapes(const duet *duet, const plan_request *request, word_list *shapes,
                        error *error)
{
    for (size_t i = 0; i < request->shapes.count; i++)
        if (!word_list_add(shapes, request->shapes.words[i], error))
            return false;
    for (size_t i = 0; request->shapes.count == 0 && i < duet->plan.speed_count; i++) {
        const speed_group *group = &duet->plan.speed[i];
        char word[48];
        snprintf(word, sizeof word, "%zux%zu", group->rows, group->hidden);
        if ((shapes->count == 0 || strcmp(shapes->words[shapes->count - 1], word) != 0) &&
            !word_list_add(shapes, word, error))
            return false;
    }
    return true;
}

/* The pairs of one shape: *count of them, from the comparison's *first on. */
static bool add_pairs(duet *duet, const speed_group *group, const kernel_entry **partners,
                      duet_pair *pairs, size_t *first, size_t *count, error *error)
{
    comparison *comparison = &duet->comparison;
    *first = comparison->pair_count;
    *count = 0;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        comparison_pair *added;
        case_key key;
        if (!partners[i] || !plan_takes(partners[i], group->dtype, group->param))
            continue;
        key = speed_key(group, partners[i]->facts.name);
        if (!comparison_add(comparison, &key, &added, error))
            return false;
        added->noise = calibration_floor(&comparison->calibration, METHOD_DUET,
                                         comparison_regime(comparison, &key));
        pairs[(*count)++].kernels[BASE] = duet->plan.kernels[i];
        pairs[*count - 1].kernels[NEW] = partners[i];
    }
    for (size_t i = 0; i < *count; i++) /* now that they stay where they are */
        pairs[i].pair = &comparison->pairs[*first + i];
    return true;
}

static void settle(comparison *comparison, size_t first)
{
    for (size_t i = first; i < comparison->pair_count; i++) {
        comparison_pair *pair = &comparison->pairs[i];
        pair->accuracy =
            pair_failed(pair) == FAILED_BOTH ? ACCURACY_NOT_JUDGED : pair_accuracy(pair);
    }
}

static bool time_pairs(duet *duet, const speed_group *group, const judge_block blocks[2],
                       duet_pair *pairs, size_t count, duet_outputs *outputs, size_t *done,
                       error *error)
{
    for (*done = 0; *done < count; (*done)++)
        if (duet->comparison.settings.speed && pair_failed(pairs[*done].pair) == FAILED_NOT &&
            !duet_time(duet, group, blocks, &pairs[*done], outputs[*done], error))
            return false;
    return true;
}

static bool measure_pairs(duet *duet, const speed_group *group, duet_pair *pairs, size_t count,
                          bool first_of_shape, bool with_probes, size_t *done, error *error)
{
    judge_block blocks[2] = {0};
    duet_outputs *outputs = calloc(count, sizeof *outputs);
    bool fine = outputs != NULL || fail_memory(error, "judged outputs");
    *done = 0;
    for (size_t i = 0; fine && i < 2; i++)
        fine = judge_block_generate_typed(duet->judge, &blocks[i], &group->convention, group->dtype,
                                          group->param, "normal", i * group->block_rows,
                                          group->block_rows, group->hidden, error);
    fine = fine && duet_judge_blocks(duet, blocks, pairs, count, outputs, error);
    if (fine && duet->comparison.settings.accuracy && first_of_shape)
        fine = duet_judge_families(duet, group, pairs, count, with_probes, error);
    fine = fine && time_pairs(duet, group, blocks, pairs, count, outputs, done, error);
    for (size_t i = 0; outputs && i < count; i++)
        for (int each = 0; each < 2 * SIDES; each++)
            free(outputs[i][each / 2][each % 2]);
    free(outputs);
    judge_block_free(&blocks[0]);
    judge_block_free(&blocks[1]);
    return fine;
}

static bool measure_group(duet *duet, const speed_group *group, const kernel_entry **partners,
                          bool first_of_shape, bool with_probes, error *error)
{
    duet_pair *pairs = calloc(duet->plan.kernel_count, sizeof *pairs);
    size_t first, count, done;
    bool fine = (pairs || fail_memory(error, "the pairs")) &&
                add_pairs(duet, group, partners, pairs, &first, &count, error);
    if (fine) {
        fine = measure_pairs(duet, group, pairs, count, first_of_shape, with_probes, &done, error);
        duet->comparison.pair_count = first + done; /* one that was interrupted has no verdict */
        settle(&duet->comparison, first);
    }
    free(pairs);
    return fine;
}

/* Groups of the same types stand together: one for each cache state. */
static bool is_first_of_types(const plan *plan, size_t i)
{
    const speed_group *group = &plan->speed[i];
    return i == 0 || group[-1].dtype != group->dtype || group[-1].param != group->param;
}

/* Divisor and eps enter once a row, whatever its length: probe rows are judged with the first
 * shape. */
static bool measure_shape(duet *duet, const plan_request *request, const char *shape, bool first,
                          const kernel_entry **partners, error *error)
{
    plan_request own = *request;
    own.shapes = (word_list){&shape, 1};
    plan_free(&duet->plan);
    bool fine =
        plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan, error);
    for (size_t i = 0; fine && i < duet->plan.speed_count; i++)
        fine =
            measure_group(duet, &duet->plan.speed[i], partners, is_first_of_types(&duet->plan, i),
                          first && is_first_of_types(&duet->plan, i), error);
    return fine;
}

bool duet_measure(duet *duet, const plan_request *request, error *error)
{
    word_list shapes = {0};
    const kernel_entry **partners = calloc(duet->plan.kernel_count, sizeof *partners);
    bool fine = partners || fail_memory(error, "the pairs");
    fine =
        fine && duet_partners(duet, partners, error) && list_shapes(duet, request, &shapes, error);
    progress_begin(
        &duet->progress,
        (double)(shapes.count * duet->plan.kernel_count) *
            (duet->comparison.settings.speed ? duet->comparison.settings.seconds / 4 : 1));
    for (size_t i = 0; fine && i < shapes.count; i++)
        fine = measure_shape(duet, request, shapes.words[i], i == 0, partners, error);
    progress_end(&duet->progress);
    word_list_free(&shapes);
    free(partners);
    return fine;
}

bool duet_prepare(duet *duet, const plan_request *request, error *error)
{
    judge_settings settings = {
        .seed = duet->comparison.settings.seed,
        .max_row_ulp = INFINITY,
        .deadline_seconds = duet->deadline,
    };
    if (!duet_load(duet, error) || !machine_read(&duet->comparison.machine, error) ||
        !plan_make(request, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan, error))
        return false;
    duet->judge = judge_create(duet->worker, &settings);
    duet->cpu = session_last_cpu();
    return duet->judge || fail_memory(error, "the judge");
}

void duet_free(duet *duet)
{
    judge_destroy(duet->judge);
    worker_stop(duet->worker);
    plan_free(&duet->plan);
    kernel_list_free(&duet->kernels[BASE]);
    kernel_list_free(&duet->kernels[NEW]);
    comparison_free(&duet->comparison);
}
