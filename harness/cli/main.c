/* lnbench: which LayerNorm kernel to use, how fast each one is and how wrong. */
#include "base/die.h"
#include "base/temporary.h"
#include "cli/command.h"
#include "cli/memory.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void print_help(FILE *file)
{
    fputs("lnbench tells how fast each LayerNorm kernel is and how wrong, from the same run.\n\n"
          "Usage: lnbench SUBCOMMAND [OPTION...]\n   or: lnbench SUBCOMMAND --help\n\n",
          file);
    for (size_t i = 0; i < command_count; i++)
        fprintf(file, "  %-10s  %s\n", commands[i]->name, commands[i]->brief);
    fputs("\nExit codes: 0 fine, 1 regression, 2 usage, 3 inconclusive, 4 not comparable,\n"
          "5 accuracy violation or a budget that nothing meets, 6 a kernel failed,\n"
          "7 environment or I/O, 130 interrupted, 141 the reader of standard output went away.\n",
          file);
}

/* Less would end it by a signal, without a word; threads get as much. */
static void check_stack(void)
{
    enum { LEAST_KIB = 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LEAST_KIB * 1024)
        die(EXIT_CODE_ENVIRONMENT,
            "the limit of the stack is %llu KiB, and %d are needed: raise it (ulimit -s 8192)",
            (unsigned long long)limit.rlim_cur / 1024, LEAST_KIB);
}

int main(int argc, char **argv)
{
    /* A reader that goes away (| head) is an error of writing, not a reason to die unsaid. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes (ulimit -f): likewise */
    memory_watch();
    atexit(tidy_up);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(stdout);
        return finish_output(EXIT_CODE_FINE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lnbench %s\n", LNBENCH_VERSION_STRING);
        return finish_output(EXIT_CODE_FINE);
    }
    check_stack();
    error err = {0};
    const cli_command *command = command_find(argv[1], &err);
    exit_code code = command ? command_run_with(command, argc - 1, argv + 1, &err) : err.code;
    if (err.code != EXIT_CODE_FINE && err.message[0])
        die(code, "%s", err.message);
    return finish_output(code);
}
