/* Makes and prints .npy files for shell tests, without the harness's own reader.
 *
 *     npy_tool make FILE DESCR SHAPE VALUE...    npy_tool make x.npy '<f4' '(2, 3)' 1 2 3 4 5 6
 *     npy_tool make FILE DESCR SHAPE FROM:STEP   as many as the shape asks for
 *     npy_tool print FILE FORMAT                 descr, shape, then each element in printf's FORMAT
 *
 * Of <f2, <u2 and |V2 the values are the bits, as whole numbers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 118 }; /* with the 10 bytes before it, 128 */

static size_t elements_of(const char *shape)
{
    size_t count = 1;
    for (const char *at = shape; *at;) {
        char *end;
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        count *= strtoul(at, &end, 10);
        at = end;
    }
    return count;
}

static bool write_element(FILE *file, const char *descr, double value)
{
    float single = (float)value;
    if (strcmp(descr, "<f2") == 0 || strcmp(descr + 1, "u2") == 0 || strcmp(descr, "|V2") == 0) {
        uint16_t bits = (uint16_t)value;
        return fwrite(&bits, sizeof bits, 1, file) == 1;
    }
    if (strcmp(descr, "<f4") == 0)
        return fwrite(&single, sizeof single, 1, file) == 1;
    if (strcmp(descr, "<f8") == 0)
        return fwrite(&value, sizeof value, 1, file) == 1;
    int32_t whole = (int32_t)value;
    return fwrite(&whole, sizeof whole, 1, file) == 1;
}

static bool make_array(FILE *file, char **argv, int argc)
{
    const char *descr = argv[0], *shape = argv[1];
    char header[HEADER + 1];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    if (length < 0 || length >= HEADER)
        return false;
    memset(header + length, ' ', (size_t)(HEADER - length));
    header[HEADER - 1] = '\n';
    bool fine = fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file) == 10 &&
                fwrite(header, 1, HEADER, file) == HEADER;
    char *step = strchr(argv[2], ':');
    size_t count = elements_of(shape);
    for (size_t i = 0; fine && i < count; i++)
        if (step)
            fine = write_element(file, descr,
                                 strtod(argv[2], NULL) + (double)i * strtod(step + 1, NULL));
        else
            fine = i + 2 < (size_t)argc && write_element(file, descr, strtod(argv[2 + i], NULL));
    return fine;
}

static bool read_element(FILE *file, const char *descr, double *value)
{
    float single = 0;
    uint16_t bits = 0;
    bool fine;
    if (strncmp(descr, "<f8", 3) == 0)
        return fread(value, sizeof *value, 1, file) == 1;
    if (strncmp(descr, "<f4", 3) == 0) {
        fine = fread(&single, sizeof single, 1, file) == 1;
        *value = (double)single;
    } else {
        fine = fread(&bits, sizeof bits, 1, file) == 1;
        *value = bits;
    }
    return fine;
}

static bool print(FILE *file, const char *format)
{
    unsigned char begin[10];
    char header[65536];
    if (fread(begin, 1, sizeof begin, file) != sizeof begin || memcmp(begin, "\x93NUMPY", 6) != 0)
        return false;
    size_t length = begin[8] + 256u * begin[9];
    if (fread(header, 1, length, file) != length)
        return false;
    header[length] = '\0';
    char *descr = strstr(header, "'descr': '"), *shape = strstr(header, "'shape': (");
    if (!descr || !shape)
        return false;
    printf("%.3s %.*s\n", descr + 10, (int)strcspn(shape + 9, ")") + 1, shape + 9);
    double value;
    while (read_element(file, descr + 10, &value)) {
        /* The format is the test's own. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        printf(format, value);
        printf("\n");
    }
    return true;
}

int main(int argc, char **argv)
{
    bool is_make = argc >= 6 && strcmp(argv[1], "make") == 0;
    bool is_print = argc == 4 && strcmp(argv[1], "print") == 0;
    if (!is_make && !is_print) {
        fprintf(stderr, "usage: npy_tool make FILE DESCR SHAPE VALUE... | print FILE FORMAT\n");
        return 2;
    }
    FILE *file = fopen(argv[2], is_make ? "wb" : "rb");
    if (!file) {
        perror(argv[2]);
        return 2;
    }
    bool fine = is_make ? make_array(file, argv + 3, argc - 3) : print(file, argv[3]);
    return fclose(file) == 0 && fine ? 0 : 1;
}
