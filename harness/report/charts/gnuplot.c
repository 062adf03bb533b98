/* Runs gnuplot on a script and the tables of a chart. */
#include "base/files.h"
#include "report/charts/chart.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A chart takes half a second. */
static const double most_seconds = 60;

/* gnuplot's tooltips are event handlers for a script that it would fetch; as <title> elements they
 * need none: a drawing's lines with a handler become "<g><title>TEXT</title>". */
static bool title_tips(const char *path)
{
    static const char mark[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
    static const char end[] = "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";
    FILE *file = fopen(path, "r");
    text_buffer out = {0};
    char *line = NULL;
    size_t size = 0;
    struct error ignored = {0};
    while (file && getline(&line, &size, file) >= 0) {
        char *tip = strstr(line, mark), *after = tip ? strstr(tip, end) : NULL;
        if (after) {
            text_add_bytes(&out, line, (size_t)(tip - line));
            text_format(&out, "<g><title>%.*s</title>%s",
                        (int)(after - tip - (long)sizeof mark + 1), tip + sizeof mark - 1,
                        after + sizeof end - 1);
        } else {
            text_add(&out, line);
        }
    }
    bool fine = file && !ferror(file) && write_whole_file(path, &out, &ignored);
    if (file)
        fclose(file);
    free(line);
    text_free(&out);
    return fine;
}

/* Whether the file begins and ends as its format does. */
static bool is_whole(const char *path, const char *format)
{
    static const struct {
        const char *format, *begin, *end;
    } forms[] = {{"svg", "<?xml", "</svg>"}, {"png", "\x89PNG", "IEND"}, {"pdf", "%PDF", "%%EOF"}};
    char head[8] = "", tail[33] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t count = fread(head, 1, sizeof head, file), last = 0;
    if (fseek(file, -(long)sizeof tail + 1, SEEK_END) == 0)
        last = fread(tail, 1, sizeof tail - 1, file);
    fclose(file);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(format, forms[i].format) == 0)
            return count == sizeof head &&
                   memcmp(head, forms[i].begin, strlen(forms[i].begin)) == 0 &&
                   memmem(tail, last, forms[i].end, strlen(forms[i].end));
    return false;
}

/* The drawing gets its name only when it is whole; else nothing is left of it. */
static bool finish_drawing(const gnuplot_job *job, bool drew)
{
    char whole[1200], part[1210];
    snprintf(whole, sizeof whole, "%s/%s.%s", job->folder, job->stem, job->format);
    snprintf(part, sizeof part, "%s.part", whole);
    drew = drew && is_whole(part, job->format) &&
           (strcmp(job->format, "svg") != 0 || title_tips(part)) && rename(part, whole) == 0;
    if (!drew)
        unlink(part);
    return drew;
}

/* Names reach gnuplot as arguments and TSV, never as text of a script; -d keeps start-up files out. */
void gnuplot_start(gnuplot_job *job, const char *plots_directory)
{
    char named[600];
    snprintf(named, sizeof named, "%s/%s.gp", plots_directory, job->script);
    job->path = realpath(named, NULL); /* gnuplot runs in the folder */
    if (!job->path) {
        job->result = PROGRAM_FAILED;
        snprintf(job->note, sizeof job->note, "gnuplot's script %.180s: %s", named,
                 strerror(errno));
        return;
    }
    const char *const arguments[] = {"gnuplot", "-d",        "-c", job->path,
                                     job->stem, job->format, NULL};
    memcpy(job->arguments, arguments, sizeof arguments);
    job->run = (program){.arguments = job->arguments,
                         .folder = job->folder,
                         .temporary = job->folder, /* what it leaves goes */
                         .seconds = most_seconds};
    program_start(&job->run);
}

program_result gnuplot_end(gnuplot_job *job)
{
    if (!job->path)
        return job->result;
    job->result = program_end(&job->run);
    free(job->path);
    job->path = NULL;
    if (!finish_drawing(job, job->result == PROGRAM_DONE) && job->result == PROGRAM_DONE) {
        job->result = PROGRAM_FAILED;
        snprintf(job->run.words, sizeof job->run.words, "it left no whole drawing");
    }
    if (job->result == PROGRAM_ABSENT)
        snprintf(job->note, sizeof job->note,
                 "gnuplot was not found: install it (Debian: gnuplot-nox)");
    else if (job->result != PROGRAM_DONE)
        snprintf(job->note, sizeof job->note, "gnuplot failed on %s.%s: %.190s", job->stem,
                 job->format, job->run.words);
    return job->result;
}
