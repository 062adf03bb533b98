/* Audits the certified reference on every input family of lnbench, the adversarial rows, and the audit's own kinds of
 * rows, in all types, under all presets and random conventions.
 *
 *     whole_audit [--elements N] [--seed S]      exit 0: every element and row is right
 *
 * Kinds alternate, and so do types within a kind, so that a few thousand rows contain all of them.
 */
#include "audit.h"
#include "base/arena.h"
#include "base/die.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG = 5, KINDS_MOST = 96, TYPES = 4 };

/* The adversarial rows of one type that have its most frequent hidden size. */
typedef struct hunt_finds {
    size_t hidden, rows;
    void *x;
} hunt_finds;

typedef struct whole_audit {
    audit_run *run;
    const input_family *families;
    size_t family_count;
    hunt_finds finds[TYPES];
    const char *names[KINDS_MOST];
    char drawn[AUDIT_KINDS][32]; /* the names of the audit's own kinds */
    unsigned kinds;
    bool seen[KINDS_MOST][TYPES][AUDIT_PRESETS];
    unsigned long long state;
    arena memory; /* of the finds */
    uint64_t seed;
} whole_audit;

static void load_finds(whole_audit *audit)
{
    worst_shapes shapes;
    worst_input_shapes(WORST_INPUT, &shapes);
    for (size_t i = 0; i < shapes.count; i++) {
        const worst_shape *shape = &shapes.shapes[i];
        hunt_finds *of_type = &audit->finds[shape->type];
        if (shape->hidden <= AUDIT_MAX_HIDDEN && shape->rows > of_type->rows)
            *of_type = (hunt_finds){shape->hidden, shape->rows, NULL};
    }
    for (unsigned type = 0; type < TYPES; type++) {
        hunt_finds *of_type = &audit->finds[type];
        of_type->x = arena_new(&audit->memory, char,
                               of_type->rows * of_type->hidden * dtype_size((ln_type)type));
        if (of_type->rows > 0)
            worst_input_rows(WORST_INPUT, (ln_type)type, 0, of_type->rows, of_type->hidden,
                             of_type->x);
    }
    free(shapes.shapes);
}

/* Lists the kinds: the families, the adversarial rows, and the audit's own kinds. */
static void name_kinds(whole_audit *audit)
{
    audit->families = input_families(&audit->family_count);
    audit->kinds = (unsigned)audit->family_count + 1 + AUDIT_KINDS;
    if (audit->kinds > KINDS_MOST)
        die(EXIT_CODE_USAGE, "more than %d kinds of rows", KINDS_MOST);
    for (size_t i = 0; i < audit->family_count; i++)
        audit->names[i] = audit->families[i].name;
    audit->names[audit->family_count] = WORST_INPUT;
    for (size_t i = 0; i < AUDIT_KINDS; i++) {
        snprintf(audit->drawn[i], sizeof audit->drawn[i], "drawn %s", audit_kind_names[i]);
        audit->names[audit->family_count + 1 + i] = audit->drawn[i];
    }
}

static unsigned below(whole_audit *audit, size_t count)
{
    return (unsigned)(audit_random(&audit->state) % count);
}

/* Chooses a convention. Half of the rows of families that are hardest without eps have none, which produces ties. */
static void choose_convention(whole_audit *audit, const input_family *family, audit_row *row)
{
    row->convention = audit_convention_draw(&audit->state);
    if (family && family->without_eps && below(audit, 2)) {
        row->convention.eps_place = LN_EPS_NONE;
        row->convention.eps = 0;
    }
}

static void take_parameters(const char *input, uint64_t seed, audit_row *row)
{
    const operation_call call = {
        .problem = problem_dense(&row->convention, row->storage, row->param, 1, row->hidden),
        .inputs = {[ROLE_GAMMA] = &row->gamma, [ROLE_BETA] = &row->beta}};
    input_parameters(input, &call, seed);
}

static void take_family(whole_audit *audit, const input_family *family, audit_row *row)
{
    uint64_t seed = audit->seed + below(audit, 8);
    row->hidden = 2 + below(audit, AUDIT_MAX_HIDDEN - 1);
    row->hidden -= family->without_eps && row->hidden % 2; /* only even rows have ties */
    choose_convention(audit, family, row);
    take_parameters(family->name, seed, row);
    input_rows(family->name, row->storage, seed, below(audit, 64), 1, row->hidden, &row->x);
}

