/* lnbench fingerprint --distance: how far conventions lie apart, exactly. */
#include "cli/command.h"
#include "answer/run_view.h"
#include "base/allocate.h"
#include "domain/convention.h"
#include "base/output.h"
#include "base/text.h"
#include "plan/plan.h"
#include "report/charts/chart.h"
#include "exact/apart.h"
#include "domain/case.h"
#include "base/words.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is easily taken for a convention: the other divisor, eps at each other place, none. */
typedef enum neighbour_kind {
    NEIGHBOUR_DIVISOR,
    NEIGHBOUR_VAR,
    NEIGHBOUR_STD,
    NEIGHBOUR_QUOTIENT,
    NEIGHBOUR_NO_EPS,
    NEIGHBOUR_KINDS,
} neighbour_kind;

/* The conventions named, or every preset; those that differ in the affine form alone once, under
 * all their names ("torch = torch-nobias = tinyllm"). */
typedef struct distance_list {
    ln_convention *conventions;
    char (*names)[DETAIL_MAX_LENGTH];
    size_t count;
} distance_list;

static const char *const neighbour_names[NEIGHBOUR_KINDS] = {"other divisor", "eps@var", "eps@std",
                                                             "eps@quotient", "no eps"};

/* Divisor and eps the same: the affine form makes no distance. */
static bool same_normalisation(const ln_convention *a, const ln_convention *b)
{
    return a->ddof == b->ddof && a->eps_place == b->eps_place && a->eps == b->eps;
}

/* False where the convention is its own neighbour of that kind (or has no eps to put there). */
static bool neighbour_of(const ln_convention *own, neighbour_kind kind, ln_convention *neighbour)
{
    static const ln_eps_place places[NEIGHBOUR_KINDS] = {LN_EPS_NONE, LN_EPS_VAR, LN_EPS_STD,
                                                         LN_EPS_QUOTIENT, LN_EPS_NONE};
    *neighbour = *own;
    if (kind == NEIGHBOUR_DIVISOR) {
        neighbour->ddof = 1 - own->ddof;
        return true;
    }
    neighbour->eps_place = places[kind];
    if (kind == NEIGHBOUR_NO_EPS)
        neighbour->eps = 0;
    return own->eps_place != LN_EPS_NONE && own->eps_place != places[kind];
}

static void distance_list_free(distance_list *list)
{
    free(list->conventions);
    free(list->names);
    *list = (distance_list){0};
}

static void list_add(distance_list *list, const ln_convention *convention)
{
    char label[CONVENTION_MAX_LENGTH];
    convention_label(convention, label);
    for (size_t i = 0; i < list->count; i++) {
        if (!same_normalisation(convention, &list->conventions[i]))
            continue;
        char *name = list->names[i];
        size_t length = strlen(name);
        if (convention->affine != list->conventions[i].affine && length < DETAIL_MAX_LENGTH)
            snprintf(name + length, DETAIL_MAX_LENGTH - length, " = %s", label);
        return;
    }
    snprintf(list->names[list->count], DETAIL_MAX_LENGTH, "%s", label);
    list->conventions[list->count++] = *convention;
}

static distance_list with_room(size_t most)
{
    return (distance_list){.conventions = allocate_zeroed(most, sizeof(ln_convention)),
                           .names = allocate_zeroed(most, DETAIL_MAX_LENGTH)};
}

static bool distance_list_make(const word_list *named, distance_list *list, error *err)
{
    size_t presets;
    const convention_preset *all = convention_presets(OPERATION_LAYERNORM, &presets);
    word_list words = {0};
    bool fine = split_conventions(named, NULL, &words, err);
    *list = with_room(words.count ? words.count : presets);
    for (size_t i = 0; fine && i < (words.count ? words.count : presets); i++) {
        ln_convention convention = all[i < presets ? i : 0].convention;
        fine = !words.count || convention_parse(words.words[i], &convention, err);
        if (fine && convention_operation(&convention) != OPERATION_LAYERNORM)
            fine = fail(
                err, EXIT_CODE_USAGE,
                "--distance: %.60s is a convention of RMSNorm: distances are those of LayerNorm's "
                "(docs/conventions.md says how far RMSNorm's presets lie apart)",
                words.words[i]);
        if (fine)
            list_add(list, &convention);
    }
    word_list_free(&words);
    if (!fine)
        distance_list_free(list);
    return fine;
}

