#include "base/terminal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t terminal_width(FILE *file)
{
    enum { LEAST = 20, MOST_DIGITS = 5 };
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    if (!isatty(fileno(file)))
        return 0;
    bool given = columns && strspn(columns, "0123456789") == strlen(columns) &&
                 strlen(columns) <= MOST_DIGITS;
    size_t width = given ? strtoul(columns, NULL, 10) : 0;
    if (width == 0 && ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width > 0 && width < LEAST ? LEAST : width;
}

bool terminal_has_colour(FILE *file)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(file)) && !(refused && *refused) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}
