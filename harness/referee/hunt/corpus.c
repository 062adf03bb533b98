/* A hunt's file: its settings, a line each, then its finds. Two hunts with the same settings make
 * the same bytes, whether in one process or in shards that were merged. */
#include "base/files.h"
#include "domain/convention.h"
#include "referee/hunt/hunt.h"
#include "base/number.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const goals[] = {"row-ulp", "bound"};

/* 0: the kernel failed; 1: a wrong class; 2: an error. */
static int rank(const worst_row *find)
{
    if (verdict_exit_code(&find->verdict) == EXIT_CODE_KERNEL_FAILED)
        return 0;
    return find->score == INFINITY ? 1 : 2;
}

static bool comes_before(const worst_row *a, const worst_row *b)
{
    if (rank(a) != rank(b))
        return rank(a) < rank(b);
    if (a->score != b->score)
        return a->score > b->score;
    return a->restart < b->restart;
}

bool hunt_keep(hunt_state *hunt, worst_row *find, error *err)
{
    worst_row *grown = realloc(hunt->finds, (hunt->find_count + 1) * sizeof *grown);
    if (!grown) {
        worst_row_free(find);
        return fail_memory(err, "finds");
    }
    hunt->finds = grown;
    size_t at = hunt->find_count++;
    for (; at > 0 && comes_before(find, &grown[at - 1]); at--)
        grown[at] = grown[at - 1];
    grown[at] = *find;
    *find = (worst_row){0};
    if (hunt->find_count > hunt->settings.keep)
        worst_row_free(&grown[--hunt->find_count]);
    return true;
}

/* The command that makes this hunt, whole. */
static void add_command(const hunt_settings *s, text_buffer *out)
{
    char number[32];
    text_format(out,
                "# lnbench hunt --kernel %s --convention %s --hidden %zu --seed %llu --keep %llu",
                s->kernel, s->convention, s->hidden, (unsigned long long)s->seed,
                (unsigned long long)s->keep);
    if (s->restarts)
        text_format(out, " --restarts %llu", (unsigned long long)s->restarts);
    else
        text_format(out, " --time %s", number_format(s->seconds, number));
    if (isfinite(s->max_kappa))
        text_format(out, " --max-kappa %s", number_format(s->max_kappa, number));
    text_format(out, "%s%s\n", s->goal == GOAL_BOUND ? " --goal bound" : "",
                s->claimed ? "" : " --unclaimed");
}