static void add_named(distance_list *list, const ln_convention *convention, const char *name)
{
    snprintf(list->names[list->count], DETAIL_MAX_LENGTH, "%s", name);
    list->conventions[list->count++] = *convention;
}

/* One list of the conventions that differ from this in one thing: its neighbours and, with a tenth
 * of its eps, one more; of a convention without eps: those with 1e-5 at each place. Named by what
 * differs. */
static void distance_list_neighbours(const ln_convention *own, distance_list *list)
{
    ln_convention other;
    char name[DETAIL_MAX_LENGTH];
    *list = with_room(NEIGHBOUR_KINDS + 1);
    bool has_eps = own->eps_place != LN_EPS_NONE;
    for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
        bool is_place = kind >= NEIGHBOUR_VAR && kind <= NEIGHBOUR_QUOTIENT;
        ln_convention from = *own;
        if (!has_eps && is_place) {
            from.eps = 1e-5;
            from.eps_place = kind == NEIGHBOUR_VAR ? LN_EPS_STD : LN_EPS_VAR;
        }
        if (!neighbour_of(&from, (neighbour_kind)kind, &other))
            continue;
        snprintf(name, sizeof name, "%s%s", has_eps || !is_place ? "" : "1e-05 ",
                 kind == NEIGHBOUR_DIVISOR ? (other.ddof ? "divisor N-1" : "divisor N")
                                           : neighbour_names[kind]);
        add_named(list, &other, name);
    }
    if (has_eps) {
        other = *own;
        other.eps /= 10;
        add_named(list, &other, "a tenth of eps");
    }
}

typedef struct distance_picture {
    const ln_convention *own;
    const distance_list *others;
    size_t hidden;
    float std;
} distance_picture;

/* What plots/distance.sql reads. */
static bool put_distances(result_store *store, const void *what, size_t number, const char *made_on,
                          error *err)
{
    const distance_picture *picture = what;
    char list[CONVENTION_MAX_LENGTH], label[CONVENTION_MAX_LENGTH];
    (void)number;
    bool fine = store_put_table(store, "asked", "convention, label, hidden, std, made_on", err) &&
                store_put_line(store, "asked", err, "ssids", convention_format(picture->own, list),
                               convention_label(picture->own, label), (int64_t)picture->hidden,
                               (double)picture->std, made_on) &&
                store_put_table(store, "others", "series, convention, name", err);
    for (size_t i = 0; fine && i < picture->others->count; i++)
        fine = store_put_line(store, "others", err, "iss", (int64_t)i + 1,
                              convention_format(&picture->others->conventions[i], list),
                              picture->others->names[i]);
    return fine;
}

/* Draws distance.svg and distance.png into `directory` (made where it is missing), with their TSV
 * under directory/data: how far the others lie from `own`, over hidden at this std, and over std at
 * this hidden; prints their paths (charts_draw_alone). */
static bool distance_chart(const ln_convention *own, const distance_list *others, size_t hidden,
                           float std, const char *directory, const output_file *out, error *err)
{
    const distance_picture picture = {own, others, hidden, std};
    return charts_draw_alone("distance", 0, put_distances, &picture, directory, out, err);
}

static const uint64_t most_hidden = (uint64_t)1 << 40;

typedef struct distance_options {
    uint64_t hidden;
    double std;
    word_list conventions;
    const char *chart;
    output_file printed;
} distance_options;

typedef double figure_of(const ln_apart *apart);

static double ulp_of(const ln_apart *apart)
{
    return apart->row_ulp;
}

static double relative_of(const ln_apart *apart)
{
    return apart->relative;
}

static bool measure_distance(const ln_convention *own, const ln_convention *other,
                             const distance_options *options, ln_apart *apart)
{
    const ln_convention both[2] = {*own, *other};
    ln_apart matrix[4];
    if (!ln_reference_apart(both, 2, options->hidden, (float)options->std, matrix))
        return false;
    *apart = matrix[1];
    return true;
}

/* ---- text ---- */

