#include "machine.h"
#include <stdlib.h>
#include <string.h>

const char *machine_fact_value(const machine *machine, const char *name)
{
    for (size_t i = 0; i < machine->count; i++)
        if (strcmp(machine->facts[i].name, name) == 0)
            return machine->facts[i].value;
    return "unknown";
}

void machine_free(machine *machine)
{
    free(machine->facts);
    *machine = (struct machine){0};
}
