/* Goes through the shapes and kernels of a duet. */
#include "base/allocate.h"
#include "domain/kernel_json.h"
#include "run/session.h"
#include "show/duet/duet.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A shape with a plan of its own, and the types that are timed in it. */
typedef struct timed_shape {
    char word[48];
    unsigned types; /* 1 << ln_type, or-ed */
} timed_shape;

typedef struct timed_shapes {
    timed_shape *shapes;
    size_t count;
} timed_shapes;

static void add_shape(timed_shapes *list, const char *word, unsigned types)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->shapes[i].word, word) == 0) {
            list->shapes[i].types |= types;
            return;
        }
    list->shapes = allocate_room(list->shapes, list->count, sizeof *list->shapes);
    timed_shape *shape = &list->shapes[list->count++];
    *shape = (timed_shape){.types = types};
    snprintf(shape->word, sizeof shape->word, "%.47s", word);
}

/* The given shapes for all types; or those that the quick plan times, each for its own: a regime
 * has other rows where elements are shorter. */
static void list_shapes(const duet_run *duet, const plan_request *request, timed_shapes *list)
{
    for (size_t i = 0; i < request->shapes.count; i++)
        add_shape(list, request->shapes.words[i], ~0u);
    for (size_t i = 0; request->shapes.count == 0 && i < duet->plan.speed_count; i++) {
        const speed_group *group = &duet->plan.speed[i];
        char word[48];
        snprintf(word, sizeof word, "%zux%zu", group->rows, group->hidden);
        add_shape(list, word, 1u << group->dtype);
    }
}

/* Fills the pairs of one shape, and returns how many there are. What makes none is counted. */
static size_t list_pairs(duet_run *duet, const speed_group *group, const duet_partner *partners,
                         duet_pair *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i], *new = partners[i].kernel;
        case_key key = speed_key(group, (new ? new : base)->facts.name);
        if (!speed_takes(group, base))
            continue;
        if (!new) {
            comparison_set_apart(&duet->comparison, partners[i].apart, &key, partners[i].why);
            continue;
        }
        duet_pair *added = &pairs[count++];
        *added = (duet_pair){{base, new}, comparison_pair_of(&key)};
        kernel_entry_label(new, added->pair.label);
        for (int side = 0; side < SIDES; side++)
            snprintf(added->pair.sides[side].reproducible,
                     sizeof added->pair.sides[side].reproducible, "%s",
                     duet_class(duet, side, added->kernels[side]));
    }
    return count;
}

/* Whether both gave rows to be timed. */
static bool have_outputs(duet_outputs outputs)
{
    return outputs[BASE][0] && outputs[BASE][1] && outputs[NEW][0] && outputs[NEW][1];
}

static bool time_pairs(duet_run *duet, const speed_group *group, const judge_block blocks[2],
                       duet_pair *pairs, size_t count, duet_outputs *outputs, size_t *done)
{
    for (*done = 0; *done < count; (*done)++)
        if (duet->comparison.settings.speed && have_outputs(outputs[*done]) &&
            pair_failed(&pairs[*done].pair) == FAILED_NOT &&
            !duet_time(duet, group, blocks, &pairs[*done], outputs[*done]))
            return false;
    return true;
}

static bool measure_pairs(duet_run *duet, const speed_group *group, duet_pair *pairs, size_t count,
                          bool first_of_shape, size_t *done)
{
    judge_block blocks[2] = {0};
    duet_outputs *outputs = allocate_zeroed(count, sizeof *outputs);
    *done = 0;
    for (size_t i = 0; i < 2; i++)
        judge_block_generate(duet->judge, &blocks[i],
                             call_dense(&group->convention, group->dtype, group->param,
                                        group->block_rows, group->hidden),
                             group->input, NULL, i * group->block_rows);
    bool fine = duet_judge_blocks(duet, blocks, pairs, count, outputs);
    if (fine && duet->comparison.settings.accuracy && first_of_shape)
        fine = duet_judge_families(duet, group, pairs, count);
    fine = fine && time_pairs(duet, group, blocks, pairs, count, outputs, done);
    for (size_t i = 0; i < count; i++)
        for (int each = 0; each < 2 * SIDES; each++)
            free(outputs[i][each / 2][each % 2]);
    free(outputs);
    judge_block_free(&blocks[0]);
    judge_block_free(&blocks[1]);
    return fine;
}

