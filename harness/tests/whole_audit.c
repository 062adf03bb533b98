/* The audit of the certified reference on everything: every input family of lnbench, what hunts
 * found, and the audit's own kinds of rows, in all types, under all presets and random conventions.
 *
 *     whole_audit [--elements N] [--seed S]      exit 0: every element and row is right
 *
 * Kinds take turns, and types within a kind, so that any few thousand rows hold all of them.
 */
#include "audit_run.h"
#include "inputs.h"
#include "inputs_worst.h"
#include "seconds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG = 5, KINDS_MOST = 96, TYPES = 4 };

/* What hunts found of one type, of the hidden size that most of it has. */
typedef struct finds {
    size_t hidden, rows;
    void *x;
} finds;

typedef struct whole_audit {
    audit_run *run;
    const input_family *families;
    size_t family_count;
    finds finds[TYPES];
    const char *names[KINDS_MOST];
    char drawn[AUDIT_KINDS][32]; /* the names of the audit's own kinds */
    unsigned kinds;
    bool seen[KINDS_MOST][TYPES][AUDIT_PRESETS];
    unsigned long long state;
    uint64_t seed;
} whole_audit;

static bool load_finds(whole_audit *audit, error *error)
{
    worst_shapes shapes;
    if (!worst_input_shapes(&shapes, error))
        return false;
    bool fine = true;
    for (size_t i = 0; i < shapes.count; i++) {
        const worst_shape *shape = &shapes.shapes[i];
        finds *of_type = &audit->finds[shape->type];
        if (shape->hidden <= AUDIT_MAX_HIDDEN && shape->rows > of_type->rows)
            *of_type = (finds){shape->hidden, shape->rows, NULL};
    }
    for (unsigned type = 0; fine && type < TYPES; type++) {
        finds *of_type = &audit->finds[type];
        of_type->x = malloc(of_type->rows * of_type->hidden * dtype_size((ln_type)type) + 1);
        fine = of_type->x != NULL || fail_memory(error, "finds");
        if (fine && of_type->rows > 0)
            fine = worst_input_rows((ln_type)type, 0, of_type->rows, of_type->hidden, of_type->x,
                                    error);
    }
    worst_shapes_free(&shapes);
    return fine;
}

/* The families, then the finds, then the audit's own kinds. */
static bool name_kinds(whole_audit *audit, error *error)
{
    audit->families = input_families(&audit->family_count);
    audit->kinds = (unsigned)audit->family_count + 1 + AUDIT_KINDS;
    if (audit->kinds > KINDS_MOST)
        return fail(error, EXIT_CODE_USAGE, "more than %d kinds of rows", KINDS_MOST);
    for (size_t i = 0; i < audit->family_count; i++)
        audit->names[i] = audit->families[i].name;
    audit->names[audit->family_count] = WORST_INPUT;
    for (size_t i = 0; i < AUDIT_KINDS; i++) {
        snprintf(audit->drawn[i], sizeof audit->drawn[i], "drawn %s", audit_kind_names[i]);
        audit->names[audit->family_count + 1 + i] = audit->drawn[i];
    }
    return true;
}

static unsigned below(whole_audit *audit, size_t count)
{
    return (unsigned)(audit_random(&audit->state) % count);
}

/* Families that hurt without eps are audited so half of the time, by which the ties are reached. */
static void choose_convention(whole_audit *audit, const input_family *family, audit_row *row)
{
    row->convention = audit_convention_draw(&audit->state);
    if (family && family->without_eps && below(audit, 2)) {
        row->convention.eps_place = LN_EPS_NONE;
        row->convention.eps = 0;
    }
}

static bool take_family(whole_audit *audit, const input_family *family, audit_row *row,
                        error *error)
{
    uint64_t seed = audit->seed + below(audit, 8);
    row->hidden = 2 + below(audit, AUDIT_MAX_HIDDEN - 1);
    row->hidden -= family->without_eps && row->hidden % 2; /* ties are of even rows */
    choose_convention(audit, family, row);
    return input_rows_typed(family->name, row->storage, seed, below(audit, 64), 1, row->hidden,
                            &row->x, error) &&
           input_parameters_typed(family->name, &row->convention, row->param, seed, row->hidden,
                                  &row->gamma, &row->beta, error);
}