bool hunt_save(const hunt_state *hunt, const char *state, const char *path, error *err)
{
    const hunt_settings *s = &hunt->settings;
    char kappa[32], seconds[32];
    text_buffer out = {0};
    text_add(&out, "# Rows on which a kernel is worst, found by lnbench hunt (docs/accuracy.md).\n"
                   "# Again, bit for bit: lnbench replay --from THIS-FILE\n");
    add_command(s, &out);
    text_format(&out, "kernel %s\nconvention %s\ndtype %s\n", s->kernel, s->convention,
                dtype_name(s->storage));
    if (s->param != s->storage)
        text_format(&out, "param %s\n", dtype_name(s->param));
    text_format(&out, "hidden %zu\nseed %llu\ngoal %s\n", s->hidden, (unsigned long long)s->seed,
                goals[s->goal]);
    text_format(&out, "max_kappa %s\nclaimed %s\nkeep %llu\nrestarts %llu\nseconds %s\n",
                isinf(s->max_kappa) ? "inf" : number_format(s->max_kappa, kappa),
                s->claimed ? "yes" : "no", (unsigned long long)s->keep,
                (unsigned long long)s->restarts, number_format(s->seconds, seconds));
    text_format(&out, "shard %llu/%llu\nstate %s\ndone %llu\n", (unsigned long long)s->shard,
                (unsigned long long)s->shards, state, (unsigned long long)hunt->done);
    for (size_t i = 0; i < hunt->find_count; i++) {
        text_add(&out, "\n");
        worst_row_format(&hunt->finds[i], &out);
    }
    bool fine = out.failed ? fail_memory(err, path) : write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

/* The value of a setting's line, in buffer. */
static bool setting(const char *path, const char *header, const char *name, char *buffer,
                    size_t size, error *err)
{
    size_t length = strlen(name);
    for (const char *line = header; line && *line; line = strchr(line, '\n') + 1) {
        size_t value = strcspn(line, "\n");
        if (strncmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        snprintf(buffer, size, "%.*s", (int)(value - length - 1), line + length + 1);
        return true;
    }
    return fail(err, EXIT_CODE_USAGE, "%s: no hunt: a line '%s ...' was expected", path, name);
}

static bool read_count(const char *path, const char *header, const char *name, uint64_t *count,
                       error *err)
{
    char value[64], *end;
    if (!setting(path, header, name, value, sizeof value, err))
        return false;
    errno = 0;
    *count = strtoull(value, &end, 10);
    return (!errno && *value >= '0' && *value <= '9' && *end == '\0') ||
           fail(err, EXIT_CODE_USAGE, "%s: %s '%.40s': a whole number was expected", path, name,
                value);
}

static bool read_real(const char *path, const char *header, const char *name, double *real,
                      error *err)
{
    char value[64];
    if (!setting(path, header, name, value, sizeof value, err))
        return false;
    *real = INFINITY;
    return strcmp(value, "inf") == 0 || number_parse(value, strlen(value), real) ||
           fail(err, EXIT_CODE_USAGE, "%s: %s '%.40s': a number was expected", path, name, value);
}

static bool read_shard(const char *path, const char *header, hunt_settings *settings, error *err)
{
    char value[64], *end, *last;
    if (!setting(path, header, "shard", value, sizeof value, err))
        return false;
    settings->shard = strtoull(value, &end, 10);
    settings->shards = *end == '/' ? strtoull(end + 1, &last, 10) : 0;
    return (settings->shards > 0 && settings->shard < settings->shards && *last == '\0') ||
           fail(err, EXIT_CODE_USAGE, "%s: shard '%.40s': I/N with I below N was expected", path,
                value);
}

/* Gamma and beta are of the rows' type where no line says otherwise. */
static bool read_types(const char *path, const char *header, hunt_settings *settings, error *err)
{
    char dtype[32], param[32];
    if (!setting(path, header, "dtype", dtype, sizeof dtype, err))
        return false;
    if (!setting(path, header, "param", param, sizeof param, NULL))
        snprintf(param, sizeof param, "%s", dtype);
    return (dtype_from_name(dtype, &settings->storage) &&
            dtype_from_name(param, &settings->param)) ||
           fail(err, EXIT_CODE_USAGE, "%s: dtype %s, param %s: f32, f64, bf16 or f16 was expected",
                path, dtype, param);
}

static bool read_settings(const char *path, const char *header, hunt_state *hunt, bool *complete,
                          error *err)
{
    hunt_settings *s = &hunt->settings;
    char goal[32], claimed[8], state[32];
    uint64_t hidden;
    if (!setting(path, header, "kernel", s->kernel, sizeof s->kernel, err) ||
        !setting(path, header, "convention", s->convention, sizeof s->convention, err) ||
        !convention_parse(s->convention, &hunt->convention, err) ||
        !read_types(path, header, s, err) || !read_count(path, header, "hidden", &hidden, err) ||
        !read_count(path, header, "seed", &s->seed, err) ||
        !setting(path, header, "goal", goal, sizeof goal, err) ||
        !read_real(path, header, "max_kappa", &s->max_kappa, err) ||
        !setting(path, header, "claimed", claimed, sizeof claimed, err) ||
        !read_count(path, header, "keep", &s->keep, err) ||
        !read_count(path, header, "restarts", &s->restarts, err) ||
        !read_real(path, header, "seconds", &s->seconds, err) ||
        !read_shard(path, header, s, err) ||
        !setting(path, header, "state", state, sizeof state, err) ||
        !read_count(path, header, "done", &hunt->done, err))
        return false;
    s->hidden = (size_t)hidden;
    s->goal = strcmp(goal, goals[GOAL_BOUND]) == 0 ? GOAL_BOUND : GOAL_ROW_ULP;
    s->claimed = strcmp(claimed, "yes") == 0;
    *complete = strcmp(state, "complete") == 0;
    return s->keep > 0 || fail(err, EXIT_CODE_USAGE, "%s: keep 0: 1 or more was expected", path);
}

bool hunt_load(const char *path, hunt_state *hunt, bool *complete, error *err)
{
    worst_list list;
    *hunt = (struct hunt_state){0};
    if (!worst_list_read(path, &list, err))
        return false;
    bool fine =
        read_settings(path, list.header.bytes ? list.header.bytes : "", hunt, complete, err);
    for (size_t i = 0; fine && i < list.count; i++) {
        worst_row *row = &list.rows[i];
        if (!row->hunted || row->hidden != hunt->settings.hidden ||
            row->storage != hunt->settings.storage || row->param != hunt->settings.param ||
            strcmp(row->kernel, hunt->settings.kernel) != 0)
            fine = fail(err, EXIT_CODE_USAGE,
                        "%s: find %zu is not of this hunt: another kernel, type or hidden, or no "
                        "restart",
                        path, i + 1);
        else
            fine = hunt_keep(hunt, row, err);
    }
    worst_list_free(&list);
    if (!fine)
        hunt_free(hunt);
    return fine;
}
