/* Shards of a hunt, written and read. */
#include "referee/hunt/shard.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/number.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Another number where the same settings would try other rows. */
#define HUNT_VERSION "lnbench-hunt-1"
#define SHARD_SCHEMA "lnbench-shard-1"

static const char *goal_name(hunt_goal goal)
{
    return goal == GOAL_BOUND ? "bound" : "row-ulp";
}

void hunt_range(const hunt_settings *settings, uint64_t *first, uint64_t *end)
{
    uint64_t each = settings->restarts / settings->shards;
    uint64_t more = settings->restarts % settings->shards, i = settings->shard;
    *first = each * i + (i < more ? i : more);
    *end = *first + each + (i < more);
}

void hunt_plan_hash(const hunt_settings *s, char hash[20])
{
    char words[512], kappa[32];
    int length =
        snprintf(words, sizeof words, HUNT_VERSION " %s %s %s %s %zu %llu %s %s %d %llu %llu",
                 s->kernel, s->convention, dtype_name(s->storage), dtype_name(s->param), s->hidden,
                 (unsigned long long)s->seed, goal_name(s->goal),
                 isinf(s->max_kappa) ? "inf" : number_format(s->max_kappa, kappa), s->claimed,
                 (unsigned long long)s->keep, (unsigned long long)s->restarts);
    snprintf(hash, 20, "%016llx",
             (unsigned long long)hash_bytes(HASH_START, words, (size_t)length));
}

bool shard_folder_fits(const char *directory, error *err)
{
    return strlen(directory) <= SHARD_FOLDER ||
           fail(err, EXIT_CODE_USAGE,
                "%.40s...: the path of a folder of shards has %d bytes at most: change there first",
                directory, SHARD_FOLDER);
}

void hunt_shard_path(const hunt_settings *settings, const char *directory, bool begun,
                     char path[SHARD_PATH])
{
    snprintf(path, SHARD_PATH, "%.900s/shard-%llu-of-%llu%s.jsonl", directory,
             (unsigned long long)settings->shard, (unsigned long long)settings->shards,
             begun ? ".begun" : "");
}

bool hunt_shard_named(const char *name, bool *begun)
{
    static const char end[] = ".jsonl", under_way[] = ".begun.jsonl";
    size_t length = strlen(name);
    if (strncmp(name, "shard-", 6) != 0 || length < sizeof under_way ||
        strcmp(name + length - (sizeof end - 1), end) != 0)
        return false;
    *begun = strcmp(name + length - (sizeof under_way - 1), under_way) == 0;
    return true;
}

bool hunt_shard_note(hunt_shard *shard, error *err)
{
    const hunt_state *hunt = &shard->hunt;
    if (hunt->find_count == 0 ||
        (shard->record_count > 0 &&
         !(hunt->finds[0].score > shard->records[shard->record_count - 1].score)))
        return true;
    hunt_record *grown =
        realloc(shard->records, (shard->record_count + 1) * sizeof *shard->records);
    if (!grown)
        return fail_memory(err, "the records of a hunt");
    shard->records = grown;
    grown[shard->record_count++] =
        (hunt_record){hunt->rows, hunt->finds[0].restart, hunt->finds[0].score};
    return true;
}

/* ---- writing ---- */

/* Takes the line over. */
static void add_line(text_buffer *out, json_t *line, size_t *lines)
{
    char *text = line ? json_dumps(line, JSON_REAL_PRECISION(17)) : NULL;
    if (text) {
        text_add(out, text);
        text_add(out, "\n");
        ++*lines;
    } else {
        out->failed = true;
    }
    free(text);
    json_decref(line);
}

