/* Fuzzes command lines: each line of the input is an argument. No command is run. */
#include "commands/options.h"
#include "fuzz.h"

static exit_code no_body(void *context, const cli_call *call)
{
    (void)context, (void)call;
    return EXIT_CODE_FINE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 32 };
    char *line = strndup((const char *)bytes, size), *arguments[MOST + 1] = {0}, *rest = line;
    static bool quiet;
    int count = 0;
    if (!quiet && !freopen("/dev/null", "w", stdout)) /* --help */
        abort();
    quiet = true;
    while (rest && count < MOST)
        arguments[count++] = strsep(&rest, "\n");
    die_catcher caught = {0};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0) {
        cli_command harmless = *command_find(arguments[0]);
        harmless.body = no_body;
        FUZZ_CHECK(command_run_with(&harmless, count, arguments) == EXIT_CODE_FINE);
    }
    die_caught_by = NULL;
    FUZZ_CHECK(caught.error.code == EXIT_CODE_FINE || caught.error.message[0]);
    free(line);
    return 0;
}
