/* SPDX-License-Identifier: Apache-2.0 */
/* The main of a benchmark program. */
#include "hayai.h"
#include <stdio.h>

static int complain(const char *program, hayai_status status, int code)
{
    const char *message = hayai_last_message();
    fprintf(stderr, "%s: %s%s%s\n", program, hayai_status_string(status), *message ? ": " : "",
            message);
    return code;
}

static int run(const char *program, const hayai_options *options, hayai_command command)
{
    hayai_suite *suite = hayai_default_suite();
    if (!suite)
        return complain(program, HAYAI_ERROR_MEMORY, 1);
    if (command == HAYAI_COMMAND_LIST) {
        const hayai_status status = hayai_suite_report_list(suite, options);
        return status == HAYAI_OK ? 0 : complain(program, status, 1);
    }
    hayai_summary summary;
    const hayai_status status = hayai_suite_run(suite, options, &summary);
    if (status != HAYAI_OK)
        return complain(program, status, status == HAYAI_ERROR_ARGUMENT ? 2 : 1);
    return summary.errors > 0;
}

int hayai_main(int argc, char **argv)
{
    const char *program = argc > 0 && argv[0] ? argv[0] : "benchmark";
    hayai_options options;
    hayai_command command;
    const hayai_status status = hayai_options_parse(&options, &command, &argc, argv);
    if (status != HAYAI_OK)
        return complain(program, status, 2);
    int code = 0;
    if (argc > 1) {
        fprintf(stderr, "%s: unknown argument: %s; --help tells which there are\n", program,
                argv[1]);
        code = 2;
    } else if (command == HAYAI_COMMAND_HELP) {
        code = printf("%s [OPTION ...]\n%s", program, hayai_options_help()) < 0;
    } else {
        code = run(program, &options, command);
    }
    hayai_options_release(&options);
    return code;
}
