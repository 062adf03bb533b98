/* Exported runs, as import and compare read them. What was read is exported again, and that must be
 * readable. */
#include "exchange/export.h"
#include "exchange/run_read.h"
#include "exchange/run_store.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    run_view read, view, again;
    error err = {0};
    if (!run_read_bytes("fuzz", (const char *)bytes, size, &read, &err)) {
        FUZZ_CHECK(err.code != EXIT_CODE_FINE && err.message[0]);
        return 0;
    }
    char *made = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&made, &length);
    FUZZ_CHECK(file);
    bool stored = run_in_memory("fuzzed", &read, &view, &err);
    view_free(&read);
    FUZZ_CHECK(stored || (err.code != EXIT_CODE_FINE && err.message[0]));
    bool fine = stored && view_load_rows(&view, &err) &&
                export_write(&view, export_format_named("jsonl", &err), file, "again", &err);
    fclose(file);
    if (fine) {
        FUZZ_CHECK(run_read_bytes("again", made, length, &again, &err));
        view_free(&again);
    }
    free(made);
    if (stored)
        view_free(&view);
    return 0;
}
