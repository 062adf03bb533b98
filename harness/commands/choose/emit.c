/* A dispatch table in C, from choices. Text that comes from the store never gets into the code but
 * through two filters: one for string literals, one for comments. */
#include "commands/choose/show.h"
#include "base/allocate.h"
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

static const char table_begin[] = "#include <stddef.h>\n#include <stdint.h>\n\n"
                                  "static const struct {\n"
                                  "    size_t hidden_from, hidden_to, rows_from, rows_to;\n"
                                  "    const char *kernel;\n"
                                  "} layernorm_kernels[] = {\n";

/* Of choices that no time of their own shape decided. */
static void add_estimates(const chosen *all, size_t count, text_buffer *out)
{
    char from[128];
    for (size_t i = 0; i < count; i++)
        if (all[i].choice.best && estimate_words(&all[i], from)[0]) {
            text_format(out, "\n * %zu x %zu: an estimate, from ", all[i].wanted.rows,
                        all[i].wanted.hidden);
            emit_comment(out, from);
        }
}

/* `first` is one of all. */
static void add_head(const chosen *first, const chosen *all, size_t count, text_buffer *out)
{
    const choose_wanted *wanted = &first->wanted;
    const machine_facts *machine = &first->evidence.machine;
    text_buffer budget = {0};
    budget_words(wanted, &budget);
    text_add(out, "/* Which LayerNorm kernel to call for rows x hidden, as lnbench choose --emit c "
                  "found it:\n *\n *     const char *kernel = layernorm_kernel_for(problem.rows, "
                  "problem.hidden);\n *     if (ln_layernorm_with(kernel, &problem, &tensors) != "
                  "LN_OK) ...\n *\n * ");
    text_format(out, "%s, ", dtype_name(wanted->dtype));
    if (wanted->param)
        text_format(out, "parameters %s, ", wanted->param);
    emit_comment(out, wanted->convention_label);
    if (strcmp(wanted->time_on, "normal") != 0) {
        text_add(out, ", on ");
        emit_comment(out, wanted->time_on);
    }
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
    add_estimates(all, count, out);
    text_add(out, "\n */\n");
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

/* The rows of the table, between its braces: some shape has a kernel. */
static void add_rows(const chosen *all, size_t count, text_buffer *out)
{
    const chosen **sorted = allocate_zeroed(count + 1, sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].choice.best)
            sorted[kept++] = &all[i];
    qsort(sorted, kept, sizeof *sorted, by_shape);
    /* A shape given twice is one. */
    size_t unique = 1;
    for (size_t i = 1; i < kept; i++)
        if (by_shape(&sorted[i], &sorted[unique - 1]) != 0)
            sorted[unique++] = sorted[i];
    size_t from = 0;
    for (size_t i = 0, same; i < unique; i += same) {
        size_t hidden = sorted[i]->wanted.hidden;
        for (same = 1; i + same < unique && sorted[i + same]->wanted.hidden == hidden;)
            same++;
        size_t to = i + same == unique ? SIZE_MAX : border(hidden, sorted[i + same]->wanted.hidden);
        add_hidden((const chosen *const *)sorted + i, same, from, to, out);
        from = to + 1;
    }
    free(sorted);
}

/* The first with a kernel, NULL where none has one. */
static const chosen *first_chosen(const chosen *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].choice.best)
            return &all[i];
    return NULL;
}

bool chosen_emit_c(const chosen *all, size_t count, text_buffer *out)
{
    const chosen *first = first_chosen(all, count);
    if (!first)
        return false;
    add_head(first, all, count, out);
    text_add(out, table_begin);
    add_rows(all, count, out);
    add_function(out);
    return true;
}

/* ---- several machines ---- */

static const char several_types[] =
    "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
    "#if defined __x86_64__ || defined __i386__\n#include <cpuid.h>\n#endif\n\n"
    "typedef struct layernorm_row {\n"
    "    size_t hidden_from, hidden_to, rows_from, rows_to;\n"
    "    const char *kernel;\n"
    "} layernorm_row;\n\n";

