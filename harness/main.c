/* lnbench: which LayerNorm kernel to use, how fast each one is and how wrong. */
#include "command.h"
#include "text.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const command commands[] = {
    {"run", command_run, "measure and judge kernels, store, table, charts, report"},
    {"list", command_list, "kernels, conventions, inputs, shapes, models, plugins, runs"},
    {"eval", command_eval, "a kernel, or the reference, on your own tensors"},
    {"fingerprint", command_fingerprint, "which convention made this output?"},
    {"distance", command_distance, "how far conventions lie apart, exactly"},
    {"choose", command_choose, "the kernel to use for a shape, a model and an error budget"},
    {"duet", command_duet, "two builds of a kernel library, old against new, interleaved"},
    {"compare", command_compare, "two stored runs or exported files: what got slower or worse"},
    {"hunt", command_hunt, "search for the rows on which a kernel is worst"},
    {"merge", command_merge, "put the shards of a hunt together"},
    {"invariance", command_invariance, "on what the bits of a row depend"},
    {"replay", command_replay, "a stored worst case or failure, or a find, bit for bit"},
    {"calibrate", command_calibrate, "this machine's noise: the smallest change it can show"},
    {"report", command_report, "charts and page of a stored run, nothing measured again"},
    {"export", command_export, "a stored run as JSON, JSON Lines or TSV"},
    {"history", command_history, "a measure over the stored runs, with its change points"},
    {"import", command_import, "exported runs of other machines into the store"},
    {"doctor", command_doctor, "what on this machine makes timings untrustworthy"},
    {"help", command_help, "a subcommand's options; man pages and shell completions"},
};
const size_t command_count = sizeof commands / sizeof *commands;

enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *file)
{
    fputs("lnbench tells how fast each LayerNorm kernel is and how wrong, from the same run.\n\n"
          "lnbench SUBCOMMAND [OPTION...]     (lnbench SUBCOMMAND --help)\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fputs("\nExit codes: 0 fine, 1 regression, 2 usage, 3 inconclusive, 4 not comparable,\n"
          "5 accuracy violation or a budget that nothing meets, 6 a kernel failed,\n"
          "7 environment or I/O, 130 interrupted.\n",
          file);
}

static exit_code unknown(const char *given)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *nearest = nearest_word(given, names, COMMANDS);
    fprintf(stderr, "lnbench: no %s '%.60s'%s%s%s: see lnbench --help\n",
            given[0] == '-' ? "option" : "subcommand", given, nearest ? " (did you mean '" : "",
            nearest ? nearest : "", nearest ? "'?)" : "");
    return EXIT_CODE_USAGE;
}

/* What was printed may still wait in the buffer of standard output. A reader that had enough
 * (| head) is told nothing. */
static exit_code finish(exit_code code)
{
    errno = 0;
    bool fine = !ferror(stdout);
    if (fflush(stdout) == 0 && fine)
        return code;
    if (errno != EPIPE && code == EXIT_CODE_FINE)
        fprintf(stderr, "lnbench: standard output: cannot write: %s\n",
                strerror(errno ? errno : EIO));
    return code == EXIT_CODE_FINE ? EXIT_CODE_ENVIRONMENT : code;
}

/* Whether writing failed because nobody reads any more (| head): no news to anyone. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int main(int argc, char **argv)
{
    /* A reader that goes away (| head) is an error of writing, not a reason to die unsaid. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        help(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        help(stdout);
        return (int)finish(EXIT_CODE_FINE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lnbench %s\n", LNBENCH_VERSION_STRING);
        return (int)finish(EXIT_CODE_FINE);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        error error = {0};
        exit_code code = commands[i].main(argc - 1, argv + 1, &error);
        if (error.code != EXIT_CODE_FINE && error.message[0] && !reader_is_gone())
            fprintf(stderr, "lnbench: %s\n", error.message);
        return (int)finish(code);
    }
    return (int)unknown(argv[1]);
}
