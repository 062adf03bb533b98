#include "store/calibration.h"
#include "store/internal.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void machine_identity(const machine_facts *machine, char identity[CALIBRATION_MACHINE_LENGTH])
{
    static const char *const facts[] = {"architecture", "cpu_model", "l1d_bytes", "l2_bytes",
                                        "l3_bytes",     "cores",     "hypervisor"};
    size_t length = 0;
    identity[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int added = snprintf(identity + length, CALIBRATION_MACHINE_LENGTH - length, "%s%.64s",
                             i ? " | " : "", machine_fact_value(machine, facts[i]));
        length += added > 0 ? (size_t)added : 0;
    }
}

static const record_field noise_fields[] = {
    FIELD(COUNT, noise_figure, rows),      FIELD(COUNT, noise_figure, hidden),
    FIELD(REAL, noise_figure, floor),      FIELD(REAL, noise_figure, smallest),
    FIELD(REAL, noise_figure, seconds),    FIELD(UNSIGNED, noise_figure, processes),
    FIELD(UNSIGNED, noise_figure, trials),
};

static bool put_noise(result_store *store, int64_t id, int method, int regime,
                      const noise_figure *noise, error *err)
{
    sqlite3_stmt *statement =
        store_bound(store, STATEMENT_ADD_NOISE, err, "iss", id,
                    method_name((enum noise_method)method), regime_names[regime]);
    if (statement)
        store_bind_record(statement, 4, FIELDS(noise_fields), noise);
    return statement && store_step(store, statement, "store a calibration", err);
}

static bool put_whole(result_store *store, const machine_facts *machine,
                      noise_calibration *calibration, error *err)
{
    char identity[CALIBRATION_MACHINE_LENGTH];
    machine_identity(machine, identity);
    if (!store_do(store, STATEMENT_ADD_CALIBRATION, "store a calibration", err, "ssid", identity,
                  calibration->kernel, (int64_t)calibration->rebuilds, calibration->confidence))
        return false;
    calibration->id = sqlite3_last_insert_rowid(store->database);
    for (int method = 0; method < METHODS; method++)
        for (int regime = 0; regime < REGIMES; regime++)
            if (calibration->noise[method][regime].trials > 0 &&
                !put_noise(store, calibration->id, method, regime,
                           &calibration->noise[method][regime], err))
                return false;
    return true;
}

bool store_put_calibration(result_store *store, const machine_facts *machine,
                           noise_calibration *calibration, error *err)
{
    return store_begin(store, "store a calibration", err) &&
           store_finish(store, put_whole(store, machine, calibration, err), "store a calibration",
                        err) &&
           store_calibration(store, machine, calibration, err);
}

static noise_figure *place_of(noise_calibration *calibration, const char *method,
                              const char *regime)
{
    for (int m = 0; m < METHODS; m++)
        for (int r = 0; r < REGIMES; r++)
            if (strcmp(method, method_name((enum noise_method)m)) == 0 &&
                strcmp(regime, regime_names[r]) == 0)
                return &calibration->noise[m][r];
    return NULL;
}

static bool read_noise(result_store *store, noise_calibration *calibration, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_NOISE, err, "i", calibration->id);
    bool row = false, fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        char method[16], regime[16];
        store_copy_text(statement, store_column(statement, "method"), method, sizeof method);
        store_copy_text(statement, store_column(statement, "regime"), regime, sizeof regime);
        noise_figure *noise = place_of(calibration, method, regime);
        fine = (!noise || store_take(store, statement, FIELDS(noise_fields), noise, err)) &&
               store_next(store, statement, &row, err);
    }
    return fine;
}

bool store_calibration(result_store *store, const machine_facts *machine,
                       noise_calibration *calibration, error *err)
{
    static const record_field fields[] = {
        FIELD(COUNT, noise_calibration, id),        TEXT_FIELD(noise_calibration, made, 0),
        TEXT_FIELD(noise_calibration, kernel, 0),   FIELD(UNSIGNED, noise_calibration, rebuilds),
        FIELD(REAL, noise_calibration, confidence),
    };
    char identity[CALIBRATION_MACHINE_LENGTH];
    bool row = false;
    *calibration = (struct noise_calibration){0};
    machine_identity(machine, identity);
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CALIBRATION, err, "s", identity);
    bool fine = statement && store_next(store, statement, &row, err) &&
                (!row || store_take(store, statement, FIELDS(fields), calibration, err));
    sqlite3_reset(statement);
    return fine && (!row || read_noise(store, calibration, err));
}

bool load_calibration(const char *database, const machine_facts *machine,
                      noise_calibration *calibration, error *err)
{
    result_store *store;
    *calibration = (struct noise_calibration){0};
    if (access(database, F_OK) != 0)
        return true;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = store_calibration(store, machine, calibration, err);
    store_close(store);
    return fine;
}
