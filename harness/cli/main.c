/* lnbench: which LayerNorm kernel to use, how fast each one is and how wrong. */
#include "base/output.h"
#include "cli/command.h"
#include "cli/memory.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* Whether writing failed because nobody reads any more (| head): no news to anyone. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* What was printed may still wait in the buffer of standard output. A reader that had enough
 * (| head) is told nothing; the exit code is then what SIGPIPE would have made it. */
static int finish_output(exit_code code)
{
    enum { PIPE_CLOSED = 128 + SIGPIPE };
    errno = 0;
    bool fine = !ferror(stdout);
    if (output_flush() && fine)
        return (int)code;
    int why = errno ? errno : EIO;
    if (why == EPIPE || reader_is_gone())
        return PIPE_CLOSED;
    /* After 2 comes 7, before every other code. */
    if (code == EXIT_CODE_USAGE || code == EXIT_CODE_ENVIRONMENT)
        return (int)code;
    output_note("standard output: cannot write: %s", strerror(why));
    return EXIT_CODE_ENVIRONMENT;
}

/* Less would end it by a signal, without a word; threads get as much. */
static bool has_stack(error *err)
{
    enum { LEAST_KIB = 1024 };
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_KIB * 1024 ||
           fail(err, EXIT_CODE_ENVIRONMENT,
                "the limit of the stack is %llu KiB, and %d are needed: raise it (ulimit -s 8192)",
                (unsigned long long)limit.rlim_cur / 1024, LEAST_KIB);
}

int main(int argc, char **argv)
{
    /* A reader that goes away (| head) is an error of writing, not a reason to die unsaid. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes (ulimit -f): likewise */
    memory_watch();
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
    error err = {0};
    const cli_command *command = has_stack(&err) ? command_find(argv[1], &err) : NULL;
    exit_code code = command ? command_run_with(command, argc - 1, argv + 1, &err) : err.code;
    if (err.code != EXIT_CODE_FINE && err.message[0] && !reader_is_gone())
        output_note("%s", err.message);
    return finish_output(code);
}