/* A find of the type; where there is none, a normal row. */
static bool take_find(whole_audit *audit, audit_row *row, error *error)
{
    const finds *finds = &audit->finds[row->storage];
    if (finds->rows == 0)
        return take_family(audit, &audit->families[0], row, error);
    size_t bytes = finds->hidden * dtype_size(row->storage);
    row->hidden = finds->hidden;
    choose_convention(audit, NULL, row);
    memcpy(&row->x, (char *)finds->x + below(audit, finds->rows) * bytes, bytes);
    return input_parameters_typed("normal", &row->convention, row->param, audit->seed, row->hidden,
                                  &row->gamma, &row->beta, error);
}

static bool is_preset(const ln_convention *convention, size_t preset)
{
    const ln_convention *other = &audit_presets[preset];
    return convention->ddof == other->ddof && convention->eps_place == other->eps_place &&
           convention->eps == other->eps && convention->affine == other->affine;
}

static void note_preset(whole_audit *audit, unsigned kind)
{
    const audit_row *row = audit_run_row(audit->run);
    for (size_t i = 0; i < AUDIT_PRESETS; i++)
        audit->seen[kind][row->storage][i] |= is_preset(&row->convention, i);
}

static void print_coverage(const whole_audit *audit)
{
    size_t seen = 0;
    for (unsigned kind = 0; kind < audit->kinds; kind++)
        for (unsigned type = 0; type < TYPES; type++)
            for (size_t i = 0; i < AUDIT_PRESETS; i++)
                seen += audit->seen[kind][type][i];
    printf("of %u kinds of rows (%zu of them input families) in %d types under %d presets: %zu of "
           "%u combinations\n",
           audit->kinds, audit->family_count, TYPES, AUDIT_PRESETS, seen,
           audit->kinds * TYPES * AUDIT_PRESETS);
}

static bool take_row(whole_audit *audit, uint64_t number, error *error)
{
    audit_row *row = audit_run_row(audit->run);
    unsigned kind = (unsigned)(number % audit->kinds);
    row->storage = (ln_type)((number / audit->kinds) % TYPES);
    row->param = below(audit, 3) == 0 ? (ln_type)below(audit, TYPES) : row->storage;
    row->has_residual = false;
    bool fine = true;
    if (kind < audit->family_count)
        fine = take_family(audit, &audit->families[kind], row, error);
    else if (kind == audit->family_count)
        fine = take_find(audit, row, error);
    else
        audit_row_draw(row, kind - (unsigned)audit->family_count - 1, &audit->state);
    note_preset(audit, kind);
    return fine && (audit_run_take(audit->run, kind) || fail_memory(error, "the audit"));
}

static bool run_audit(whole_audit *audit, uint64_t elements, error *error)
{
    double start = seconds_now();
    bool fine = name_kinds(audit, error) && load_finds(audit, error);
    audit->run = fine ? audit_run_create(audit->names, audit->kinds) : NULL;
    fine = fine && (audit->run || fail_memory(error, "the audit"));
    for (uint64_t i = 0; fine && audit_run_totals(audit->run).elements < elements; i++)
        fine = take_row(audit, i, error);
    if (fine) {
        printf("seed %" PRIu64 "\n", audit->seed);
        print_coverage(audit);
        audit_run_print(audit->run, seconds_now() - start);
    }
    return fine;
}

static bool read_count(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

int main(int argc, char **argv)
{
    uint64_t elements = 100000, seed = 1;
    bool fine = argc % 2 == 1;
    for (int i = 1; fine && i < argc; i += 2)
        fine = (strcmp(argv[i], "--elements") == 0 && read_count(argv[i + 1], &elements)) ||
               (strcmp(argv[i], "--seed") == 0 && read_count(argv[i + 1], &seed));
    if (!fine) {
        fprintf(stderr, "usage: whole_audit [--elements N] [--seed S]\n");
        return EXIT_CODE_USAGE;
    }
    whole_audit *audit = calloc(1, sizeof *audit);
    error error = {0};
    fine = audit != NULL || fail_memory(&error, "the audit");
    if (fine) {
        audit->seed = seed;
        audit->state = seed;
        fine = run_audit(audit, elements, &error);
    }
    int code = !fine ? (int)error.code : audit_run_totals(audit->run).wrong > 0 ? EXIT_WRONG : 0;
    if (!fine)
        fprintf(stderr, "whole_audit: %s\n", error.message);
    for (unsigned type = 0; audit && type < TYPES; type++)
        free(audit->finds[type].x);
    if (audit)
        audit_run_destroy(audit->run);
    free(audit);
    return code;
}
