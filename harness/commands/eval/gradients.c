#include "commands/eval/gradients.h"
#include "domain/convention.h"
#include "answer/run_view.h"
#include <math.h>

static verdict_kind verdict_of(const gradient_errors *found, double max_row_ulp)
{
    if (found->mismatches)
        return VERDICT_WRONG_CLASS;
    if (found->row_ulp_max > max_row_ulp)
        return VERDICT_INACCURATE;
    return isinf(max_row_ulp) ? VERDICT_NOT_JUDGED : VERDICT_OK;
}

static json_t *errors_json(const gradient_errors *found, double max_row_ulp)
{
    const case_verdict verdict = {.kind = verdict_of(found, max_row_ulp)};
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "ulp_max", json_figure(found->ulp_max),
        "row_ulp_max", json_figure(found->row_ulp_max), "rel_l2", json_figure(found->rel_l2),
        "correctly_rounded", json_figure(found->correctly_rounded), "elements",
        (json_int_t)found->elements, "mismatches", (json_int_t)found->mismatches, "worst_row",
        (json_int_t)found->worst_row, "worst_column", (json_int_t)found->worst_column);
    json_put_verdict(object, &verdict);
    return object;
}

static bool print_json(const ln_problem *problem, const void *const given[GRADIENTS],
                       const gradient_errors *found, double max_row_ulp, const output_file *out,
                       error *err)
{
    char label[CONVENTION_MAX_LENGTH];
    json_t *all =
        json_pack("{s:s, s:s, s:I, s:I, s:s}", "schema", "lnbench-gradients-1", "convention",
                  convention_label(&problem->convention, label), "rows", (json_int_t)problem->rows,
                  "hidden", (json_int_t)problem->hidden, "dtype", dtype_name(problem->storage));
    bool fine = all != NULL;
    for (size_t i = 0; fine && i < GRADIENTS; i++)
        fine = !given[i] ||
               json_object_set_new(all, gradient_name(i), errors_json(&found[i], max_row_ulp)) == 0;
    if (!fine) {
        json_decref(all);
        all = NULL;
    }
    return output_json(out, all, err);
}

static bool print_table(const void *const given[GRADIENTS], const gradient_errors *found,
                        double max_row_ulp, const output_file *out, error *err)
{
    static const char *const headings[] = {"gradient",          "ulp_max", "row_ulp_max", "rel_l2",
                                           "correctly_rounded", "worst",   "verdict"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; table && i < GRADIENTS; i++) {
        const double figures[] = {found[i].ulp_max, found[i].row_ulp_max, found[i].rel_l2,
                                  found[i].correctly_rounded};
        if (!given[i])
            continue;
        table_cell(table, gradient_name(i));
        for (size_t j = 0; j < sizeof figures / sizeof *figures; j++)
            if (isnan(figures[j]))
                table_cell(table, "-");
            else
                table_format(table, "%.6g", figures[j]);
        table_format(table, "row %zu, column %zu", found[i].worst_row, found[i].worst_column);
        table_cell(table, verdict_phrase(verdict_of(&found[i], max_row_ulp)));
    }
    return output_table(out, table, err);
}

exit_code eval_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                         const void *const given[GRADIENTS], double max_row_ulp,
                         const output_file *out, error *err)
{
    gradient_errors found[GRADIENTS];
    exit_code code = EXIT_CODE_FINE;
    bool fine =
        judge_gradients(problem, tensors, dy, given, found, err) &&
        (out->format == OUTPUT_JSON ? print_json(problem, given, found, max_row_ulp, out, err)
                                    : print_table(given, found, max_row_ulp, out, err));
    for (size_t i = 0; fine && i < GRADIENTS; i++) {
        const case_verdict verdict = {.kind = verdict_of(&found[i], max_row_ulp)};
        if (given[i])
            code = worse_exit_code(code, verdict_exit_code(&verdict));
    }
    return fine ? code : err->code;
}
