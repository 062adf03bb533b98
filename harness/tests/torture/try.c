#include "try.h"
#include "content.h"
#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNDISTURBED_SECONDS = 120 };

tried_command *commands_read(const char *path, const char *program, size_t *count)
{
    char line[2048];
    FILE *file = fopen(path, "r");
    tried_command *list = NULL;
    *count = 0;
    if (!file)
        give_up(path);
    while (fgets(line, sizeof line, file)) {
        int words = 1;
        char *word = strtok(line, " \n");
        if (!word || *word == '#')
            continue;
        list = realloc(list, (*count + 1) * sizeof *list);
        if (!list)
            give_up(path);
        tried_command *made = &list[(*count)++];
        *made = (struct tried_command){.arguments = {strdup(program)}};
        snprintf(made->name, sizeof made->name, "%s", word);
        while ((word = strtok(NULL, " \n")) && words < ARGUMENTS - 1)
            made->arguments[words++] = strdup(word);
    }
    fclose(file);
    return list;
}

void try_prepare(void)
{
    remove_tree("try");
    if (mkdir("try", 0700) != 0)
        give_up("try");
    file_content base = content_read("base.db");
    if (base.bytes)
        content_write("try/work.db", &base);
    free(base.bytes);
}

void try_keep_as(const char *name)
{
    remove_tree(name);
    if (rename("try", name) != 0)
        give_up(name);
}

/* Numbers as '#', blanks as one, no word on how noisy the figures are, nor on which roof it is: what
 * two runs that measure time have in common. */
static void mask(file_content *text)
{
    size_t to = 0;
    for (size_t i = 0; i < text->size; i++) {
        char byte = text->bytes[i];
        const char *rest = text->bytes + i;
        if (strncmp(rest, "Quiet: ", 7) == 0 || strncmp(rest, "! Noisy: ", 9) == 0) {
            i += strcspn(rest, "\n");
            byte = '\n';
        }
        bool exponent = byte == 'e' && to && text->bytes[to - 1] == '#' && strchr("+-", rest[1]);
        if (isdigit((unsigned char)byte) || strchr("+-.!", byte) || exponent)
            byte = '#';
        size_t word = byte == ' ' ? strcspn(rest + 1, " \n") : 0;
        if ((word == 3 && memcmp(rest, " rep", 4) == 0) ||
            (word == 2 && memcmp(rest, " nt", 3) == 0)) { /* which copy is the faster one */
            i += word;
            continue;
        }
        if ((byte == '#' || byte == ' ') && to && text->bytes[to - 1] == byte)
            continue;
        text->bytes[to++] = byte;
    }
    text->size = to;
}

static bool equal(const char *one, const char *other, bool exactly)
{
    file_content a = content_read(one), b = content_read(other);
    if (a.bytes && b.bytes && !exactly) {
        mask(&a);
        mask(&b);
    }
    bool same = content_equal(&a, &b);
    free(a.bytes);
    free(b.bytes);
    return same;
}

static volatile sig_atomic_t late;
static pid_t running;

static void on_alarm(int number)
{
    (void)number;
    late = 1;
    kill(-running, SIGKILL);
}

pid_t try_start(char *const *arguments, const char *output)
{
    pid_t process = fork();
    if (process == 0) {
        setpgid(0, 0);
        if (chdir("try") != 0 || !freopen("/dev/null", "r", stdin) ||
            !freopen(output, "w", stdout) || !freopen("stderr", "w", stderr))
            _exit(99);
        execv(arguments[0], arguments);
        _exit(99);
    }
    setpgid(process, process);
    return process;
}

bool try_wait(pid_t process, unsigned seconds, int *status)
{
    struct sigaction action = {.sa_handler = on_alarm};
    late = 0;
    running = process;
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
    while (waitpid(process, status, 0) < 0 && errno == EINTR) {
    }
    alarm(0);
    return !late;
}

static int run_as(const tried_command *command, const char *name)
{
    int status;
    try_prepare();
    if (!try_wait(try_start(command->arguments, "stdout"), UNDISTURBED_SECONDS, &status))
        give_up(command->name);
    try_keep_as(name);
    return status;
}

