/* A dispatch table in C, from choices. Text that comes from the store never gets into the code but
 * through two filters: one for string literals, one for comments. */
#include "commands/choose/show.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_shape(const void *a, const void *b)
{
    const choose_wanted *left = &(*(const chosen *const *)a)->wanted;
    const choose_wanted *right = &(*(const chosen *const *)b)->wanted;
    if (left->hidden != right->hidden)
        return left->hidden < right->hidden ? -1 : 1;
    return (left->rows > right->rows) - (left->rows < right->rows);
}

/* What is no letter, digit, '_', '-' or '.' becomes an octal escape of three digits. */
void emit_literal(text_buffer *out, const char *string)
{
    text_add(out, "\"");
    for (const unsigned char *at = (const unsigned char *)string; *at; at++)
        if (*at < 0x80 && (isalnum(*at) || strchr("_-.", *at)))
            text_add_bytes(out, (const char *)at, 1);
        else
            text_format(out, "\\%03o", *at);
    text_add(out, "\"");
}

/* For comments: no star, so that a slash ends nothing; no backslash and no question mark, which
 * continue a line or make a trigraph. What is no printable ASCII is a dot. */
void emit_comment(text_buffer *out, const char *string)
{
    for (const unsigned char *at = (const unsigned char *)string; *at; at++) {
        bool plain = *at >= ' ' && *at <= '~' && !strchr("*\\?", *at);
        text_add_bytes(out, plain ? (const char *)at : ".", 1);
    }
}

/* Where one shape's neighbourhood ends: the geometric mean with the next one, at least its own. */
static size_t border(size_t own, size_t next)
{
    size_t middle = (size_t)sqrt((double)own * (double)next);
    return middle < own ? own : middle >= next ? next - 1 : middle;
}

static void add_head(const chosen *first, text_buffer *out)
{
    const choose_wanted *wanted = &first->wanted;
    const machine_facts *machine = &first->evidence.machine;
    text_buffer budget = {0};
    budget_words(wanted, &budget);
    out->failed = out->failed || budget.failed;
    text_add(out, "/* Which LayerNorm kernel to call for rows x hidden, as lnbench choose --emit c "
                  "found it:\n *\n *     const char *kernel = layernorm_kernel_for(problem.rows, "
                  "problem.hidden);\n *     if (ln_layernorm_with(kernel, &problem, &tensors) != "
                  "LN_OK) ...\n *\n * ");
    text_format(out, "%s, ", dtype_name(wanted->dtype));
    if (wanted->param)
        text_format(out, "parameters %s, ", wanted->param);
    emit_comment(out, wanted->convention_label);
    text_format(out, ", %s, %u thread%s: ", cache_phrase(wanted->cache), wanted->threads,
                wanted->threads == 1 ? "" : "s");
    emit_comment(out, budget.bytes ? budget.bytes : "");
    text_add(out, "\n * CPU: ");
    emit_comment(out, machine_fact_value(machine, "cpu_model"));
    text_add(out, "\n * commit ");
    emit_comment(out, machine_fact_value(machine, "git_commit"));
    text_add(out, ", compiler ");
    emit_comment(out, machine_fact_value(machine, "compiler"));
    text_add(out, ", library ");
    emit_comment(out, first->choice.best->object_hash);
    text_add(out, "\n */\n#include <stddef.h>\n#include <stdint.h>\n\n"
                  "static const struct {\n"
                  "    size_t hidden_from, hidden_to, rows_from, rows_to;\n"
                  "    const char *kernel;\n"
                  "} layernorm_kernels[] = {\n");
    text_free(&budget);
}

static void add_number(text_buffer *out, size_t number)
{
    if (number == SIZE_MAX)
        text_add(out, "SIZE_MAX, ");
    else
        text_format(out, "%zu, ", number);
}

static const char *name_of(const chosen *one)
{
    return one->choice.best->view.stored->key.kernel;
}

/* The shapes of one hidden size: sorted[0..count). */
static void add_hidden(const chosen *const *sorted, size_t count, size_t from, size_t to,
                       text_buffer *out)
{
    size_t rows_from = 0;
    for (size_t i = 0; i < count; i++) {
        const choose_wanted *wanted = &sorted[i]->wanted;
        bool last = i + 1 == count;
        size_t rows_to = last ? SIZE_MAX : border(wanted->rows, sorted[i + 1]->wanted.rows);
        if (!last && strcmp(name_of(sorted[i]), name_of(sorted[i + 1])) == 0)
            continue;
        text_add(out, "    {");
        size_t numbers[] = {from, to, rows_from, rows_to};
        for (size_t n = 0; n < 4; n++)
            add_number(out, numbers[n]);
        emit_literal(out, name_of(sorted[i]));
        text_add(out, "},\n");
        rows_from = rows_to + 1;
    }
}

static void add_function(text_buffer *out)
{
    text_add(out, "};\n\n"
                  "const char *layernorm_kernel_for(size_t rows, size_t hidden);\n\n"
                  "const char *layernorm_kernel_for(size_t rows, size_t hidden)\n"
                  "{\n"
                  "    size_t count = sizeof layernorm_kernels / sizeof *layernorm_kernels;\n"
                  "    for (size_t i = 0; i < count; i++)\n"
                  "        if (hidden >= layernorm_kernels[i].hidden_from &&\n"
                  "            hidden <= layernorm_kernels[i].hidden_to &&\n"
                  "            rows >= layernorm_kernels[i].rows_from &&\n"
                  "            rows <= layernorm_kernels[i].rows_to)\n"
                  "            return layernorm_kernels[i].kernel;\n"
                  "    return NULL; /* never: the table leaves no gap */\n"
                  "}\n");
}

bool chosen_emit_c(const chosen *all, size_t count, text_buffer *out)
{
    const chosen **sorted = calloc(count + 1, sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; sorted && i < count; i++)
        if (all[i].choice.best)
            sorted[kept++] = &all[i];
    if (!sorted || kept == 0) {
        out->failed = out->failed || !sorted;
        free(sorted);
        return false;
    }
    qsort(sorted, kept, sizeof *sorted, by_shape);
    /* A shape given twice is one. */
    size_t unique = 1;
    for (size_t i = 1; i < kept; i++)
        if (by_shape(&sorted[i], &sorted[unique - 1]) != 0)
            sorted[unique++] = sorted[i];
    add_head(sorted[0], out);
    size_t from = 0;
    for (size_t i = 0, same; i < unique; i += same) {
        size_t hidden = sorted[i]->wanted.hidden;
        for (same = 1; i + same < unique && sorted[i + same]->wanted.hidden == hidden;)
            same++;
        size_t to = i + same == unique ? SIZE_MAX : border(hidden, sorted[i + same]->wanted.hidden);
        add_hidden((const chosen *const *)sorted + i, same, from, to, out);
        from = to + 1;
    }
    add_function(out);
    free(sorted);
    return !out->failed;
}