static const char several_functions[] =
    "/* The kernel for a kind of CPU, as /proc/cpuinfo names it; NULL: no such kind was measured, "
    "so that\n"
    " * ln_layernorm() is to choose. Another model of a family takes the family's first table. */\n"
    "const char *layernorm_kernel_on(const char *vendor, unsigned family, unsigned model, size_t "
    "rows,\n"
    "                                size_t hidden);\n"
    "/* The same for the CPU that runs this. */\n"
    "const char *layernorm_kernel_for(size_t rows, size_t hidden);\n\n"
    "const char *layernorm_kernel_on(const char *vendor, unsigned family, unsigned model, size_t "
    "rows,\n"
    "                                size_t hidden)\n"
    "{\n"
    "    size_t count = sizeof layernorm_machines / sizeof *layernorm_machines, chosen = count;\n"
    "    for (size_t i = 0; i < count; i++)\n"
    "        if (strcmp(layernorm_machines[i].vendor, vendor) == 0 &&\n"
    "            layernorm_machines[i].family == family &&\n"
    "            (chosen == count || (layernorm_machines[i].model == model &&\n"
    "                                 layernorm_machines[chosen].model != model)))\n"
    "            chosen = i;\n"
    "    for (size_t i = 0; chosen < count && i < layernorm_machines[chosen].count; i++) {\n"
    "        const layernorm_row *row = &layernorm_machines[chosen].table[i];\n"
    "        if (hidden >= row->hidden_from && hidden <= row->hidden_to && rows >= row->rows_from "
    "&&\n"
    "            rows <= row->rows_to)\n"
    "            return row->kernel;\n"
    "    }\n"
    "    return NULL;\n"
    "}\n\n"
    "const char *layernorm_kernel_for(size_t rows, size_t hidden)\n"
    "{\n"
    "    char vendor[13] = \"unknown\";\n"
    "    unsigned family = 0, model = 0;\n"
    "#if defined __x86_64__ || defined __i386__\n"
    "    unsigned most, a, b, c, d;\n"
    "    if (__get_cpuid(0, &most, &b, &c, &d)) {\n"
    "        memcpy(vendor, &b, 4);\n"
    "        memcpy(vendor + 4, &d, 4);\n"
    "        memcpy(vendor + 8, &c, 4);\n"
    "        vendor[12] = '\\0';\n"
    "    }\n"
    "    if (__get_cpuid(1, &a, &b, &c, &d)) { /* Intel's and AMD's manuals, CPUID leaf 1 */\n"
    "        family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);\n"
    "        model = (a >> 4 & 15) + (family == 6 || family >= 15 ? (a >> 16 & 15) << 4 : 0);\n"
    "    }\n"
    "#endif\n"
    "    return layernorm_kernel_on(vendor, family, model, rows, hidden);\n"
    "}\n";

/* What /proc/cpuinfo has in decimal, or on 64-bit ARM in hexadecimal. */
static unsigned long number_of(const machine_facts *machine, const char *fact)
{
    return strtoul(machine_fact_value(machine, fact), NULL, 0);
}

static bool same_kind(const machine_facts *a, const machine_facts *b)
{
    return strcmp(machine_fact_value(a, "cpu_vendor"), machine_fact_value(b, "cpu_vendor")) == 0 &&
           number_of(a, "cpu_family") == number_of(b, "cpu_family") &&
           number_of(a, "cpu_model_number") == number_of(b, "cpu_model_number");
}

bool chosen_emit_machines(const chosen *const *machines, size_t machine_count, size_t count,
                          text_buffer *out)
{
    text_buffer index = {0};
    size_t tables = 0;
    for (size_t m = 0; m < machine_count; m++) {
        const chosen *first = first_chosen(machines[m], count);
        bool told = !first;
        for (size_t before = 0; !told && before < m; before++) {
            const chosen *earlier = first_chosen(machines[before], count);
            told = earlier && same_kind(&earlier->evidence.machine, &first->evidence.machine);
        }
        if (told) /* its family's table is that of the machine measured last */
            continue;
        const machine_facts *facts = &first->evidence.machine;
        add_head(first, machines[m], count, out);
        if (tables == 0)
            text_add(out, several_types);
        text_format(out, "static const layernorm_row layernorm_machine_%zu[] = {\n", tables);
        add_rows(machines[m], count, out);
        text_add(out, "};\n\n");
        text_add(&index, "    {");
        emit_literal(&index, machine_fact_value(facts, "cpu_vendor"));
        text_format(
            &index,
            ", %lu, %lu, layernorm_machine_%zu,\n     sizeof layernorm_machine_%zu / sizeof "
            "*layernorm_machine_%zu},\n",
            number_of(facts, "cpu_family"), number_of(facts, "cpu_model_number"), tables, tables,
            tables);
        tables++;
    }
    if (tables > 0) {
        text_add(out,
                 "static const struct {\n    const char *vendor;\n    unsigned family, model;\n"
                 "    const layernorm_row *table;\n    size_t count;\n"
                 "} layernorm_machines[] = {\n");
        text_add(out, index.bytes ? index.bytes : "");
        text_add(out, "};\n\n");
        text_add(out, several_functions);
    }
    text_free(&index);
    return tables > 0;
}
