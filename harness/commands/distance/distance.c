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

static bool measure(const ln_convention *own, const ln_convention *other,
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
    const char *headings[65] = {"asked for"};
    size_t columns = list->count < 64 ? list->count : 64;
    for (size_t i = 0; i < columns; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%zu", i + 1);
        headings[i + 1] = numbers[i];
    }
    text_table *table = table_create(headings, columns + 1);
    for (size_t a = 0; a < list->count; a++) {
        char cell[16];
        table_format(table, "%zu %s", a + 1, list->names[a]);
        for (size_t b = 0; b < columns; b++)
            table_cell(table,
                       a == b ? "0" : number_short(figure(&matrix[a * list->count + b]), cell));
    }
    return output_table(out, table, err);
}

static bool print_neighbours(const distance_options *options, const distance_list *list,
                             figure_of *figure, error *err)
{
    const char *headings[1 + NEIGHBOUR_KINDS] = {"asked for"};
    for (size_t i = 0; i < NEIGHBOUR_KINDS; i++)
        headings[i + 1] = neighbour_names[i];
    text_table *table = table_create(headings, 1 + NEIGHBOUR_KINDS);
    for (size_t a = 0; a < list->count; a++) {
        table_format(table, "%zu %s", a + 1, list->names[a]);
        for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
            ln_convention neighbour;
            ln_apart apart = {NAN, NAN, NAN};
            char cell[16];
            if (neighbour_of(&list->conventions[a], (neighbour_kind)kind, &neighbour))
                measure(&list->conventions[a], &neighbour, options, &apart);
            table_cell(table, number_short(figure(&apart), cell));
        }
    }
    return output_table(&options->printed, table, err);
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

/* ---- TSV: a line a pair ---- */

static void add_pair(text_table *table, const char *asked, const char *computed,
                     const ln_apart *apart)
{
    const double figures[] = {apart->row_ulp, apart->relative, apart->absolute};
    table_cells(table, asked, computed);
    for (size_t i = 0; i < 3; i++)
        if (isfinite(figures[i]))
            table_format(table, "%.17g", figures[i]);
        else
            table_cell(table, isnan(figures[i]) ? "NaN" : "inf");
}

static bool print_pairs(const distance_options *options, const distance_list *list,
                        const ln_apart *matrix, error *err)
{
    static const char *const headings[] = {"asked", "computed", "ulp", "relative", "absolute"};
    char asked[CONVENTION_MAX_LENGTH], computed[CONVENTION_MAX_LENGTH];
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t a = 0; a < list->count; a++) {
        convention_label(&list->conventions[a], asked);
        for (size_t b = 0; b < list->count; b++)
            if (a != b)
                add_pair(table, asked, convention_label(&list->conventions[b], computed),
                         &matrix[a * list->count + b]);
        for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
            ln_convention neighbour;
            ln_apart apart;
            if (neighbour_of(&list->conventions[a], (neighbour_kind)kind, &neighbour) &&
                measure(&list->conventions[a], &neighbour, options, &apart))
                add_pair(table, asked, convention_label(&neighbour, computed), &apart);
        }
    }
    return output_table(&options->printed, table, err);
}

/* ---- JSON ---- */

static json_t *pair_json(const char *asked, const char *computed, const ln_apart *apart)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "asked", asked, "computed", computed, "ulp",
                     json_figure(apart->row_ulp), "relative", json_figure(apart->relative),
                     "absolute", json_figure(apart->absolute));
}

static json_t *pairs_json(const distance_list *list, const ln_apart *matrix)
{
    json_t *pairs = json_array();
    char asked[CONVENTION_MAX_LENGTH], computed[CONVENTION_MAX_LENGTH];
    for (size_t a = 0; a < list->count; a++)
        for (size_t b = 0; b < list->count; b++)
            if (a != b)
                json_array_append_new(pairs,
                                      pair_json(convention_label(&list->conventions[a], asked),
                                                convention_label(&list->conventions[b], computed),
                                                &matrix[a * list->count + b]));
    return pairs;
}

static json_t *neighbours_json(const distance_options *options, const distance_list *list)
{
    json_t *pairs = json_array();
    char asked[CONVENTION_MAX_LENGTH], computed[CONVENTION_MAX_LENGTH];
    for (size_t a = 0; a < list->count; a++)
        for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
            ln_convention neighbour;
            ln_apart apart;
            if (neighbour_of(&list->conventions[a], (neighbour_kind)kind, &neighbour) &&
                measure(&list->conventions[a], &neighbour, options, &apart))
                json_array_append_new(pairs,
                                      pair_json(convention_label(&list->conventions[a], asked),
                                                convention_label(&neighbour, computed), &apart));
        }
    return pairs;
}

static bool print_json(const distance_options *options, const distance_list *list,
                       const ln_apart *matrix, error *err)
{
    json_t *names = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(names, json_string(list->names[i]));
    json_t *all = json_pack("{s:s, s:I, s:f, s:o, s:o, s:o}", "schema", "lnbench-distance-1",
                            "hidden", (json_int_t)options->hidden, "std",
                            (double)(float)options->std, "conventions", names, "pairs",
                            pairs_json(list, matrix), "neighbours", neighbours_json(options, list));
    return output_json(&options->printed, all, err);
}

/* ---- the command ---- */

static bool draw(const distance_options *options, distance_list *list, error *err)
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
    fine = fine && (!options->chart || draw(options, &list, err));
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
