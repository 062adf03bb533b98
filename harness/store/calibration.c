#include "base/text.h"
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

static bool put_noise(result_store *store, int64_t id, int method, int regime,
                      const noise_figure *noise, error *err)
{
    return store_do(store, STATEMENT_ADD_NOISE, "store a calibration", err, "issiidddii", id,
                    method_name((enum noise_method)method), regime_names[regime],
                    (int64_t)noise->rows, (int64_t)noise->hidden, noise->floor, noise->smallest,
                    noise->seconds, (int64_t)noise->processes, (int64_t)noise->trials);
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
    bool row;
    if (!statement)
        return false;
    for (;;) {
        char method[16], regime[16];
        if (!store_next(store, statement, &row, err))
            return false;
        if (!row)
            return true;
        store_copy_text(statement, 0, method, sizeof method);
        store_copy_text(statement, 1, regime, sizeof regime);
        noise_figure *noise = place_of(calibration, method, regime);
        if (noise)
            *noise = (struct noise_figure){
                .rows = (size_t)sqlite3_column_int64(statement, 2),
                .hidden = (size_t)sqlite3_column_int64(statement, 3),
                .floor = sqlite3_column_double(statement, 4),
                .smallest = sqlite3_column_double(statement, 5),
                .seconds = sqlite3_column_double(statement, 6),
                .processes = (unsigned)sqlite3_column_int64(statement, 7),
                .trials = (unsigned)sqlite3_column_int64(statement, 8),
            };
    }
}

bool store_calibration(result_store *store, const machine_facts *machine,
                       noise_calibration *calibration, error *err)
{
    char identity[CALIBRATION_MACHINE_LENGTH];
    bool row;
    *calibration = (struct noise_calibration){0};
    machine_identity(machine, identity);
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CALIBRATION, err, "s", identity);
    if (!statement)
        return false;
    if (!store_next(store, statement, &row, err))
        return false;
    if (!row)
        return true;
    calibration->id = sqlite3_column_int64(statement, 0);
    store_copy_text(statement, 1, calibration->made, sizeof calibration->made);
    store_copy_text(statement, 2, calibration->kernel, sizeof calibration->kernel);
    calibration->rebuilds = (unsigned)sqlite3_column_int64(statement, 3);
    calibration->confidence = sqlite3_column_double(statement, 4);
    sqlite3_reset(statement);
    return read_noise(store, calibration, err);
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