static void print_row(const distance_options *options)
{
    char std[32];
    text_buffer out = {0};
    text_number(&out, (double)(float)options->std);
    snprintf(std, sizeof std, "%s", out.bytes ? out.bytes : "");
    text_free(&out);
    output_line(&options->printed,
                "row: +-%s in turn%s, %llu elements; mean 0, var %s^2%s, exactly", std,
                options->hidden % 2 ? ", 0 at the end" : "", (unsigned long long)options->hidden,
                std, options->hidden % 2 ? " (N-1)/N" : "");
}

static bool print_matrix(const output_file *out, const distance_list *list, const ln_apart *matrix,
                         figure_of *figure, error *err)
{
    char numbers[64][8];
    relation_column columns[65] = {FOR_PEOPLE("asked for")};
    size_t count = list->count < 64 ? list->count : 64;
    for (size_t i = 0; i < count; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%zu", i + 1);
        columns[i + 1].heading = numbers[i];
    }
    relation *rows = relation_create(columns, count + 1);
    for (size_t a = 0; a < list->count; a++) {
        relation_add(rows, as_format("%zu %s", a + 1, list->names[a]));
        for (size_t b = 0; b < count; b++)
            relation_add(rows, as_figure(a == b ? 0 : figure(&matrix[a * list->count + b])));
    }
    return relation_print(rows, out, err);
}

static bool print_neighbours(const distance_options *options, const distance_list *list,
                             figure_of *figure, error *err)
{
    relation_column columns[1 + NEIGHBOUR_KINDS] = {FOR_PEOPLE("asked for")};
    for (size_t i = 0; i < NEIGHBOUR_KINDS; i++)
        columns[i + 1].heading = neighbour_names[i];
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t a = 0; a < list->count; a++) {
        relation_add(rows, as_format("%zu %s", a + 1, list->names[a]));
        for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
            ln_convention neighbour;
            ln_apart apart = {NAN, NAN, NAN};
            if (neighbour_of(&list->conventions[a], (neighbour_kind)kind, &neighbour))
                measure_distance(&list->conventions[a], &neighbour, options, &apart);
            relation_add(rows, as_figure(figure(&apart)));
        }
    }
    return relation_print(rows, &options->printed, err);
}

static bool print_text(const distance_options *options, const distance_list *list,
                       const ln_apart *matrix, error *err)
{
    const output_file *out = &options->printed;
    print_row(options);
    bool fine = true;
    if (list->count > 1) {
        output_heading(out, "ULP of f32, where the one on the left was asked for and the one above "
                            "computed:");
        fine = print_matrix(out, list, matrix, ulp_of, err);
        output_heading(out, "relative to the largest element:");
        fine = fine && print_matrix(out, list, matrix, relative_of, err);
    }
    output_heading(out, "neighbours, in ULP of f32:");
    fine = fine && print_neighbours(options, list, ulp_of, err);
    output_heading(out, "neighbours, relative:");
    return fine && print_neighbours(options, list, relative_of, err);
}

/* ---- for programs: a row a pair ---- */

static const relation_column pair_columns[] = {
    COLUMN("asked", "asked"),       COLUMN("computed", "computed"), COLUMN("ulp", "ulp"),
    COLUMN("relative", "relative"), COLUMN("absolute", "absolute"),
};

static void add_pair(relation *rows, const ln_convention *asked, const ln_convention *computed,
                     const ln_apart *apart)
{
    char labels[2][CONVENTION_MAX_LENGTH];
    relation_row(rows, as_text(convention_label(asked, labels[0])),
                 as_text(convention_label(computed, labels[1])), as_digits(apart->row_ulp),
                 as_digits(apart->relative), as_digits(apart->absolute));
}

static void add_others(relation *rows, const distance_list *list, const ln_apart *matrix,
                       size_t own)
{
    for (size_t other = 0; other < list->count; other++)
        if (other != own)
            add_pair(rows, &list->conventions[own], &list->conventions[other],
                     &matrix[own * list->count + other]);
}

static void add_neighbours(relation *rows, const distance_options *options,
                           const ln_convention *own)
{
    for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
        ln_convention neighbour;
        ln_apart apart;
        if (neighbour_of(own, (neighbour_kind)kind, &neighbour) &&
            measure_distance(own, &neighbour, options, &apart))
            add_pair(rows, own, &neighbour, &apart);
    }
}