int try_undisturbed(tried_command *command)
{
    int status = run_as(command, "reference");
    sleep(UNDISTURBED_GAP); /* what has the time in it, as a PDF does, must differ */
    run_as(command, "second");
    command->changes_nothing = strcmp(command->arguments[1], "doctor") != 0 && /* time, load */
                               equal("second/stdout", "reference/stdout", true);
    return status;
}

bool try_says_what_lacks(void)
{
    static const char linker[] = "cannot link the objects";
    file_content said = content_read("try/stderr");
    bool lacks = said.bytes && memmem(said.bytes, said.size, linker, sizeof linker - 1);
    free(said.bytes);
    return lacks;
}

const char *try_judge_again(const tried_command *command, int status)
{
    try_keep_as("failed");
    int reference = run_as(command, "reference");
    remove_tree("try");
    if (rename("failed", "try") != 0)
        give_up("failed");
    return try_judge(command, status, reference);
}

static int text_column(sqlite3 *database, const char *query, char *text, size_t size)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status == SQLITE_ROW)
        snprintf(text, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return status;
}

const char *database_judge(const char *path, int least)
{
    static char why[256];
    char text[128] = "";
    sqlite3 *database = NULL;
    snprintf(why, sizeof why, "%s: cannot be opened", path);
    int status = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL);
    if (status == SQLITE_OK &&
        text_column(database, "PRAGMA integrity_check", text, sizeof text) == SQLITE_ROW) {
        snprintf(why, sizeof why, "%.60s: %.120s", path, text);
        bool whole = strcmp(text, "ok") == 0;
        text_column(database, "SELECT count(*) FROM pragma_foreign_key_check", text, sizeof text);
        if (whole && strcmp(text, "0") != 0) {
            snprintf(why, sizeof why, "%.60s: foreign keys broken", path);
            whole = false;
        }
        strcpy(text, "0");
        if (whole && least > 0)
            text_column(database, "SELECT count(*) FROM runs", text, sizeof text);
        if (whole && atoi(text) >= least)
            why[0] = '\0';
        else if (whole)
            snprintf(why, sizeof why, "%.60s: %s runs, %d stored before", path, text, least);
    }
    sqlite3_close(database);
    return why[0] ? why : NULL;
}

const char *database_lacks(const char *path, const char *of)
{
    static char why[256];
    char query[512], table[64], count[24];
    sqlite3 *database = NULL;
    bool whole = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    snprintf(why, sizeof why, "%.60s: cannot be opened", path);
    snprintf(query, sizeof query, "ATTACH '%.200s' AS other", of);
    whole = whole && sqlite3_exec(database, query, NULL, NULL, NULL) == SQLITE_OK;
    for (int i = 0; whole; i++) {
        snprintf(query, sizeof query,
                 "SELECT name FROM other.sqlite_schema WHERE type = 'table' "
                 "AND name NOT LIKE 'sqlite_%%' LIMIT 1 OFFSET %d",
                 i);
        if (text_column(database, query, table, sizeof table) != SQLITE_ROW)
            break;
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM (SELECT * FROM other.%s EXCEPT SELECT * FROM main.%s)",
                 table, table);
        snprintf(count, sizeof count, "no table");
        text_column(database, query, count, sizeof count);
        whole = strcmp(count, "0") == 0;
        snprintf(why, sizeof why, "%.60s: of table %.60s lacks %s", path, table, count);
    }
    sqlite3_close(database);
    return whole ? NULL : why;
}

/* What differs from run to run has about the same size at least. */
static bool is_near(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_size * 10 > b.st_size * 9;
}

void try_show(void)
{
    fflush(stdout);
    if (system("head -c 600 try/stderr; diff reference/stdout try/stdout | head -n 8") != 0)
        puts("no diff");
}

bool try_is_whole(const char *name)
{
    char made[512], twin[512], second[512];
    snprintf(made, sizeof made, "try/%s", name);
    snprintf(twin, sizeof twin, "reference/%s", name);
    snprintf(second, sizeof second, "second/%s", name);
    bool same = equal(twin, second, true); /* a PDF has its time in it */
    return same ? equal(made, twin, true) : is_near(made, twin);
}

static const char *file_fault;
static bool exactly, finished;