static void measure_group(duet_run *duet, const speed_group *group, const duet_partner *partners,
                          bool first_of_shape)
{
    run_comparison *comparison = &duet->comparison;
    duet_pair *pairs = allocate_zeroed(duet->plan.kernel_count, sizeof *pairs);
    size_t count = list_pairs(duet, group, partners, pairs), done = 0;
    duet->stopped =
        duet->stopped || !measure_pairs(duet, group, pairs, count, first_of_shape, &done);
    for (size_t i = done; i < count; i++) /* they have no verdict */
        comparison_set_apart(comparison, APART_LOST, &pairs[i].pair.key, "interrupted");
    for (size_t i = 0; i < done; i++)
        comparison_settle(comparison, &pairs[i].pair);
    free(pairs);
}

/* Groups of the same types stand together: one for each cache state and number of threads. */
static bool is_first_of_types(const case_plan *plan, size_t i)
{
    const speed_group *group = &plan->speed[i];
    return i == 0 || group[-1].dtype != group->dtype || group[-1].param != group->param;
}

static void measure_shape(duet_run *duet, const plan_request *request, const timed_shape *shape,
                          const duet_partner *partners)
{
    plan_request own = *request;
    const char *word = shape->word;
    own.shapes = (word_list){&word, 1};
    own.kernels = duet->asked;
    own.dtypes = (word_list){0};
    plan_free(&duet->plan);
    plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan);
    for (size_t i = 0; i < duet->plan.speed_count; i++) {
        const speed_group *group = &duet->plan.speed[i];
        if (shape->types & 1u << group->dtype)
            measure_group(duet, group, partners, is_first_of_types(&duet->plan, i));
    }
}

bool duet_measure(duet_run *duet, const plan_request *request)
{
    timed_shapes list = {0};
    duet_partner *partners = allocate_zeroed(duet->plan.kernel_count + 1, sizeof *partners);
    duet_find_partners(duet, partners);
    duet->stopped = !duet_find_classes(duet, partners);
    list_shapes(duet, request, &list);
    progress_begin(
        &duet->progress,
        (double)(list.count * duet->plan.kernel_count) *
            (duet->comparison.settings.speed ? duet->comparison.settings.seconds / 4 : 1));
    for (size_t i = 0; duet->asked.count > 0 && i < list.count; i++)
        measure_shape(duet, request, &list.shapes[i], partners);
    progress_end(&duet->progress);
    free(list.shapes);
    free(partners);
    return !duet->stopped;
}

void duet_prepare(duet_run *duet, const plan_request *request)
{
    judge_settings settings = {
        .seed = duet->comparison.settings.seed,
        .max_row_ulp = INFINITY,
        .deadline_seconds = duet->deadline,
    };
    machine_read(&duet->comparison.machine);
    duet_load(duet);
    duet_plan(duet, request);
    duet->judge = judge_create(worker_runner(duet->worker), &settings);
    duet->cpu = session_last_cpu();
}

void duet_free(duet_run *duet)
{
    judge_destroy(duet->judge);
    worker_stop(duet->worker);
    plan_free(&duet->plan);
    word_list_free(&duet->asked);
    free(duet->reproducible[BASE]);
    free(duet->reproducible[NEW]);
    kernel_list_free(&duet->kernels[BASE]);
    kernel_list_free(&duet->kernels[NEW]);
    comparison_free(&duet->comparison);
}

/* Opens two builds side by side. */

static const char *const options[SIDES] = {"--base", "--new"};

/* The loader opens one file once: what is given twice is not two builds. */
static void check_files(const comparison_settings *settings)
{
    struct stat status[SIDES];
    for (int side = 0; side < SIDES; side++) {
        const char *file = settings->files[side];
        if (stat(file, &status[side]) != 0)
            die(EXIT_CODE_ENVIRONMENT, "%s %s: %s", options[side], file, strerror(errno));
        if (!S_ISREG(status[side].st_mode))
            die(EXIT_CODE_ENVIRONMENT, "%s %s: is not a file", options[side], file);
    }
    if (status[BASE].st_dev == status[NEW].st_dev && status[BASE].st_ino == status[NEW].st_ino)
        die(EXIT_CODE_USAGE,
            "--base %s and --new %s are one file: to compare a build with itself, give a "
            "copy of it (cp, no link)",
            settings->files[BASE], settings->files[NEW]);
}

static bool is_listed(const word_list *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->words[i], path) == 0)
            return true;
    return false;
}

/* What a build loads when it is alone must be there when both are: else the loader has given it the
 * other's copy of a library with the same soname, and the two run the same code. */
static void check_alone(const duet_run *duet, int side, const word_list *both)
{
    kernel_list kernels;
    word_list files = {0};
    worker_process *alone =
        worker_start_builds(&duet->comparison.settings.files[side], 1, &kernels);
    worker_files(alone, &files);
    for (size_t i = 0; i < files.count; i++)
        if (!is_listed(both, files.words[i]))
            die(EXIT_CODE_NOT_COMPARABLE,
                "%s %s: beside the other it does not get its own %.200s: both would run one copy "
                "(link it statically, or give its copies different sonames)",
                options[side], duet->comparison.settings.files[side], files.words[i]);
    word_list_free(&files);
    kernel_list_free(&kernels);
    worker_stop(alone);
}

