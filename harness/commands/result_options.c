#include "commands/result_options.h"
#include "show/compare.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static result_look look_of(const result_options *options)
{
    return (result_look){.all = options->all, .top = (size_t)options->top};
}

void result_check(const result_options *options, const char *database)
{
    if (options->sort)
        result_order_from_name(options->sort);
    if (options->baseline)
        run_find(options->baseline, database);
}

/* An option with the absolute path of a file, as the shell takes it. */
static void add_path(text_buffer *out, const char *option, const char *path)
{
    char whole[PATH_MAX];
    const char *at = realpath(path, whole) ? whole : path;
    text_format(out, " --%s ", option);
    if (at[strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")] ==
        '\0') {
        text_add(out, at);
        return;
    }
    text_add(out, "'");
    for (; *at; at++)
        text_format(out, *at == '\'' ? "'\\%c'" : "%c", *at);
    text_add(out, "'");
}

void result_show(const result_options *options, const run_view *view, const char *database,
                 const word_list *plugins, const output_file *out)
{
    text_buffer again = {0};
    result_look look = look_of(options);
    if (options->sort)
        look.order = result_order_from_name(options->sort);
    if (options->baseline) {
        const found_run base = run_find(options->baseline, database);
        look.baseline = store_open(base.database, STORE_READ);
        look.baseline_run = base.run;
    }
    add_path(&again, "db", database);
    for (size_t i = 0; plugins && i < plugins->count; i++)
        add_path(&again, "plugin", plugins->words[i]);
    look.again = again.bytes;
    result_table_print(view, out, &look);
    store_close(look.baseline);
    text_free(&again);
}