static bool print_pairs(const distance_options *options, const distance_list *list,
                        const ln_apart *matrix, error *err)
{
    relation *rows = relation_create(COLUMNS(pair_columns));
    for (size_t i = 0; i < list->count; i++) {
        add_others(rows, list, matrix, i);
        add_neighbours(rows, options, &list->conventions[i]);
    }
    return relation_print(rows, &options->printed, err);
}

static bool print_json(const distance_options *options, const distance_list *list,
                       const ln_apart *matrix, error *err)
{
    relation *pairs = relation_create(COLUMNS(pair_columns));
    relation *neighbours = relation_create(COLUMNS(pair_columns));
    json_t *names = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(names, json_string(list->names[i]));
        add_others(pairs, list, matrix, i);
        add_neighbours(neighbours, options, &list->conventions[i]);
    }
    json_t *all =
        json_pack("{s:s, s:I, s:f, s:o, s:o, s:o}", "schema", "lnbench-distance-1", "hidden",
                  (json_int_t)options->hidden, "std", (double)(float)options->std, "conventions",
                  names, "pairs", relation_json(pairs), "neighbours", relation_json(neighbours));
    return output_json(&options->printed, all, err);
}

/* ---- the command ---- */

static bool draw_distances(const distance_options *options, distance_list *list, error *err)
{
    const ln_convention own = list->conventions[0];
    distance_list others = {list->conventions + 1, list->names + 1, list->count - 1};
    distance_list neighbours = {0};
    bool named = options->conventions.count > 0 && list->count > 1;
    if (!named)
        distance_list_neighbours(&own, &neighbours);
    bool fine = distance_chart(&own, named ? &others : &neighbours, options->hidden,
                               (float)options->std, options->chart, &options->printed, err);
    distance_list_free(&neighbours);
    return fine;
}

static bool check_options(const distance_options *options, error *err)
{
    if (options->hidden < 2 || options->hidden > most_hidden)
        return fail(err, EXIT_CODE_USAGE,
                    "--hidden %llu: 2 to 2^40 was expected (a row of one has no distance)",
                    (unsigned long long)options->hidden);
    float std = (float)options->std;
    if (!isfinite(std) || !(std > 0))
        return fail(err, EXIT_CODE_USAGE,
                    "--std %g: a number above 0 that f32 can hold was expected", options->std);
    return true;
}

static bool measure_and_print(const distance_options *options, error *err)
{
    distance_list list = {0};
    if (!check_options(options, err) || !distance_list_make(&options->conventions, &list, err))
        return false;
    ln_apart *matrix = allocate(list.count * list.count * sizeof *matrix);
    bool fine = ln_reference_apart(list.conventions, list.count, options->hidden,
                                   (float)options->std, matrix) ||
                fail(err, EXIT_CODE_USAGE, "these conventions have no distance");
    fine = fine && (options->printed.format == OUTPUT_JSON ? print_json(options, &list, matrix, err)
                    : output_is_data(&options->printed) ? print_pairs(options, &list, matrix, err)
                                                        : print_text(options, &list, matrix, err));
    fine = fine && (!options->chart || draw_distances(options, &list, err));
    free(matrix);
    distance_list_free(&list);
    return fine;
}

static exit_code distance(void *context, const cli_call *call, error *err)
{
    (void)call;
    measure_and_print(context, err);
    return err->code;
}

static const cli_option options[] = {
    {"hidden", "N", "length of the row (default: 768)", OPTION_COUNT,
     offsetof(distance_options, hidden)},
    {"std", "S", "its std, rounded to f32 (default: 1)", OPTION_REAL,
     offsetof(distance_options, std)},
    {"conventions", "C,...", "presets or lists (default: every preset)", OPTION_RAW,
     offsetof(distance_options, conventions)},
    {"chart", "DIR", "also draw the first convention against the others, or neighbours",
     OPTION_TEXT, offsetof(distance_options, chart)},
    OUTPUT_OPTIONS(distance_options, printed),
};

const cli_command fingerprint_distance = {
    .name = "fingerprint --distance",
    .brief = "how far conventions lie apart, exactly",
    .usage = "[--hidden N] [--std S] [OPTION...]",
    .summary =
        "How far conventions lie apart on a row of +-S, exactly, in ULP of f32 and relative.",
    .details = "Affine forms make no distance: gamma is 1 and beta 0 here.",
    OPTIONS(options),
    DEFAULTS(distance_options, .hidden = 768, .std = 1),
    .body = distance,
};
