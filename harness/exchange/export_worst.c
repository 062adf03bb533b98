/* Worst rows in JSON Lines: first the bits, each tensor once however many cases share it, then for
 * each case which of them are its own. */
#include "exchange/internal.h"
#include "base/allocate.h"
#include "base/hash.h"
#include <string.h>

/* The slot of these bits: theirs, or the free one where they belong. */
static size_t slot_of(const tensor_set *set, const void *bits, size_t bytes, uint64_t hash)
{
    size_t slot = (size_t)hash & (set->room - 1);
    for (; set->slots[slot]; slot = (slot + 1) & (set->room - 1)) {
        size_t number = set->slots[slot] - 1;
        if (set->hashes[number] == hash && set->bytes[number] == bytes &&
            memcmp(set->bits[number], bits, bytes) == 0)
            break;
    }
    return slot;
}

static void add(tensor_set *set, const void *bits, size_t bytes)
{
    uint64_t hash = hash_bytes(HASH_START, bits, bytes);
    size_t slot = slot_of(set, bits, bytes, hash);
    if (set->slots[slot])
        return;
    set->bits[set->count] = bits;
    set->bytes[set->count] = bytes;
    set->hashes[set->count] = hash;
    set->slots[slot] = ++set->count;
}

void tensor_set_fill(tensor_set *set, const run_view *view)
{
    size_t most = view->worst ? ROLES_MOST * view->cases.count : 0;
    *set = (tensor_set){.room = 2};
    while (set->room < 2 * most)
        set->room *= 2;
    set->bits = allocate_zeroed(most + 1, sizeof *set->bits);
    set->bytes = allocate_zeroed(most + 1, sizeof *set->bytes);
    set->hashes = allocate_zeroed(most + 1, sizeof *set->hashes);
    set->slots = allocate_zeroed(set->room, sizeof *set->slots);
    for (size_t i = 0; i < most; i++) {
        const stored_tensor *tensor = &view->worst[i / ROLES_MOST].inputs[i % ROLES_MOST];
        if (tensor->bits)
            add(set, tensor->bits, tensor->bytes);
    }
}

void tensor_set_free(tensor_set *set)
{
    free(set->bits);
    free(set->bytes);
    free(set->hashes);
    free(set->slots);
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
        export_record(out, "tensor",
                      json_pack("{s:o}", "bits", bits_json(set->bits[i], set->bytes[i])));
}

/* Its number; null where there is none. */
static json_t *number_json(const tensor_set *set, const stored_tensor *tensor)
{
    if (!tensor->bits)
        return json_null();
    size_t slot = slot_of(set, tensor->bits, tensor->bytes,
                          hash_bytes(HASH_START, tensor->bits, tensor->bytes));
    return json_integer((json_int_t)set->slots[slot] - 1);
}

void export_worst_rows(const tensor_set *set, const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        if (!view_has_worst(view, i))
            continue;
        const stored_worst *worst = &view->worst[i];
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)worst->y_hash);
        json_t *record = json_pack("{s:I, s:s}", "case", (json_int_t)i, "y_hash", hash);
        const operation *what = operations[view->cases.cases[i].key.operation];
        for (size_t role = 0; record && role < what->count; role++)
            if (role_is_kept(&what->roles[role]))
                json_object_set_new(record, what->roles[role].name,
                                    number_json(set, &worst->inputs[role]));
        export_record(out, "worst", record);
    }
}
