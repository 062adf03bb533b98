/* Ends the program with one line and an exit code, without allocating memory. */
#include "base/die.h"
#include "base/text.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill_error(error *err, exit_code code, const char *format, va_list arguments)
{
    err->code = code;
    number_print_list(err->message, sizeof err->message, format, arguments);
    text_make_printable(err->message, ""); /* names and values come from files and plugins */
}

bool(fail)(error *err, exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (err)
        fill_error(err, code, format, arguments);
    va_end(arguments);
    return false;
}

/* Returns whether writing failed because the reader closed the pipe (| head), which is not reported. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

const char *die_note = "";

/* Prints without stdio, which allocates. Names and values in the line may come from files and plugins. */
static void print_line(const char *format, va_list arguments)
{
    static const char name[] = "lnbench: ";
    char line[sizeof name + 1024];
    memcpy(line, name, sizeof name);
    number_print_list(line + sizeof name - 1, 1024, format, arguments);
    size_t said = strlen(line);
    snprintf(line + said, sizeof line - said, "%s", die_note);
    text_make_printable(line, "");
    size_t length = strlen(line);
    line[length] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length + 1);
    (void)written;
}

int finish_output(exit_code code)
{
    enum { PIPE_CLOSED = 128 + SIGPIPE };
    errno = 0;
    bool fine = !ferror(stdout);
    if (fflush(NULL) == 0 && fine)
        return (int)code;
    int why = errno ? errno : EIO;
    if (why == EPIPE || reader_is_gone())
        return PIPE_CLOSED;
    /* Only code 2 takes precedence over 7. */
    if (code == EXIT_CODE_USAGE || code == EXIT_CODE_ENVIRONMENT)
        return (int)code;
    fprintf(stderr, "lnbench: standard output: cannot write: %s%s\n", strerror(why), die_note);
    return EXIT_CODE_ENVIRONMENT;
}

/* Returns only in the first thread that ends the program, and again in that thread if something fails while it ends. */
static void begin_to_end(exit_code code)
{
    static _Atomic pid_t ending;
    pid_t first = 0, self = gettid();
    if (atomic_compare_exchange_strong(&ending, &first, self))
        return;
    if (first == self)
        _exit((int)code);
    for (;;)
        pause();
}

_Thread_local die_catcher *die_caught_by;

void die(exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (die_caught_by) {
        fill_error(&die_caught_by->error, code, format, arguments);
        longjmp(die_caught_by->place, 1);
    }
    begin_to_end(code);
    if (!reader_is_gone())
        print_line(format, arguments);
    va_end(arguments);
    exit(finish_output(code));
}

void die_of_memory(size_t bytes)
{
    die(EXIT_CODE_ENVIRONMENT, "out of memory (%zu more bytes needed)", bytes);
}
