/* The worst row of each judged case, its bits shared among all that have them. */
#include "store/internal.h"
#include "base/allocate.h"
#include "base/hash.h"

static bool add_tensor(result_store *store, const void *bits, size_t bytes, uint64_t *hash,
                       error *err)
{
    if (!bits)
        return true;
    sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_TENSOR, err);
    if (!statement)
        return false;
    *hash = hash_bytes(HASH_START, bits, bytes);
    sqlite3_bind_int64(statement, 1, (int64_t)*hash);
    sqlite3_bind_blob64(statement, 2, bits, bytes, SQLITE_STATIC);
    return store_step(store, statement, "store a worst row", err);
}

static bool put(result_store *store, int64_t run, const case_key *key, const stored_worst *worst,
                error *err)
{
    uint64_t x = 0, gamma = 0, beta = 0;
    if (!add_tensor(store, worst->x, worst->x_bytes, &x, err) ||
        !add_tensor(store, worst->gamma, worst->gamma_bytes, &gamma, err) ||
        !add_tensor(store, worst->beta, worst->beta_bytes, &beta, err))
        return false;
    sqlite3_stmt *statement = store_statement(store, STATEMENT_PUT_WORST, err);
    if (!statement)
        return false;
    store_bind_key(statement, run, key);
    sqlite3_bind_int64(statement, 11, (int64_t)worst->y_hash);
    if (worst->x)
        sqlite3_bind_int64(statement, 12, (int64_t)x);
    if (worst->gamma)
        sqlite3_bind_int64(statement, 13, (int64_t)gamma);
    if (worst->beta)
        sqlite3_bind_int64(statement, 14, (int64_t)beta);
    return store_step(store, statement, "store a worst row", err);
}

bool store_put_worst(result_store *store, int64_t run, const case_key *key,
                     const stored_worst *worst, error *err)
{
    if (!store_begin(store, "store a worst row", err))
        return false;
    bool fine = put(store, run, key, worst, err);
    return store_finish(store, fine, "store a worst row", err);
}

static void take_blob(sqlite3_stmt *statement, int column, void **bits, size_t *bytes)
{
    const void *blob = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (!blob || size == 0)
        return;
    *bits = allocate_copy(blob, size);
    *bytes = size;
}

bool store_worst(result_store *store, int64_t id, stored_worst *worst, bool *has, error *err)
{
    *worst = (stored_worst){0};
    *has = false;
    sqlite3_stmt *statement = store_bound(store, STATEMENT_WORST, err, "i", id);
    if (!statement || !store_next(store, statement, has, err))
        return false;
    if (!*has)
        return true;
    worst->y_hash = (uint64_t)sqlite3_column_int64(statement, 0);
    take_blob(statement, 1, &worst->x, &worst->x_bytes);
    take_blob(statement, 2, &worst->gamma, &worst->gamma_bytes);
    take_blob(statement, 3, &worst->beta, &worst->beta_bytes);
    sqlite3_reset(statement);
    return true;
}

void stored_worst_free(stored_worst *worst)
{
    free(worst->x);
    free(worst->gamma);
    free(worst->beta);
    *worst = (stored_worst){0};
}
