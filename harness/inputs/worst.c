/* Rows that hunts found, from their files. */
#include "inputs/worst.h"
#include "base/hash.h"
#include "base/paths.h"
#include "inputs/worst_row.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char place_prefix[] = WORST_INPUT ":";

static bool has_place(const char *input)
{
    return strncmp(input, place_prefix, strlen(place_prefix)) == 0;
}

bool input_is_worst(const char *input)
{
    return strcmp(input, WORST_INPUT) == 0 || has_place(input);
}

const char *worst_place(const char *input)
{
    static _Thread_local char path[1024];
    const char *named = has_place(input) ? input + strlen(place_prefix) : getenv("LNBENCH_WORST");
    error missing = {0};
    if (!named && !path_of_worst(path, sizeof path, &missing))
        return "reference/worst";
    return named ? named : path;
}

static int is_find_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

typedef bool find_taker(const worst_row *, void *, error *);

static bool each_find_of_file(const char *path, find_taker *take, void *context, error *err)
{
    worst_list list;
    if (!worst_list_read(path, &list, err))
        return false;
    bool fine = true;
    for (size_t find = 0; fine && find < list.count; find++)
        fine = take(&list.rows[find], context, err);
    worst_list_free(&list);
    return fine;
}

/* Calls take() for every find, in the order of the files' names. */
static bool each_find(const char *input, find_taker *take, void *context, error *err)
{
    const char *place = worst_place(input);
    struct dirent **names = NULL;
    int count = scandir(place, &names, is_find_file, alphasort);
    if (count < 0 && errno == ENOTDIR)
        return each_find_of_file(place, take, context, err);
    if (count < 0)
        return (errno == ENOENT && !has_place(input)) ||
               fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", place, strerror(errno));
    bool fine = true;
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", place, names[i]->d_name);
        free(names[i]);
        fine = fine && each_find_of_file(path, take, context, err);
    }
    free(names);
    return fine;
}

/* All rows of one type and hidden, one behind the other. */
typedef struct gathered {
    ln_type type;
    size_t hidden, rows;
    char *x;
} gathered;

static bool gather(const worst_row *find, void *context, error *err)
{
    gathered *into = context;
    if (find->hidden != into->hidden || find->storage != into->type)
        return true;
    size_t row_bytes = into->hidden * dtype_size(into->type);
    char *grown = realloc(into->x, (into->rows + find->rows) * row_bytes);
    if (!grown)
        return fail_memory(err, "the worst rows");
    into->x = grown;
    memcpy(into->x + into->rows * row_bytes, find->inputs[ROLE_X], find->rows * row_bytes);
    into->rows += find->rows;
    return true;
}

bool worst_input_rows(const char *input, ln_type type, size_t first, size_t count, size_t hidden,
                      void *x, error *err)
{
    gathered all = {.type = type, .hidden = hidden};
    size_t row_bytes = hidden * dtype_size(type);
    bool fine = each_find(input, gather, &all, err);
    if (fine && all.rows == 0)
        fine = fail(err, EXIT_CODE_USAGE,
                    "input %.64s: no %s row of hidden %zu in %s: lnbench hunt --hidden %zu with a "
                    "kernel of that type finds some",
                    input, dtype_name(type), hidden, worst_place(input), hidden);
    for (size_t i = 0; fine && i < count; i++)
        memcpy((char *)x + i * row_bytes, all.x + (first + i) % all.rows * row_bytes, row_bytes);
    free(all.x);
    return fine;
}

static bool add_shape(const worst_row *find, void *context, error *err)
{
    worst_shapes *shapes = context;
    size_t at = 0;
    while (at < shapes->count &&
           (shapes->shapes[at].hidden != find->hidden || shapes->shapes[at].type != find->storage))
        at++;
    if (at == shapes->count) {
        worst_shape *grown = realloc(shapes->shapes, (at + 1) * sizeof *grown);
        if (!grown)
            return fail_memory(err, "the worst rows");
        shapes->shapes = grown;
        shapes->shapes[shapes->count++] = (worst_shape){find->storage, find->hidden, 0};
    }
    shapes->shapes[at].rows += find->rows;
    shapes->rows += find->rows;
    shapes->hash = hash_bytes(shapes->hash ? shapes->hash : HASH_START, find->inputs[ROLE_X],
                              find->rows * find->hidden * dtype_size(find->storage));
    return true;
}

bool worst_input_shapes(const char *input, worst_shapes *shapes, error *err)
{
    *shapes = (worst_shapes){0};
    if (each_find(input, add_shape, shapes, err))
        return true;
    worst_shapes_free(shapes);
    return false;
}

void worst_shapes_free(worst_shapes *shapes)
{
    free(shapes->shapes);
    *shapes = (worst_shapes){0};
}
