/* Makes and reads the files of the shell tests, without the harness's own reader.
 *
 *     test_files make FILE DESCR SHAPE VALUE...    test_files make x.npy '<f4' '(2, 3)' 1 2 3 4 5 6
 *     test_files make FILE DESCR SHAPE FROM:STEP   as many values as the shape has
 *     test_files print FILE FORMAT                 descr, shape, then each element in printf's FORMAT
 *     test_files json KIND FILE                    checks that FILE is strict JSON with the keys of its kind
 *     test_files get PATH FILE                     prints the value at a path such as 0.metrics.ulp_max
 *
 * The values of <f2, <u2 and |V2 are their bits, as integers. */
#include <err.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- .npy ---- */

enum { HEADER = 118 }; /* with the 10 bytes before it, 128 */

/* Converts a value to an element, or back; returns the bytes of an element. */
static size_t convert(const char *descr, bool back, void *element, double *value)
{
    float single = 0;
    int32_t whole = 0;
    uint16_t bits = 0;
    const bool is_bits = strchr("f2u2V2", descr[1]) && descr[2] == '2';
    const size_t size = is_bits ? sizeof bits : descr[2] == '8' ? sizeof *value : sizeof single;
    void *own = is_bits ? (void *)&bits : descr[2] == '8' ? (void *)value : (void *)&single;
    if (descr[1] == 'i')
        own = &whole;
    if (back) {
        memcpy(own, element, size);
        *value = is_bits ? bits : descr[2] == '8' ? *value : (double)single;
        return size;
    }
    single = (float)*value;
    bits = is_bits ? (uint16_t)*value : 0;
    whole = descr[1] == 'i' ? (int32_t)*value : 0;
    memcpy(element, own, size);
    return size;
}

static void make(FILE *file, const char *descr, const char *shape, char **values)
{
    char header[HEADER + 1], element[8];
    const char *step = strchr(values[0], ':');
    size_t count = 1;
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    memset(header + length, ' ', (size_t)(HEADER - length));
    header[HEADER - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fwrite(header, 1, HEADER, file);
    for (const char *at = shape + strcspn(shape, "0123456789"); *at;
         at += strcspn(at, "0123456789")) {
        char *end;
        count *= strtoul(at, &end, 10);
        at = end;
    }
    for (size_t i = 0; i < count; i++) {
        if (!step && !values[i])
            errx(1, "%zu values, %zu were expected", i, count);
        double value = step ? strtod(values[0], NULL) + (double)i * strtod(step + 1, NULL)
                            : strtod(values[i], NULL);
        fwrite(element, convert(descr, false, element, &value), 1, file);
    }
}

static void print(FILE *file, const char *format)
{
    static char header[65536];
    unsigned char begin[10];
    char element[8];
    if (fread(begin, 1, sizeof begin, file) != sizeof begin || memcmp(begin, "\x93NUMPY", 6) != 0 ||
        fread(header, begin[8] + 256u * begin[9], 1, file) != 1)
        errx(1, "no .npy file");
    const char *descr = strstr(header, "'descr': '") + 10,
               *shape = strstr(header, "'shape': (") + 9;
    const size_t size = convert(descr, true, element, &(double){0});
    printf("%.3s %.*s\n", descr, (int)strcspn(shape, ")") + 1, shape);
    for (double value; fread(element, size, 1, file) == 1;) {
        convert(descr, true, element, &value);
        /* The format is given by the test. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        printf(format, value);
        printf("\n");
    }
}

/* ---- JSON ---- */

/* Checks JSON that depends on the machine: every key and its type. golden.tsv checks all other JSON. */
static void check(char *kind, json_t *whole)
{
    json_error_t why;
    json_t *part, *list = strcmp(kind, "doctor") == 0 ? json_object_get(whole, "findings") : whole;
    size_t i;
    int wrong =
        list == whole
            ? 0
            : json_unpack_ex(whole, &why, JSON_VALIDATE_ONLY, "{s:s, s:b, s:F, s:F, s:[], s:{}}",
                             "schema", "trusted", "apart", "cpu_share", "findings", "machine");
    if (json_array_size(list) == 0)
        errx(1, "no array, or an empty one");
    json_array_foreach(list, i, part)
    {
        if (strcmp(kind, "kernels") == 0)
            wrong |= json_unpack_ex(part, &why, JSON_VALIDATE_ONLY,
                                    "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:[]}",
                                    "name", "statistics", "apply", "schedule", "io", "param", "acc",
                                    "isa", "source", "unroll", "supported", "traits");
        else if (strcmp(kind, "models") == 0)
            wrong |=
                json_unpack_ex(part, &why, JSON_VALIDATE_ONLY, "{s:i, s:s}", "hidden", "source");
        else
            wrong |= json_unpack_ex(part, &why, JSON_VALIDATE_ONLY, "{s:s, s:s, s:s}", "grade",
                                    "what", "remedy");
        if (wrong)
            errx(1, "element %zu: %s", i, why.text);
    }
}

/* Prints a value; arrays and objects as their size. */
static void get(char *path, json_t *value)
{
    for (char *part = strtok(path, "."); part; part = strtok(NULL, "."))
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
                                     : json_object_get(value, part);
    if (!value)
        errx(1, "nothing there");
    if (json_is_array(value) || json_is_object(value))
        printf("%zu\n", json_array_size(value) + json_object_size(value));
    else if (json_is_string(value))
        printf("%s\n", json_string_value(value));
    else
        printf("%s\n", json_dumps(value, JSON_ENCODE_ANY));
}

int main(int argc, char **argv)
{
    const bool is_tensor = argc > 3 && argv[1][0] != 'j' && argv[1][0] != 'g';
    const char *path = argc > 3 ? argv[is_tensor ? 2 : 3] : NULL;
    json_error_t why;
    FILE *file = path ? fopen(path, argc > 5 ? "wb" : "rb") : NULL;
    if (!file)
        err(2, "%s", path ? path : "usage: test_files make|print|json|get ...");
    json_t *value = is_tensor ? NULL : json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    if (!is_tensor && !value)
        errx(1, "line %d: %s", why.line, why.text);
    if (is_tensor && argc > 5)
        make(file, argv[3], argv[4], argv + 5);
    else if (is_tensor)
        print(file, argv[3]);
    else
        (argv[1][0] == 'j' ? check : get)(argv[2], value);
    return fclose(file) == 0 ? 0 : 1;
}
