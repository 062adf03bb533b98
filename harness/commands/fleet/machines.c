#include "commands/fleet/fleet.h"
bool fleet_machines(const char *database, const char *chart, const output_file *printed,
                    exit_code *code, error *err)
{
    (void)database;
    (void)chart;
    (void)printed;
    (void)code;
    return fail(err, EXIT_CODE_USAGE, "not yet");
}
