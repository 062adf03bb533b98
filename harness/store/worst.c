/* The worst row of each judged case, its bits shared among all that have them. */
#include "store/internal.h"
#include "base/allocate.h"
#include "base/hash.h"

static const char doing[] = "store a worst row";

static uint64_t add_tensor(result_store *store, const stored_tensor *tensor)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_TENSOR);
    uint64_t hash = hash_bytes(HASH_START, tensor->bits, tensor->bytes);
    sqlite3_bind_int64(statement, 1, (int64_t)hash);
    sqlite3_bind_blob64(statement, 2, tensor->bits, tensor->bytes, SQLITE_STATIC);
    store_step(store, statement, doing);
    return hash;
}

/* The columns of worst_rows are y_hash and the kept inputs in the order of their roles. */
void store_put_worst(result_store *store, int64_t run, const case_key *key,
                     const stored_worst *worst)
{
    const operation *what = operations[key->operation];
    uint64_t hashes[ROLES_MOST];
    int column = 11;
    store_begin(store, doing);
    for (size_t i = 0; i < what->count; i++)
        if (worst->inputs[i].bits)
            hashes[i] = add_tensor(store, &worst->inputs[i]);
    sqlite3_stmt *statement = store_keyed(store, STATEMENT_PUT_WORST, run, key);
    sqlite3_bind_int64(statement, column, (int64_t)worst->y_hash);
    for (size_t i = 0; i < what->count; i++) {
        column += role_is_kept(&what->roles[i]);
        if (worst->inputs[i].bits)
            sqlite3_bind_int64(statement, column, (int64_t)hashes[i]);
    }
    store_step(store, statement, doing);
    store_finish(store, doing);
}

static void take_blob(sqlite3_stmt *statement, int column, stored_tensor *tensor)
{
    const void *blob = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (!blob || size == 0)
        return;
    *tensor = (stored_tensor){allocate_copy(blob, size), size,
                              sqlite3_column_int64(statement, column + 1)};
}

bool store_worst(result_store *store, const stored_case *judged, stored_worst *worst)
{
    *worst = (stored_worst){0};
    sqlite3_stmt *statement = store_bound(store, STATEMENT_WORST, "i", judged->id);
    if (!store_next(store, statement))
        return false;
    worst->y_hash = (uint64_t)sqlite3_column_int64(statement, 0);
    const operation *what = operations[judged->key.operation];
    int column = 1;
    for (size_t i = 0; i < what->count; i++)
        if (role_is_kept(&what->roles[i])) {
            take_blob(statement, column, &worst->inputs[i]);
            column += 2;
        }
    sqlite3_reset(statement);
    return true;
}

void stored_worst_free(stored_worst *worst)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        free(worst->inputs[i].bits);
    *worst = (stored_worst){0};
}
