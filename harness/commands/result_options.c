#include "commands/result_options.h"
#include "compare/run_find.h"

static result_look look_of(const result_options *options)
{
    return (result_look){.all = options->all, .top = (size_t)options->top};
}

bool result_check(const result_options *options, const char *database, error *err)
{
    run_view base;
    result_look look = {0};
    if (options->sort && !result_order_from_name(options->sort, &look.order, err))
        return false;
    if (options->baseline) {
        if (!run_find(options->baseline, database, &base, err))
            return false;
        view_free(&base);
    }
    return true;
}

bool result_show(const result_options *options, const run_view *view, const char *database,
                 const output_file *out, error *err)
{
    run_view base;
    result_look look = look_of(options);
    if (options->sort && !result_order_from_name(options->sort, &look.order, err))
        return false;
    if (!options->baseline)
        return result_table_print(view, out, &look, err);
    if (!run_find(options->baseline, database, &base, err))
        return false;
    look.baseline = &base;
    bool fine = result_table_print(view, out, &look, err);
    view_free(&base);
    return fine;
}