/* What a hunt that failed leaves: its finds so far. */
static bool goes_on(const char *path)
{
    static const char state[] = "\nstate running\n", end[] = "\nend\n";
    if (finished)
        return false;
    file_content file = content_read(path);
    bool whole = file.size > sizeof end && memmem(file.bytes, file.size, state, sizeof state - 1) &&
                 memcmp(file.bytes + file.size - sizeof end + 1, end, sizeof end - 1) == 0;
    free(file.bytes);
    return whole;
}

static int judge_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    static char why[512];
    char twin[512];
    (void)about, (void)place;
    snprintf(twin, sizeof twin, "reference%s", path + strlen("try"));
    if (strcmp(path, "try/stdout") == 0 || strcmp(path, "try/stderr") == 0 ||
        ends_in(path, "-shm") || ends_in(path, "-wal") || ends_in(path, "-journal"))
        return 0; /* SQLite reads them with their database */
    if (kind == FTW_F && ends_in(path, ".db")) {
        file_fault = database_judge(path, strcmp(path, "try/work.db") == 0 ? 1 : 0);
        return file_fault != NULL;
    }
    if (kind == FTW_F && goes_on(path))
        return 0;
    if (access(twin, F_OK) != 0)
        snprintf(why, sizeof why, "%.200s: left over", path);
    else if (kind == FTW_F && !try_is_whole(path + strlen("try/")))
        snprintf(why, sizeof why, "%.200s: neither whole nor absent", path);
    else
        return 0;
    file_fault = why;
    return 1;
}

static int judge_absent(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    static char why[512];
    char twin[512];
    (void)about, (void)place, (void)kind;
    snprintf(twin, sizeof twin, "try%s", path + strlen("reference"));
    if (access(twin, F_OK) == 0 || ends_in(path, "-shm") || ends_in(path, "-wal"))
        return 0;
    snprintf(why, sizeof why, "%.200s: missing, with the exit code of success", twin);
    file_fault = why;
    return 1;
}

static int lines_of(const char *path)
{
    file_content text = content_read(path);
    int lines = 0;
    for (size_t i = 0; i < text.size; i++)
        lines += text.bytes[i] == '\n';
    if (text.size && text.bytes[text.size - 1] != '\n')
        lines = -1; /* a line that was cut off */
    free(text.bytes);
    return lines;
}

/* The report of a run names kernels that crashed. */
static bool tells_of_crash(void)
{
    static const char verdict[] = "crashed";
    file_content said = content_read("try/stdout");
    bool tells = said.bytes && memmem(said.bytes, said.size, verdict, sizeof verdict - 1);
    free(said.bytes);
    return tells;
}

/* doctor also ends with 3, where other work takes the CPU while it looks. */
static bool is_finished(const tried_command *command, int code, int reference)
{
    return code == reference || (strcmp(command->arguments[1], "doctor") == 0 &&
                                 (code == 0 || code == 3) && (reference == 0 || reference == 3));
}

const char *try_judge(const tried_command *command, int status, int reference_status)
{
    static char why[256];
    if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "killed by signal %d", WTERMSIG(status));
        return why;
    }
    exactly = command->changes_nothing;
    finished = is_finished(command, WEXITSTATUS(status), WEXITSTATUS(reference_status));
    if (finished && !equal("try/stdout", "reference/stdout", exactly))
        return "the exit code of success, and other output";
    if (!finished && WEXITSTATUS(status) != 7 && WEXITSTATUS(status) != 6) {
        snprintf(why, sizeof why, "exit code %d", WEXITSTATUS(status));
        return why;
    }
    int lines = lines_of("try/stderr");
    if (!finished && WEXITSTATUS(status) == 6 && tells_of_crash())
        lines += lines == 0;
    if (!finished && (lines < 1 || lines > lines_of("reference/stderr") + 1)) {
        snprintf(why, sizeof why, "exit code %d and %d lines on standard error",
                 WEXITSTATUS(status), lines);
        return why;
    }
    file_fault = NULL;
    nftw("try", judge_file, 16, FTW_PHYS);
    if (!file_fault && finished)
        nftw("reference", judge_absent, 16, FTW_PHYS);
    return file_fault;
}
