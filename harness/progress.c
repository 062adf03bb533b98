#include "progress.h"
#include "seconds.h"
#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };

void progress_begin(progress *progress, double total_seconds)
{
    *progress = (struct progress){
        .shown = isatty(STDERR_FILENO) == 1, .total = total_seconds, .begun = seconds_now()};
}

void progress_step(progress *progress, double seconds, const char *what)
{
    progress->done += seconds;
    double time = seconds_now();
    if (!progress->shown || time - progress->drawn < 0.1)
        return;
    progress->drawn = time;
    double share = progress->total > 0 ? progress->done / progress->total : 1;
    if (share > 1)
        share = 1;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    double elapsed = time - progress->begun;
    double left = share > 0.01 ? elapsed / share - elapsed : progress->total - elapsed;
    fprintf(stderr, "\r\033[K[%s] %3.0f %%  %3.0f s left  %.70s", bar, 100 * share,
            left > 0 ? left : 0, what);
    fflush(stderr);
}

void progress_end(progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
