#include "commands/eval/read.h"
#include "domain/convention.h"
#include "show/run_view.h"
#include <math.h>

static verdict_kind verdict_of(const gradient_errors *found, double max_row_ulp)
{
    if (found->mismatches)
        return VERDICT_WRONG_CLASS;
    if (found->row_ulp_max > max_row_ulp)
        return VERDICT_INACCURATE;
    return isinf(max_row_ulp) ? VERDICT_NOT_JUDGED : VERDICT_RIGHT;
}

static relation *errors_relation(const void *const given[GRADIENTS], const gradient_errors *found,
                                 double max_row_ulp)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("gradient"),
        {"ulp_max", "ulp_max", .format = "%.6g"},
        {"row_ulp_max", "row_ulp_max", .format = "%.6g"},
        {"rel_l2", "rel_l2", .format = "%.6g"},
        {"correctly_rounded", "correctly_rounded", .format = "%.6g"},
        FOR_PROGRAMS("elements"),
        FOR_PROGRAMS("mismatches"),
        FOR_PROGRAMS("worst_row"),
        FOR_PROGRAMS("worst_column"),
        FOR_PEOPLE("worst"),
        COLUMN("verdict", EACH_MEMBER),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < GRADIENTS; i++) {
        const gradient_errors *own = &found[i];
        const case_verdict verdict = {.kind = verdict_of(own, max_row_ulp)};
        if (given[i])
            relation_row(rows, as_text(gradient_name(i)), as_figure(own->ulp_max),
                         as_figure(own->row_ulp_max), as_figure(own->rel_l2),
                         as_figure(own->correctly_rounded), as_count(own->elements),
                         as_count(own->mismatches), as_count(own->worst_row),
                         as_count(own->worst_column),
                         as_format("row %zu, column %zu", own->worst_row, own->worst_column),
                         as_verdict(&verdict));
    }
    return rows;
}

/* In JSON each gradient is a member by its name. */
static void print_gradients(const ln_problem *problem, const void *const given[GRADIENTS],
                            relation *rows, const output_file *out)
{
    char label[CONVENTION_MAX_LENGTH];
    if (out->format != OUTPUT_JSON) {
        relation_print(rows, out);
        return;
    }
    json_t *list = relation_json(rows),
           *all = json_pack("{s:s, s:s, s:I, s:I, s:s}", "schema", "lnbench-gradients-2",
                            "convention", convention_label(&problem->convention, label), "rows",
                            (json_int_t)problem->rows, "hidden", (json_int_t)problem->hidden,
                            "dtype", dtype_name(problem->storage));
    for (size_t i = 0, row = 0; i < GRADIENTS; i++)
        if (given[i])
            json_object_set(all, gradient_name(i), json_array_get(list, row++));
    json_decref(list);
    output_json(out, all);
}

exit_code eval_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                         const void *const given[GRADIENTS], double max_row_ulp,
                         const output_file *out)
{
    gradient_errors found[GRADIENTS];
    exit_code code = EXIT_CODE_FINE;
    judge_gradients(problem, tensors, dy, given, found);
    print_gradients(problem, given, errors_relation(given, found, max_row_ulp), out);
    for (size_t i = 0; i < GRADIENTS; i++) {
        const case_verdict verdict = {.kind = verdict_of(&found[i], max_row_ulp)};
        if (given[i])
            code = worse_exit_code(code, verdict_exit_code(&verdict));
    }
    return code;
}
