/* Command lines: each line of the input is an argument. No command is run. */
#include "commands/options.h"
#include "fuzz.h"

static exit_code no_body(void *context, const cli_call *call, error *err)
{
    (void)context, (void)call, (void)err;
    return EXIT_CODE_FINE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 32 };
    char *line = strndup((const char *)bytes, size), *arguments[MOST + 1] = {0}, *rest = line;
    static bool quiet;
    int count = 0;
    error err = {0};
    if (!quiet && !freopen("/dev/null", "w", stdout)) /* --help */
        abort();
    quiet = true;
    while (rest && count < MOST)
        arguments[count++] = strsep(&rest, "\n");
    const cli_command *found = command_find(arguments[0], &err);
    if (found) {
        cli_command harmless = *found;
        harmless.body = no_body;
        exit_code code = command_run_with(&harmless, count, arguments, &err);
        FUZZ_CHECK(code == err.code && (code == EXIT_CODE_FINE || err.message[0]));
    }
    free(line);
    return 0;
}
