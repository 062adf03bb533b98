/* lnbench fingerprint --distance: how far conventions lie apart, exactly. */
#include "cli/command.h"
#include "base/allocate.h"
#include "domain/convention.h"
#include "commands/distance/distance.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <math.h>

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
