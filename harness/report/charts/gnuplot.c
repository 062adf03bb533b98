/* Runs gnuplot on a script and the tables of a chart. */
#include "base/children.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include "report/charts/chart.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A chart takes half a second. */
static const double most_seconds = 60;

static bool add_actions(posix_spawn_file_actions_t *actions, const char *directory, int errors)
{
    return posix_spawn_file_actions_addchdir_np(actions, directory) == 0 &&
           posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ==
               0 &&
           posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO) == 0;
}

/* Names reach gnuplot as arguments and TSV, never as text of a script; -d keeps the user's own
 * start-up file out. Returns 0, or errno's number. */
static int spawn_gnuplot(const char *script, const gnuplot_job *job, const char *directory,
                         int errors, pid_t *child)
{
    char *arguments[] = {(char *)"gnuplot", (char *)"-d",        (char *)"-c", (char *)script,
                         (char *)job->stem, (char *)job->format, NULL};
    posix_spawn_file_actions_t actions;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem)
        return problem;
    problem = add_actions(&actions, directory, errors)
                  ? child_spawn("gnuplot", arguments, &actions, child)
                  : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* Reads to the end, so that the child never blocks, or to the deadline; keeps the beginning. */
static void read_errors(int from, double deadline, char *kept, size_t size)
{
    size_t length = 0;
    char buffer[1024];
    while (!interrupted() && seconds_now() < deadline) {
        struct pollfd poll_this = {.fd = from, .events = POLLIN};
        ssize_t got = poll(&poll_this, 1, 100) == 1 ? read(from, buffer, sizeof buffer) : -1;
        if (got == 0)
            break;
        for (ssize_t i = 0; i < got && length + 1 < size; i++)
            kept[length++] = buffer[i];
    }
    kept[length] = '\0';
}

/* gnuplot shows the line of the script, a caret, and then says what is wrong: the last line that
 * says anything is the one to report. */
static void last_words(const char *errors, char *words, size_t size)
{
    snprintf(words, size, "it gave no reason");
    for (const char *line = errors; *line;) {
        size_t length = strcspn(line, "\n");
        size_t blank = strspn(line, " \t^\r");
        if (blank < length)
            snprintf(words, size, "%.*s", (int)(length - blank), line + blank);
        line += length + (line[length] == '\n');
    }
}

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

/* The drawing gets its name only when it is whole. */
static bool finish_drawing(const gnuplot_job *job, bool drew)
{
    drew = drew && is_whole(job->part, job->format) &&
           (strcmp(job->format, "svg") != 0 || title_tips(job->part)) &&
           publish_file(job->part, job->whole);
    if (!drew)
        unlink(job->part);
    other_file_end(&job->file);
    return drew;
}

/* Fills the note; true: the child runs, and its errors can be read. */
static bool start_with(const char *script, const char *directory, gnuplot_job *job)
{
    int pipe_ends[2];
    job->result = GNUPLOT_FAILED;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        snprintf(job->note, sizeof job->note, "gnuplot could not be started: %s", strerror(errno));
        return false;
    }
    int problem = spawn_gnuplot(script, job, directory, pipe_ends[1], &job->child);
    close(pipe_ends[1]);
    job->errors = pipe_ends[0];
    if (!problem)
        return true;
    close(pipe_ends[0]);
    if (problem == ENOENT) {
        snprintf(job->note, sizeof job->note,
                 "gnuplot was not found: install it (Debian: gnuplot-nox)");
        job->result = GNUPLOT_MISSING;
    } else {
        snprintf(job->note, sizeof job->note, "gnuplot could not be started: %s",
                 strerror(problem));
        job->result = problem == ENOMEM ? GNUPLOT_NO_MEMORY : GNUPLOT_FAILED;
    }
    return false;
}

void gnuplot_start(gnuplot_job *job, const char *plots_directory, const char *directory)
{
    char named[600];
    snprintf(named, sizeof named, "%s/%s", plots_directory, job->script);
    char *script = realpath(named, NULL); /* gnuplot runs in `directory` */
    job->running = false;
    if (!script) {
        job->result = GNUPLOT_FAILED;
        snprintf(job->note, sizeof job->note, "gnuplot's script %.180s: %s", named,
                 strerror(errno));
        return;
    }
    snprintf(job->whole, sizeof job->whole, "%s/%s.%s", directory, job->stem, job->format);
    snprintf(job->part, sizeof job->part, "%s.part", job->whole);
    other_file_begin(&job->file, job->part);
    job->running = start_with(script, directory, job);
    if (!job->running)
        other_file_end(&job->file);
    free(script);
}

gnuplot_result gnuplot_end(gnuplot_job *job)
{
    char errors[4096], words[128];
    if (!job->running)
        return job->result;
    job->running = false;
    double deadline = seconds_now() + most_seconds;
    read_errors(job->errors, deadline, errors, sizeof errors);
    close(job->errors);
    int status;
    child_end end = child_wait(job->child, deadline - seconds_now(), &status);
    if (finish_drawing(job, end == CHILD_ENDED && status == 0))
        return job->result = GNUPLOT_DREW;
    last_words(errors, words, sizeof words);
    if (end != CHILD_ENDED)
        snprintf(words, sizeof words, "%s",
                 end == CHILD_LATE ? "it took longer than a minute" : "interrupted");
    snprintf(job->note, sizeof job->note, "gnuplot failed on %s.%s: %s", job->stem, job->format,
             words);
    return job->result = GNUPLOT_FAILED;
}

gnuplot_result gnuplot_draw(const char *stem, const char *script, const char *format,
                            const char *plots_directory, const char *directory, char note[256])
{
    gnuplot_job job = {.stem = stem, .script = script, .format = format};
    gnuplot_start(&job, plots_directory, directory);
    gnuplot_result result = gnuplot_end(&job);
    snprintf(note, 256, "%s", job.note);
    return result;
}
