/* json_check KIND FILE: whether FILE is strict JSON of that kind, which depends on the machine: every
 * key there, of its type (all other JSON is as golden.tsv says). json_check get PATH FILE: prints what
 * stands at a path such as 0.metrics.ulp_max; arrays and objects as their size. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key and its type: s string, i integer, n number or null, b boolean, a array, o object. */
typedef struct key {
    const char *name;
    char type;
} key;

static const key kernel_keys[] = {
    {"name", 's'},   {"statistics", 's'}, {"apply", 's'}, {"schedule", 's'}, {"io", 's'},
    {"param", 's'},  {"acc", 's'},        {"isa", 's'},   {"unroll", 'i'},   {"supported", 'b'},
    {"traits", 'a'}, {"source", 's'},     {NULL, 0},
};
static const key shape_keys[] = {{"hidden", 'i'}, {"where", 's'}, {NULL, 0}};
static const key plugin_keys[] = {{"name", 's'}, {"kernels", 'i'}, {"object_hash", 's'}, {NULL, 0}};
static const key doctor_keys[] = {{"schema", 's'},    {"trusted", 'b'},  {"apart", 'n'},
                                  {"cpu_share", 'n'}, {"findings", 'a'}, {"machine", 'o'},
                                  {NULL, 0}};
static const key finding_keys[] = {{"grade", 's'}, {"what", 's'}, {"remedy", 's'}, {NULL, 0}};

static bool fits(const json_t *value, char type)
{
    switch (type) {
    case 's':
        return json_is_string(value);
    case 'i':
        return json_is_integer(value);
    case 'n':
        return json_is_number(value) || json_is_null(value);
    case 'b':
        return json_is_boolean(value);
    case 'a':
        return json_is_array(value);
    default:
        return json_is_object(value);
    }
}

static bool has_keys(const json_t *object, const key *keys)
{
    if (!json_is_object(object)) {
        printf("no object where one was expected\n");
        return false;
    }
    for (; keys->name; keys++) {
        const json_t *value = json_object_get(object, keys->name);
        if (!value || !fits(value, keys->type)) {
            printf("key %s: %s\n", keys->name, value ? "of the wrong type" : "missing");
            return false;
        }
    }
    return true;
}

static bool all(const json_t *array, const key *keys)
{
    size_t index;
    json_t *value;
    if (!json_is_array(array) || json_array_size(array) == 0) {
        printf("no array, or an empty one\n");
        return false;
    }
    json_array_foreach(array, index, value) if (!has_keys(value, keys))
    {
        printf("element %zu\n", index);
        return false;
    }
    return true;
}

static bool check_kind(const char *kind, const json_t *value)
{
    if (strcmp(kind, "kernels") == 0)
        return all(value, kernel_keys);
    if (strcmp(kind, "shapes") == 0)
        return all(value, shape_keys);
    if (strcmp(kind, "plugins") == 0)
        return all(value, plugin_keys);
    if (strcmp(kind, "doctor") == 0)
        return has_keys(value, doctor_keys) &&
               all(json_object_get(value, "findings"), finding_keys);
    printf("no kind %s\n", kind);
    return false;
}

static bool print_value(const json_t *value)
{
    if (json_is_array(value))
        return printf("%zu\n", json_array_size(value)) > 0;
    if (json_is_object(value))
        return printf("%zu\n", json_object_size(value)) > 0;
    if (json_is_string(value))
        return printf("%s\n", json_string_value(value)) > 0;
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    bool fine = text && printf("%s\n", text) > 0;
    free(text);
    return fine;
}

static bool get(const char *path, const json_t *value)
{
    char part[256];
    while (value && *path) {
        size_t length = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
                                     : json_object_get(value, part);
        path += length + (path[length] == '.');
    }
    if (!value)
        printf("nothing there\n");
    return value && print_value(value);
}

int main(int argc, char **argv)
{
    bool is_get = argc == 4 && strcmp(argv[1], "get") == 0;
    if (argc != 3 && !is_get) {
        fprintf(stderr, "usage: json_check KIND FILE | json_check get PATH FILE\n");
        return 2;
    }
    FILE *file = fopen(argv[argc - 1], "r");
    if (!file) {
        perror(argv[argc - 1]);
        return 2;
    }
    json_error_t where;
    json_t *value = NULL;
    bool fine;
    value = json_loadf(file, JSON_REJECT_DUPLICATES, &where);
    if (!value)
        printf("line %d: %s\n", where.line, where.text);
    fine = value && (is_get ? get(argv[2], value) : check_kind(argv[1], value));
    json_decref(value);
    fclose(file);
    return fine ? 0 : 1;
}
