/* Worst rows in JSON Lines: first the bits, each tensor once however many cases share it, then for
 * each case which of them are its own. */
#include "exchange/internal.h"
#include "base/allocate.h"
#include <stdlib.h>

const record_field hash_field = FIELD(HASH, stored_worst, y_hash);

/* Whether a tensor of the store has a number already, and which. */
static bool find_number(const tensor_set *set, const stored_tensor *tensor, size_t *number)
{
    hash_probe at = hash_index_probe(&set->numbers, (uint64_t)tensor->id);
    return hash_index_next(&set->numbers, &at, number);
}

void tensor_set_fill(tensor_set *set, const run_view *view)
{
    size_t most = view->worst ? ROLES_MOST * view->cases.count : 0, number;
    *set = (tensor_set){0};
    for (size_t i = 0; i < most; i++) {
        const stored_tensor *tensor = &view->worst[i / ROLES_MOST].inputs[i % ROLES_MOST];
        if (!tensor->bits || find_number(set, tensor, &number))
            continue;
        hash_index_add(&set->numbers, (uint64_t)tensor->id, set->count);
        set->tensors = allocate_room(set->tensors, set->count, sizeof *set->tensors);
        set->tensors[set->count++] = tensor;
    }
}

void tensor_set_free(tensor_set *set)
{
    hash_index_free(&set->numbers);
    free(set->tensors);
    *set = (tensor_set){0};
}

size_t export_worst_count(const run_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        count += view_has_worst(view, i);
    return count;
}

/* Two digits a byte, in the order of memory. */
static json_t *bits_json(const void *bits, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bits;
    char *hex = allocate(2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++) {
        hex[2 * i] = digits[from[i] >> 4];
        hex[2 * i + 1] = digits[from[i] & 15];
    }
    hex[2 * bytes] = '\0';
    json_t *made = json_string(hex);
    free(hex);
    return made;
}

void export_tensors(const tensor_set *set, text_buffer *out)
{
    for (size_t i = 0; i < set->count; i++)
        export_record(
            out, "tensor",
            json_pack("{s:o}", "bits", bits_json(set->tensors[i]->bits, set->tensors[i]->bytes)));
}

void export_worst_rows(const tensor_set *set, const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        if (!view_has_worst(view, i))
            continue;
        const stored_worst *worst = &view->worst[i];
        size_t number;
        json_t *record = json_pack("{s:I}", "case", (json_int_t)i);
        record_put(record, &hash_field, 1, worst);
        const operation *what = operations[view->cases.cases[i].key.operation];
        for (size_t role = 0; role < what->count; role++)
            if (role_is_kept(&what->roles[role]))
                json_object_set_new(record, what->roles[role].name,
                                    find_number(set, &worst->inputs[role], &number)
                                        ? json_integer((json_int_t)number)
                                        : json_null());
        export_record(out, "worst", record);
    }
}
