#include "worst_row.h"
#include "hash.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void worst_row_free(worst_row *row)
{
    free(row->x);
    free(row->gamma);
    free(row->beta);
    *row = (worst_row){0};
}

/* NULL stays NULL, and is no failure. */
static bool copy(const float *from, size_t count, float **to)
{
    *to = NULL;
    if (!from)
        return true;
    *to = malloc(count * sizeof **to);
    if (*to)
        memcpy(*to, from, count * sizeof **to);
    return *to != NULL;
}

bool worst_row_copy(const worst_row *from, worst_row *to, error *error)
{
    *to = *from;
    to->x = to->gamma = to->beta = NULL;
    if (copy(from->x, from->rows * from->hidden, &to->x) &&
        copy(from->gamma, from->parameters, &to->gamma) &&
        copy(from->beta, from->parameters, &to->beta))
        return true;
    worst_row_free(to);
    return fail_memory(error, "a worst row");
}

bool worst_row_take(const judge_block *block, size_t row, const judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken, error *error)
{
    bool measured = judgement->metrics.elements > 0;
    bool scalar = block->convention.affine == LN_AFFINE_SCALAR;
    worst_row here = {
        .rows = 1,
        .hidden = block->hidden,
        .parameters = block->gamma || block->beta ? (scalar ? 1 : block->hidden) : 0,
        .x = (float *)block->x + row * block->hidden,
        .gamma = block->gamma,
        .beta = block->beta,
        .verdict = judgement->verdict,
        .row_ulp = NAN,
        .bound_row_ulp = NAN,
        .computed = NAN,
        .exact = NAN,
    };
    snprintf(here.kernel, sizeof here.kernel, "%s", kernel);
    snprintf(here.convention, sizeof here.convention, "%s", convention);
    if (measured) {
        const ln_metrics *metrics = &judgement->metrics;
        here.row_ulp = judgement->by_row[row].row_ulp;
        here.bound_row_ulp = judgement->by_row[row].bound_row_ulp;
        here.column = metrics->worst_column;
        here.computed = metrics->worst_computed;
        here.exact = metrics->worst_exact;
        here.y_hash =
            hash_bytes(HASH_START, (const float *)judgement->computed + row * block->hidden,
                       block->hidden * sizeof(float));
    }
    return worst_row_copy(&here, taken, error);
}

void hex_float_format(float value, char buffer[32])
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        snprintf(buffer, 32, "nan:%08x", (unsigned)bits);
    else
        snprintf(buffer, 32, "%a", (double)value);
}

bool hex_float_parse(const char *text, float *value)
{
    const char *digits = text + (*text == '-');
    char *end;
    if (strncmp(text, "nan:", 4) == 0) {
        unsigned long bits = strtoul(text + 4, &end, 16);
        uint32_t word = (uint32_t)bits;
        memcpy(value, &word, sizeof word);
        return strlen(text) == 12 && *end == '\0' && isnan(*value);
    }
    if (strcmp(digits, "inf") == 0) {
        *value = *text == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (strncmp(digits, "0x", 2) != 0)
        return false;
    double wide = strtod(text, &end);
    *value = (float)wide;
    return *end == '\0' && end > digits + 2 && isfinite(wide) && (double)*value == wide;
}

static void format_floats(const char *name, const float *values, size_t count, text *out)
{
    enum { ON_A_LINE = 8 };
    char number[32];
    for (size_t i = 0; values && i < count; i++) {
        if (i % ON_A_LINE == 0)
            text_add(out, name);
        hex_float_format(values[i], number);
        text_format(out, " %s%s", number, i % ON_A_LINE == 7 || i + 1 == count ? "\n" : "");
    }
}

void worst_row_format(const worst_row *row, text *out)
{
    text_format(out, "find\nkernel %s\nconvention %s\ndtype f32\nrows %zu\nhidden %zu\n",
                row->kernel, row->convention, row->rows, row->hidden);
    if (row->hunted)
        text_format(out, "restart %llu\nscore %a\n", (unsigned long long)row->restart, row->score);
    if (row->origin[0])
        text_format(out, "origin %s\n", row->origin);
    text_format(out, "verdict %s%s\n", verdict_name(row->verdict.kind),
                row->verdict.declared ? " (declared)" : "");
    if (row->verdict.detail[0])
        text_format(out, "detail %s\n", row->verdict.detail);
    text_format(out, "row_ulp %a\nbound %a\nworst %zu %zu %a %a\ny_hash %016llx\n", row->row_ulp,
                row->bound_row_ulp, row->row, row->column, row->computed, row->exact,
                (unsigned long long)row->y_hash);
    format_floats("x", row->x, row->rows * row->hidden, out);
    format_floats("gamma", row->gamma, row->parameters, out);
    format_floats("beta", row->beta, row->parameters, out);
    text_add(out, "end\n");
}

bool worst_list_add(worst_list *list, worst_row *row, error *error)
{
    worst_row *grown = realloc(list->rows, (list->count + 1) * sizeof *grown);
    if (!grown)
        return fail_memory(error, "worst rows");
    list->rows = grown;
    list->rows[list->count++] = *row;
    *row = (worst_row){0};
    return true;
}

void worst_list_free(worst_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        worst_row_free(&list->rows[i]);
    free(list->rows);
    text_free(&list->header);
    *list = (worst_list){0};
}
