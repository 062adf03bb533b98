#include "inputs/worst_row.h"
#include "metrics/storage.h"
#include "base/number.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void worst_row_free(worst_row *row)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        free(row->inputs[i]);
    *row = (worst_row){0};
}

static size_t elements_of(const worst_row *row, size_t role)
{
    return role_is_parameter(&operations[row->operation]->roles[role]) ? row->parameters
                                                                       : row->rows * row->hidden;
}

static ln_type type_of(const worst_row *row, size_t role)
{
    return operations[row->operation]->roles[role].type == TYPE_PARAMETER ? row->param
                                                                          : row->storage;
}

size_t worst_row_bytes(const worst_row *row, size_t role)
{
    return row->inputs[role] ? elements_of(row, role) * dtype_size(type_of(row, role)) : 0;
}

bool worst_row_copy(const worst_row *from, worst_row *to, error *err)
{
    bool fine = true;
    *to = *from;
    for (size_t i = 0; i < ROLES_MOST; i++) {
        size_t bytes = worst_row_bytes(from, i);
        to->inputs[i] = from->inputs[i] ? malloc(bytes) : NULL;
        fine = fine && !from->inputs[i] == !to->inputs[i];
        if (to->inputs[i])
            memcpy(to->inputs[i], from->inputs[i], bytes);
    }
    if (fine)
        return true;
    worst_row_free(to);
    return fail_memory(err, "a worst row");
}

/* The bits of a NaN: 4, 8 or 16 hex digits. */
static int nan_digits(ln_type type)
{
    return 2 * (int)dtype_size(type);
}

void hex_float_format(ln_type type, const void *values, size_t i, char buffer[HEX_FLOAT_LENGTH])
{
    double value = storage_load(type, values, i);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)values + i * dtype_size(type), dtype_size(type));
    if (isnan(value))
        snprintf(buffer, HEX_FLOAT_LENGTH, "nan:%0*llx", nan_digits(type),
                 (unsigned long long)bits);
    else
        number_print(buffer, HEX_FLOAT_LENGTH, "%a", value);
}

static bool parse_nan(const char *digits, ln_type type, void *values, size_t i)
{
    char *end;
    uint64_t bits = strtoull(digits, &end, 16);
    memcpy((char *)values + i * dtype_size(type), &bits, dtype_size(type));
    return strspn(digits, "0123456789abcdef") == (size_t)nan_digits(type) && *end == '\0' &&
           isnan(storage_load(type, values, i));
}

bool hex_float_parse(const char *text, ln_type type, void *values, size_t i)
{
    enum { MOST_DIGITS = 16 }; /* 64 bits: what a long double holds, so that no digit is lost */
    const char *digits = text + (*text == '-');
    char *end;
    if (strncmp(text, "nan:", 4) == 0)
        return parse_nan(text + 4, type, values, i);
    if (strcmp(digits, "inf") == 0) {
        storage_store(type, values, i, *text == '-' ? (double)-INFINITY : (double)INFINITY);
        return true;
    }
    if (strncmp(digits, "0x", 2) != 0 ||
        strspn(digits + 2, "0123456789abcdefABCDEF.") > MOST_DIGITS + 1)
        return false;
    long double given = number_read_long(text, &end);
    storage_store(type, values, i, (double)given);
    return *end == '\0' && end > digits + 2 && isfinite(given) &&
           (long double)storage_load(type, values, i) == given;
}

static void format_floats(const char *name, ln_type type, const void *values, size_t count,
                          text_buffer *out)
{
    enum { ON_A_LINE = 8 };
    char number[HEX_FLOAT_LENGTH];
    for (size_t i = 0; values && i < count; i++) {
        if (i % ON_A_LINE == 0)
            text_add(out, name);
        hex_float_format(type, values, i, number);
        text_format(out, " %s%s", number, i % ON_A_LINE == 7 || i + 1 == count ? "\n" : "");
    }
}

void worst_row_format(const worst_row *row, text_buffer *out)
{
    text_format(out, "find\nkernel %s\nconvention %s\ndtype %s\n", row->kernel, row->convention,
                dtype_name(row->storage));
    if (row->param != row->storage)
        text_format(out, "param %s\n", dtype_name(row->param));
    text_format(out, "rows %zu\nhidden %zu\n", row->rows, row->hidden);
    if (row->hunted)
        text_format(out, "restart %llu\nscore %a\n", (unsigned long long)row->restart, row->score);
    if (row->origin[0])
        text_format(out, "origin %s\n", row->origin);
    case_verdict verdict = row->verdict;
    char described[64];
    verdict.detail[0] = '\0';
    text_format(out, "verdict %s\n", verdict_describe(&verdict, described, sizeof described));
    if (row->verdict.detail[0])
        text_format(out, "detail %s\n", row->verdict.detail);
    text_format(out, "row_ulp %a\nbound %a\nworst %zu %zu %a %a\ny_hash %016llx\n", row->row_ulp,
                row->bound_row_ulp, row->row, row->column, row->computed, row->exact,
                (unsigned long long)row->y_hash);
    for (size_t i = 0; i < operations[row->operation]->count; i++)
        format_floats(operations[row->operation]->roles[i].name, type_of(row, i), row->inputs[i],
                      elements_of(row, i), out);
    text_add(out, "end\n");
}

bool worst_list_add(worst_list *list, worst_row *row, error *err)
{
    worst_row *grown = realloc(list->rows, (list->count + 1) * sizeof *grown);
    if (!grown)
        return fail_memory(err, "worst rows");
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