/* Infinity is null. */
static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *plan_json(const hunt_shard *shard)
{
    const hunt_settings *s = &shard->hunt.settings;
    uint64_t first, end;
    hunt_range(s, &first, &end);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:b, s:I, s:I, s:I, s:I, s:I, "
        "s:I}",
        "schema", SHARD_SCHEMA, "plan", shard->plan, "library", shard->library, "kernel", s->kernel,
        "convention", s->convention, "dtype", dtype_name(s->storage), "param", dtype_name(s->param),
        "hidden", (json_int_t)s->hidden, "seed", (json_int_t)s->seed, "goal", goal_name(s->goal),
        "max_kappa", real_json(s->max_kappa), "claimed", s->claimed, "keep", (json_int_t)s->keep,
        "restarts", (json_int_t)s->restarts, "shard", (json_int_t)s->shard, "shards",
        (json_int_t)s->shards, "first", (json_int_t)first, "end", (json_int_t)end);
}

bool hunt_shard_write(const hunt_shard *shard, const char *path, error *err)
{
    const hunt_state *hunt = &shard->hunt;
    text_buffer out = {0};
    size_t lines = 0;
    add_line(&out, plan_json(shard), &lines);
    add_line(&out,
             json_pack("{s:I, s:I, s:f, s:s, s:s}", "done", (json_int_t)hunt->done, "rows",
                       (json_int_t)hunt->rows, "seconds", shard->seconds, "host", shard->host,
                       "cpu", shard->cpu),
             &lines);
    for (size_t i = 0; i < shard->record_count; i++)
        add_line(&out,
                 json_pack("{s:I, s:o, s:I}", "rows", (json_int_t)shard->records[i].rows, "score",
                           real_json(shard->records[i].score), "restart",
                           (json_int_t)shard->records[i].restart),
                 &lines);
    for (size_t i = 0; i < hunt->find_count; i++) {
        text_buffer find = {0};
        worst_row_format(&hunt->finds[i], &find);
        out.failed |= find.failed;
        add_line(&out, json_pack("{s:s}", "find", find.bytes ? find.bytes : ""), &lines);
        text_free(&find);
    }
    if (!out.failed)
        text_format(&out, "{\"lines\": %zu, \"hash\": \"%016llx\"}\n", lines,
                    (unsigned long long)hash_bytes(HASH_START, out.bytes, out.length));
    bool fine = out.failed ? fail_memory(err, path) : write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

/* ---- reading ---- */

static bool broken(const char *path, const char *why, error *err)
{
    return fail(err, EXIT_CODE_USAGE, "%s: %s", path, why);
}

/* The file's bytes, whose last line vouches for the others; *lines: how many those are. */
static char *read_checked(const char *path, size_t *lines, error *err)
{
    char *bytes = NULL, *last;
    size_t room = 0;
    unsigned long long hash;
    FILE *file = fopen(path, "rb");
    errno = file ? 0 : errno;
    ssize_t length = file ? getdelim(&bytes, &room, '\0', file) : -1;
    bool fine = length >= 0 || (file && feof(file) && !ferror(file));
    if (!fine)
        fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (fine && length > 1) {
        last = memrchr(bytes, '\n', (size_t)length - 1);
        last = last ? last + 1 : bytes;
        if (bytes[length - 1] == '\n' &&
            sscanf(last, "{\"lines\": %zu, \"hash\": \"%16llx\"}", lines, &hash) == 2 &&
            hash == hash_bytes(HASH_START, bytes, (size_t)(last - bytes)))
            return bytes;
    }
    free(bytes);
    if (fine)
        broken(
            path,
            "cut off, or changed since it was written: remove it, and hunt --shard makes it again",
            err);
    return NULL;
}

static bool read_plan(const char *path, const json_t *line, hunt_shard *shard, error *err)
{
    hunt_settings *s = &shard->hunt.settings;
    const char *schema, *plan, *library, *kernel, *convention, *dtype, *param, *goal;
    json_int_t hidden, seed, keep, restarts, number, shards;
    json_t *kappa;
    int claimed;
    if (json_unpack(
            (json_t *)line,
            "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:b, s:I, s:I, s:I, s:I}",
            "schema", &schema, "plan", &plan, "library", &library, "kernel", &kernel, "convention",
            &convention, "dtype", &dtype, "param", &param, "hidden", &hidden, "seed", &seed, "goal",
            &goal, "max_kappa", &kappa, "claimed", &claimed, "keep", &keep, "restarts", &restarts,
            "shard", &number, "shards", &shards) != 0 ||
        strcmp(schema, SHARD_SCHEMA) != 0)
        return broken(path, "no shard of a hunt: " SHARD_SCHEMA " was expected", err);
    s->goal = strcmp(goal, goal_name(GOAL_BOUND)) == 0 ? GOAL_BOUND : GOAL_ROW_ULP;
    if (hidden < 1 || keep < 1 || restarts < 1 || shards < 1 || number < 0 || number >= shards ||
        !dtype_from_name(dtype, &s->storage) || !dtype_from_name(param, &s->param) ||
        strcmp(goal, goal_name(s->goal)) != 0)
        return broken(path, "no shard of a hunt: a setting of it is impossible", err);
    snprintf(shard->plan, sizeof shard->plan, "%s", plan);
    snprintf(shard->library, sizeof shard->library, "%s", library);
    snprintf(s->kernel, sizeof s->kernel, "%s", kernel);
    snprintf(s->convention, sizeof s->convention, "%s", convention);
    s->hidden = (size_t)hidden;
    s->seed = (uint64_t)seed;
    s->max_kappa = json_is_number(kappa) ? json_number_value(kappa) : INFINITY;
    s->claimed = claimed;
    s->keep = (uint64_t)keep;
    s->restarts = (uint64_t)restarts;
    s->shard = (uint64_t)number;
    s->shards = (uint64_t)shards;
    return true;
}

static bool read_state(const char *path, const json_t *line, hunt_shard *shard, error *err)
{
    json_int_t done, rows;
    const char *host, *cpu;
    uint64_t first, end;
    if (json_unpack((json_t *)line, "{s:I, s:I, s:F, s:s, s:s}", "done", &done, "rows", &rows,
                    "seconds", &shard->seconds, "host", &host, "cpu", &cpu) != 0)
        return broken(path, "no shard of a hunt: its second line says how far it is", err);
    hunt_range(&shard->hunt.settings, &first, &end);
    if (done < 0 || (uint64_t)done > end - first)
        return broken(path, "more restarts than it has", err);
    if (rows < 0 || rows / HUNT_MOST_ROWS > done || !(shard->seconds >= 0 && shard->seconds < 1e10))
        return broken(path, "rows or seconds that its restarts cannot have taken", err);
    shard->hunt.done = (uint64_t)done;
    shard->hunt.rows = (uint64_t)rows;
    snprintf(shard->host, sizeof shard->host, "%s", host);
    snprintf(shard->cpu, sizeof shard->cpu, "%s", cpu);
    return true;
}

/* A find, or a record. */
static bool read_more(const char *path, const json_t *line, hunt_shard *shard, text_buffer *finds,
                      error *err)
{
    const char *find = json_string_value(json_object_get(line, "find"));
    json_int_t rows, restart;
    json_t *score;
    uint64_t first, end;
    if (find) {
        text_add(finds, find);
        return !finds->failed || fail_memory(err, path);
    }
    if (json_unpack((json_t *)line, "{s:I, s:o, s:I}", "rows", &rows, "score", &score, "restart",
                    &restart) != 0)
        return broken(path, "no shard of a hunt: a line is neither find nor record", err);
    hunt_range(&shard->hunt.settings, &first, &end);
    if (rows < 0 || (uint64_t)rows > shard->hunt.rows || restart < 0 || (uint64_t)restart < first ||
        (uint64_t)restart >= end || json_number_value(score) < 0 ||
        !(json_is_number(score) || json_is_null(score)))
        return broken(path, "a record that its restarts cannot have made", err);
    hunt_record *grown =
        realloc(shard->records, (shard->record_count + 1) * sizeof *shard->records);
    if (!grown)
        return fail_memory(err, path);
    shard->records = grown;
    grown[shard->record_count++] =
        (hunt_record){(uint64_t)rows, (uint64_t)restart,
                      json_is_number(score) ? json_number_value(score) : INFINITY};
    return true;
}

static bool is_own(const worst_row *find, const hunt_settings *settings)
{
    uint64_t first, end;
    hunt_range(settings, &first, &end);
    return find->hunted && find->hidden == settings->hidden && find->storage == settings->storage &&
           find->param == settings->param && strcmp(find->kernel, settings->kernel) == 0 &&
           strcmp(find->convention, settings->convention) == 0 && find->restart >= first &&
           find->restart < end && find->score >= 0; /* no NaN */
}

static bool read_finds(const char *path, const text_buffer *text, hunt_state *hunt, error *err)
{
    worst_list list = {0};
    if (text->length == 0)
        return true;
    FILE *file = fmemopen(text->bytes, text->length, "r");
    bool fine = file ? worst_list_read_stream(file, path, &list, err) : fail_memory(err, path);
    if (file)
        fclose(file);
    for (size_t i = 0; fine && i < list.count; i++)
        fine = is_own(&list.rows[i], &hunt->settings) ||
               broken(path, "a find is of another hunt or shard", err);
    for (size_t i = 0; fine && i < list.count; i++)
        fine = hunt_keep(hunt, &list.rows[i], err);
    /* Sorted, so that two of the same stand side by side. */
    for (size_t i = 1; fine && i < hunt->find_count; i++)
        if (hunt->finds[i].restart == hunt->finds[i - 1].restart)
            fine = broken(path, "a find is there twice", err);
    worst_list_free(&list);
    return fine;
}

bool hunt_shard_read(const char *path, hunt_shard *shard, error *err)
{
    size_t lines = 0, number = 0;
    text_buffer finds = {0};
    *shard = (struct hunt_shard){0};
    char *state = NULL, *bytes = read_checked(path, &lines, err);
    bool fine = bytes != NULL;
    for (char *line = fine ? strtok_r(bytes, "\n", &state) : NULL; fine && line && number < lines;
         line = strtok_r(NULL, "\n", &state)) {
        json_t *object = json_loads(line, 0, NULL);
        fine = object ? number == 0   ? read_plan(path, object, shard, err)
                        : number == 1 ? read_state(path, object, shard, err)
                                      : read_more(path, object, shard, &finds, err)
                      : broken(path, "no shard of a hunt: a line is no JSON", err);
        json_decref(object);
        number++;
    }
    if (fine && number < 2)
        fine = broken(path, "no shard of a hunt: it has no lines", err);
    fine = fine && read_finds(path, &finds, &shard->hunt, err);
    text_free(&finds);
    free(bytes);
    if (!fine)
        hunt_shard_free(shard);
    return fine;
}

void hunt_shard_free(hunt_shard *shard)
{
    hunt_free(&shard->hunt);
    free(shard->records);
    *shard = (struct hunt_shard){0};
}

const char *hunt_shard_difference(const hunt_shard *left, const hunt_shard *right)
{
    const hunt_settings *a = &left->hunt.settings, *b = &right->hunt.settings;
    return strcmp(a->kernel, b->kernel) != 0            ? "kernel"
           : strcmp(left->library, right->library) != 0 ? "the library"
           : strcmp(a->convention, b->convention) != 0  ? "convention"
           : a->storage != b->storage                   ? "dtype"
           : a->param != b->param                       ? "param"
           : a->hidden != b->hidden                     ? "hidden"
           : a->seed != b->seed                         ? "seed"
           : a->goal != b->goal                         ? "goal"
           : a->max_kappa != b->max_kappa               ? "max_kappa"
           : a->claimed != b->claimed                   ? "claimed"
           : a->keep != b->keep                         ? "keep"
           : a->restarts != b->restarts                 ? "restarts"
           : a->shards != b->shards                     ? "the number of shards"
           : strcmp(left->plan, right->plan) != 0       ? "the version of the hunt"
                                                        : NULL;
}

uint64_t hunt_shard_content(const hunt_shard *shard)
{
    const hunt_state *hunt = &shard->hunt;
    uint64_t hash = hash_bytes(HASH_START, &hunt->rows, sizeof hunt->rows);
    for (size_t i = 0; i < hunt->find_count; i++) {
        text_buffer find = {0};
        worst_row_format(&hunt->finds[i], &find);
        hash = hash_bytes(hash, find.bytes, find.length);
        text_free(&find);
    }
    return hash;
}