void duet_load(duet_run *duet)
{
    word_list files = {0};
    check_files(&duet->comparison.settings);
    duet->worker = worker_start_builds(duet->comparison.settings.files, SIDES, duet->kernels);
    worker_files(duet->worker, &files);
    check_alone(duet, BASE, &files);
    check_alone(duet, NEW, &files);
    word_list_free(&files);
    for (int side = 0; side < SIDES; side++)
        snprintf(duet->comparison.identity[side], sizeof duet->comparison.identity[side], "%016llx",
                 (unsigned long long)duet->kernels[side].kernels[0].object_hash);
}

/* Which kernels of two builds are asked for, and which meet: those of one name. */

static const kernel_entry *named(const kernel_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kernels[i].facts.name, name) == 0)
            return &list->kernels[i];
    return NULL;
}

void duet_find_partners(const duet_run *duet, duet_partner *partners)
{
    const kernel_list *lists = duet->kernels;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i];
        const kernel_entry *new = named(&lists[NEW], base->facts.name);
        duet_partner *partner = &partners[i];
        size_t room = sizeof partner->why;
        *partner = (duet_partner){.apart = APART_LOST};
        if (!new)
            snprintf(partner->why, room, "only in base");
        else if (base->facts.storage != new->facts.storage || base->facts.param != new->facts.param)
            snprintf(partner->why, room, "other element types in new");
        else if (base->unsupported[0] && !new->unsupported[0])
            partner->apart = APART_NEW;
        else if (base->unsupported[0])
            partner->apart = APART_DECLINED;
        else if (!new->unsupported[0])
            partner->kernel = new;
        if (!partner->kernel && !partner->why[0])
            snprintf(partner->why, room, "%s: %.170s",
                     partner->apart == APART_LOST       ? "new"
                     : partner->apart == APART_DECLINED ? "both"
                                                        : "base",
                     partner->apart == APART_LOST ? new->unsupported : base->unsupported);
    }
}

/* The kernels of both as those of one list, without a version, by which a plan knows a peer that
 * nobody named. */
static kernel_list both_lists(const duet_run *duet)
{
    const kernel_list *base = &duet->kernels[BASE], *new = &duet->kernels[NEW];
    kernel_list both = {.count = base->count + new->count};
    both.kernels = allocate((both.count + 1) * sizeof *both.kernels);
    memcpy(both.kernels, base->kernels, base->count * sizeof *both.kernels);
    memcpy(both.kernels + base->count, new->kernels, new->count * sizeof *both.kernels);
    for (size_t i = 0; i < both.count; i++)
        both.kernels[i].version[0] = '\0';
    return both;
}

void duet_plan(duet_run *duet, const plan_request *request)
{
    kernel_list both = both_lists(duet);
    case_plan asked;
    plan_make(request, &both, &duet->comparison.machine, &asked);
    for (size_t i = 0; i < asked.kernel_count; i++) {
        const kernel_entry *kernel = asked.kernels[i];
        case_key key = {.threads = 1};
        snprintf(key.kernel, sizeof key.kernel, "%s", kernel->facts.name);
        if ((size_t)(kernel - both.kernels) < duet->kernels[BASE].count)
            word_list_add(&duet->asked, kernel->facts.name);
        else if (!named(&duet->kernels[BASE], kernel->facts.name))
            comparison_set_apart(&duet->comparison, APART_NEW, &key, "only in new");
    }
    plan_free(&asked);
    free(both.kernels);
    plan_request own = *request;
    own.kernels = duet->asked;
    own.dtypes = (word_list){0};
    if (duet->asked.count > 0)
        plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan);
}

/* How long a duet measures. */

enum { LEAST_CONFIRMATION = 20 };

unsigned duet_least_processes(double confidence)
{
    return (unsigned)ceil(1 + log2(1 / (1 - confidence)));
}

unsigned duet_confirmation(unsigned searched, unsigned least, double seconds_left,
                           double seconds_each)
{
    unsigned wanted = 2 * searched > LEAST_CONFIRMATION ? 2 * searched : LEAST_CONFIRMATION;
    double room = seconds_left / seconds_each;
    if (wanted < least)
        wanted = least;
    if (room < (double)wanted)
        wanted = room > 0 ? (unsigned)room : 0;
    return wanted < least ? 0 : wanted;
}
