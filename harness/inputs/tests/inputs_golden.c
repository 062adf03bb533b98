/* Compares the bits of every input family, and of gamma and beta, with stored FNV-1a hashes: they are the same with
 * every compiler, at every level of optimisation and on every machine. The program needs libc and libm only, so that
 * inputs_cross.sh can build it for other targets. --print prints the table again, after an intended change; all stored
 * runs then have other inputs, which the commit must say. */
#include "domain/operation.h"
#include "inputs/inputs.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 20, HIDDEN = 129 };

/* Returns the hash of 32-bit words: a float is one, a double two. */
static uint64_t hash(const void *words, size_t count)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)words + i * sizeof bits, sizeof bits);
        for (int byte = 0; byte < 4; byte++) {
            value ^= bits >> 8 * byte & 0xff;
            value *= UINT64_C(0x100000001b3);
        }
    }
    return value;
}

typedef struct golden {
    const char *name;
    uint64_t hash;
} golden;

static const golden table[] = {
#include "inputs_golden.inc"
};

/* Compares a hash with the table's next entry, or prints it. */
static bool check(const char *name, const void *words, size_t count, size_t *next, bool print)
{
    uint64_t found = hash(words, count);
    if (print) {
        printf("    {\"%s\", UINT64_C(0x%016" PRIx64 ")},\n", name, found);
        return true;
    }
    const golden *entry = *next < sizeof table / sizeof *table ? &table[*next] : NULL;
    ++*next;
    if (entry && strcmp(entry->name, name) == 0 && entry->hash == found)
        return true;
    fprintf(stderr, "%s: 0x%016" PRIx64 ", the table has %s\n", name, found,
            entry ? entry->name : "no such entry");
    return false;
}

static bool check_families(size_t *next, bool print)
{
    static float x[ROWS * HIDDEN];
    static const char *const more[] = {"offset:1e4", "offset:3.3e7"};
    size_t count;
    bool fine = true;
    const input_family *families = input_families(&count);
    for (size_t i = 0; i < count + 2; i++) {
        const char *name = i < count ? families[i].name : more[i - count];
        input_rows(name, LN_F32, 42, 0, ROWS, HIDDEN, x);
        fine = check(name, x, ROWS * HIDDEN, next, print) && fine;
    }
    return fine;
}

static void parameters_f32(const char *input, const ln_convention *convention, float *both)
{
    const operation_call call = {.problem = problem_dense(convention, LN_F32, LN_F32, 1, HIDDEN),
                                 .inputs = {[ROLE_GAMMA] = both, [ROLE_BETA] = both + HIDDEN}};
    input_parameters(input, &call, 42);
}

static bool check_conventions(size_t *next, bool print)
{
    static float affine[2 * HIDDEN];
    static const char *const names[] = {"torch", "numpy-quotient", "eps=1e-5@std,affine=gamma1"};
    bool fine = true;
    for (size_t i = 0; i < 3; i++) {
        ln_convention convention;
        char name[80];
        memset(affine, 0, sizeof affine);
        if (!convention_parse(names[i], &convention, NULL))
            return false;
        parameters_f32("normal", &convention, affine);
        snprintf(name, sizeof name, "affine of %s", names[i]);
        fine = check(name, affine, sizeof affine / sizeof *affine, next, print) && fine;
    }
    return fine;
}

/* Checks gamma and beta of the families that have their own. */
static bool check_parameters(size_t *next, bool print)
{
    static float both[2 * HIDDEN];
    static const char *const names[] = {"torch", "numpy-quotient", "eps=1e-5@std,affine=gamma1"};
    size_t count;
    bool fine = true;
    const input_family *families = input_families(&count);
    for (size_t i = 0; i < 3 * count; i++) {
        ln_convention convention;
        char name[80];
        const input_family *family = &families[i / 3];
        if (!family->parameters && strcmp(family->name, "ties") != 0)
            continue;
        memset(both, 0, sizeof both);
        if (!convention_parse(names[i % 3], &convention, NULL))
            return false;
        parameters_f32(family->name, &convention, both);
        snprintf(name, sizeof name, "%s's, %s", family->name, names[i % 3]);
        fine = check(name, both, sizeof both / sizeof *both, next, print) && fine;
    }
    return fine;
}

/* Checks all 53 bits of the quantiles: a fused multiply-add that the source does not have changes the last of them long
 * before it changes an f32. */
static bool check_quantile(size_t *next, bool print)
{
    enum { COUNT = 4096, WORDS = 2 };
    static double z[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        z[i] = normal_from_bits(i * UINT32_C(1048583));
    return check("quantile", z, COUNT * WORDS, next, print);
}

/* Checks families, gamma and beta in the other types. */
static bool check_types(size_t *next, bool print)
{
    static const ln_type types[] = {LN_F64, LN_BF16, LN_F16};
    static double x[ROWS * HIDDEN]; /* room for any type */
    size_t count;
    const input_family *families = input_families(&count);
    ln_convention torch;
    bool fine = convention_parse("torch", &torch, NULL);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char *type = dtype_name(types[t]);
        size_t words = dtype_size(types[t]);
        char name[80];
        for (size_t i = 0; i < count; i++) {
            memset(x, 0, sizeof x);
            snprintf(name, sizeof name, "%s in %s", families[i].name, type);
            input_rows(families[i].name, types[t], 42, 0, ROWS, HIDDEN, x);
            fine = check(name, x, ROWS * HIDDEN * words / 4, next, print) && fine;
        }
        memset(x, 0, sizeof x);
        snprintf(name, sizeof name, "affine of torch in %s", type);
        const operation_call call = {.problem =
                                         problem_dense(&torch, types[t], types[t], 1, HIDDEN),
                                     .inputs = {[ROLE_GAMMA] = x, [ROLE_BETA] = x + HIDDEN}};
        input_parameters("normal", &call, 42);
        fine = check(name, x, 2 * HIDDEN * 2, next, print) && fine;
    }
    return fine;
}

int main(int count, char **arguments)
{
    bool print = count > 1 && strcmp(arguments[1], "--print") == 0;
    size_t next = 0;
    bool fine = check_families(&next, print);
    fine = check_conventions(&next, print) && fine;
    fine = check_parameters(&next, print) && fine;
    fine = check_quantile(&next, print) && fine;
    fine = check_types(&next, print) && fine;
    if (!print && next != sizeof table / sizeof *table) {
        fprintf(stderr, "%zu hashes were made, the table has %zu\n", next,
                sizeof table / sizeof *table);
        fine = false;
    }
    return fine ? 0 : 1;
}