/* Takes an adversarial row of the type, or a normal row if there is none. */
static void take_find(whole_audit *audit, audit_row *row)
{
    const hunt_finds *finds = &audit->finds[row->storage];
    if (finds->rows == 0) {
        take_family(audit, &audit->families[0], row);
        return;
    }
    size_t bytes = finds->hidden * dtype_size(row->storage);
    row->hidden = finds->hidden;
    choose_convention(audit, NULL, row);
    memcpy(&row->x, (char *)finds->x + below(audit, finds->rows) * bytes, bytes);
    take_parameters("normal", audit->seed, row);
}

static void note_preset(whole_audit *audit, unsigned kind)
{
    const audit_row *row = audit_run_row(audit->run);
    const ln_convention *own = &row->convention;
    for (size_t i = 0; i < AUDIT_PRESETS; i++) {
        const ln_convention *other = &audit_presets[i];
        audit->seen[kind][row->storage][i] |=
            own->ddof == other->ddof && own->eps_place == other->eps_place &&
            own->eps == other->eps && own->affine == other->affine;
    }
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

static void take_row(whole_audit *audit, uint64_t number)
{
    audit_row *row = audit_run_row(audit->run);
    unsigned kind = (unsigned)(number % audit->kinds);
    row->storage = (ln_type)((number / audit->kinds) % TYPES);
    row->param = below(audit, 3) == 0 ? (ln_type)below(audit, TYPES) : row->storage;
    row->has_residual = false;
    if (kind < audit->family_count)
        take_family(audit, &audit->families[kind], row);
    else if (kind == audit->family_count)
        take_find(audit, row);
    else
        audit_row_draw(row, kind - (unsigned)audit->family_count - 1, &audit->state);
    note_preset(audit, kind);
    if (!audit_run_take(audit->run, kind))
        memory_is_out(row->hidden);
}

/* Audits one long row. main() chooses one input with numbers of both signs, and one with one sign. */
static void take_long(whole_audit *audit, ln_type type, const char *input, size_t hidden)
{
    enum { SAMPLES = 2000 };
    const size_t bytes = hidden * dtype_size(type);
    char *room = allocate(3 * bytes);
    const audit_long_row row = {.name = input,
                                .convention = audit_presets[below(audit, 2)], /* torch's */
                                .storage = type,
                                .param = type,
                                .hidden = hidden,
                                .x = room,
                                .gamma = room + bytes,
                                .beta = room + 2 * bytes};
    const operation_call call = {
        .problem = problem_dense(&row.convention, type, type, 1, hidden),
        .inputs = {[ROLE_GAMMA] = room + bytes, [ROLE_BETA] = room + 2 * bytes}};
    input_parameters(input, &call, audit->seed);
    input_rows(input, type, audit->seed, 0, 1, hidden, room);
    if (!audit_run_take_long(audit->run, &row, SAMPLES))
        memory_is_out(hidden);
    free(room);
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
    const double start = seconds_now();
    whole_audit *audit = allocate_zeroed(1, sizeof *audit);
    audit->seed = audit->state = seed;
    name_kinds(audit);
    load_finds(audit);
    audit->run = audit_run_create(audit->names, audit->kinds);
    if (!audit->run)
        memory_is_out(0);
    /* The longest sums have as many elements as are audited, up to 1e7. */
    const size_t longest = elements < 10000000 ? (size_t)elements + 1 : 10000000;
    for (unsigned type = 0; type < TYPES; type++) {
        take_long(audit, (ln_type)type, "normal", longest);
        take_long(audit, (ln_type)type, "positive", longest);
    }
    for (uint64_t i = 0; audit_run_totals(audit->run).elements < elements; i++)
        take_row(audit, i);
    printf("seed %" PRIu64 "\n", audit->seed);
    print_coverage(audit);
    audit_run_print(audit->run, seconds_now() - start);
    const bool wrong = audit_run_totals(audit->run).wrong > 0;
    audit_run_destroy(audit->run);
    arena_free(&audit->memory);
    free(audit);
    return wrong ? EXIT_WRONG : 0;
}
