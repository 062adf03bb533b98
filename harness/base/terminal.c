#include "base/terminal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t terminal_width(FILE *file)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    if (!isatty(fileno(file)))
        return 0;
    if (columns && columns[0] && strspn(columns, "0123456789") == strlen(columns) &&
        strlen(columns) < 6)
        return (size_t)atoi(columns);
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t terminal_room(FILE *file)
{
    size_t width = terminal_width(file);
    return width ? width : 100;
}

bool terminal_has_colour(FILE *file)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(file)) && !(refused && *refused) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}
