#include "base/progress.h"
#include "base/output.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };
static const double line_seconds = 10; /* between two lines where there is no terminal */

void progress_begin(progress_bar *progress, double total_seconds)
{
    double now = seconds_now();
    *progress = (struct progress_bar){
        .shown = true,
        .terminal = isatty(STDERR_FILENO) == 1,
        .total = total_seconds,
        .begun = now,
        .drawn = now,
        .left = INFINITY,
    };
}

static double share_done(const progress_bar *progress)
{
    return progress->done < progress->total ? progress->done / progress->total : 1;
}

double progress_left(progress_bar *progress, double now)
{
    double share = share_done(progress), elapsed = now - progress->begun;
    double left = share > 0.01 ? elapsed / share - elapsed : progress->total - elapsed;
    progress->left = fmax(fmin(left, progress->left), 0);
    return progress->left;
}

void progress_step(progress_bar *progress, double seconds, const char *what)
{
    progress->done += seconds;
    double time = seconds_now();
    if (!progress->shown || time - progress->drawn < (progress->terminal ? 0.1 : line_seconds))
        return;
    progress->drawn = time;
    double share = share_done(progress), left = progress_left(progress, time);
    if (!progress->terminal) {
        output_note("%.0f %%, %.0f s left: %.70s", 100 * share, left, what);
        return;
    }
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    char shown[71];
    snprintf(shown, sizeof shown, "%s", what);
    text_make_printable(shown, "");
    fprintf(stderr, "\r\033[K[%s] %3.0f %%  %3.0f s left  %s", bar, 100 * share, left, shown);
    fflush(stderr);
}

void progress_end(progress_bar *progress)
{
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
