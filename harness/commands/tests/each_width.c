/* each_width DATABASE: every command that prints a table of what is stored, on a terminal of each
 * width from 0 to 300. It ends, with as many lines as there are words at most, and no line of a
 * table is longer than the terminal is wide. Of what reads a run, one width in four, in turn; all
 * with LNBENCH_FULL. */
#include "base/die.h"
#include "commands/options.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static char printed[1 << 20];
static size_t length;

/* Until a byte 4, which stands behind what a command prints. */
static void *read_terminal(void *terminal)
{
    ssize_t got = 1;
    for (length = 0; got > 0 && length + 1 < sizeof printed; length += (size_t)got) {
        got = read(*(int *)terminal, printed + length, sizeof printed - 1 - length);
        if (got > 0 && printed[length + (size_t)got - 1] == 4)
            break;
    }
    length += got > 0 ? (size_t)got - 1 : 0;
    printed[length] = '\0';
    return NULL;
}

static int open_terminal(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios raw;
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        return -1;
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (side < 0 || tcgetattr(side, &raw))
        return -1;
    cfmakeraw(&raw);
    return tcsetattr(side, TCSANOW, &raw) || dup2(side, STDOUT_FILENO) < 0 ? -1 : terminal;
}

static bool run_at(const cli_command *command, int count, char **arguments, int terminal,
                   unsigned width, bool by_variable)
{
    char columns[16];
    pthread_t reader;
    snprintf(columns, sizeof columns, "%u", width);
    if (by_variable)
        setenv("COLUMNS", columns, 1);
    else
        unsetenv("COLUMNS");
    ioctl(terminal, TIOCSWINSZ,
          &(struct winsize){.ws_col = by_variable ? 80 : (unsigned short)width});
    pthread_create(&reader, NULL, read_terminal, &terminal);
    command_run_with(command, count, arguments);
    finish_output(EXIT_CODE_FINE);
    ssize_t put = write(STDOUT_FILENO, "\4", 1);
    pthread_join(reader, NULL);
    if (put != 1 || length == 0 || length + 1 == sizeof printed)
        fprintf(stderr, "%s at width %u: %zu bytes\n", arguments[0], width, length);
    return put == 1 && length > 0 && length + 1 < sizeof printed;
}

/* Letters of the longest line. */
static unsigned widest(void)
{
    unsigned most = 0, here = 0;
    for (const char *at = printed; *at; at++) {
        here = *at == '\n' ? 0 : here + ((*at & 0xc0) != 0x80);
        most = here > most ? here : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    enum { WORDS = 10, WIDEST = 300, LEAST = 20 };
    char *database = argc > 1 ? argv[1] : (char *)"";
    struct {
        bool fits; /* it prints a table and nothing else */
        char *words[WORDS];
    } lines[] = {
        {true, {(char *)"list", (char *)"models"}},
        {true, {(char *)"list", (char *)"runs", (char *)"--db", database}},
        {true, {(char *)"list", (char *)"inputs"}},
        {false, {(char *)"report", (char *)"--no-charts", (char *)"--db", database}},
        {false, {(char *)"history", (char *)"--db", database}},
        {false, {(char *)"compare", (char *)"1", (char *)"1", (char *)"--db", database}},
        {false,
         {(char *)"choose", (char *)"--stored", (char *)"--allow-missing", (char *)"--shape",
          (char *)"4x64", (char *)"--db", database}},
    };
    int terminal = open_terminal(), bad = terminal < 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char **words = lines[i].words;
        int count = 0;
        const cli_command *command = command_find(words[0]);
        while (count < WORDS && words[count])
            count++;
        unsigned every = lines[i].fits || getenv("LNBENCH_FULL") ? 1 : 4;
        for (unsigned width = (unsigned)i % every; command && width <= WIDEST && !bad;
             width += every) {
            bad |= !run_at(command, count, words, terminal, width, width % 10 != 1);
            if (lines[i].fits && width > 0 && widest() > (width < LEAST ? LEAST : width))
                bad |= fprintf(stderr, "%s: %u columns at width %u\n", words[0], widest(), width);
        }
        bad |= !command;
    }
    return bad;
}
