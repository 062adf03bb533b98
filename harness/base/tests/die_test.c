/* die() prints one line, ends with the exit code, and leaves no child process or temporary folder behind. */
#include "base/die.h"
#include "base/program.h"
#include "scratch.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a function in a forked process that tidies up as lnbench does. Returns the exit code and the text on standard
 * error. */
static int run(void (*body)(void *), void *context, char *said, size_t size)
{
    int ends[2], status;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        atexit(tidy_up);
        body(context);
        _exit(99);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && length + 1 < size; length += (size_t)got)
        if ((got = read(ends[0], said + length, size - length - 1)) <= 0)
            break;
    said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void die_of_text(void *context)
{
    die(EXIT_CODE_NOT_COMPARABLE, "file %s: %d rows", (const char *)context, 7);
}

TEST(one_line_and_the_exit_code)
{
    char said[2048], most[1400];
    assert_int_equal(run(die_of_text, "a.npy", said, sizeof said), EXIT_CODE_NOT_COMPARABLE);
    assert_string_equal(said, "lnbench: file a.npy: 7 rows\n");
    run(die_of_text, "\033[31m\n\xff", said, sizeof said);
    assert_string_equal(said, "lnbench: file  [31m ?: 7 rows\n");
    memset(most, 'x', sizeof most);
    most[sizeof most - 1] = '\0';
    run(die_of_text, most, said, sizeof said);
    assert_int_equal(strlen(said), strlen("lnbench: ") + 1023 + 1);
}

static void die_with_output(void *context)
{
    (void)context;
    assert_non_null(freopen("/dev/full", "w", stdout));
    puts("a table");
    die(EXIT_CODE_ACCURACY, "too inaccurate");
}

TEST(output_that_cannot_be_written)
{
    char said[512];
    assert_int_equal(run(die_with_output, NULL, said, sizeof said), EXIT_CODE_ENVIRONMENT);
    assert_string_equal(said, "lnbench: too inaccurate\n"
                              "lnbench: standard output: cannot write: No space left on device\n");
}

static void sleep_long(void *context)
{
    (void)context;
    execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

/* The child of this process has standard error too, so run() waits until it ends. */
static void die_with_folder(void *context)
{
    const char *path = scratch_path(context, "folder_path");
    FILE *written = fopen(path, "w");
    const char *folder = temporary_folder_make("die");
    if (!written || child_execute(sleep_long, NULL) < 0)
        _exit(98);
    fputs(folder, written);
    fclose(written);
    char inside[1100];
    snprintf(inside, sizeof inside, "%s/folder", folder);
    if (mkdir(inside, 0700) != 0)
        _exit(97);
    die(EXIT_CODE_ENVIRONMENT, "it ends");
}

TEST_IN_SCRATCH(children_end_and_the_folder_is_removed)
{
    char said[512];
    assert_int_equal(run(die_with_folder, state, said, sizeof said), EXIT_CODE_ENVIRONMENT);
    assert_string_equal(said, "lnbench: it ends\n");
    char *folder = slurp(scratch_path(state, "folder_path"));
    assert_non_null(folder);
    assert_int_equal(access(folder, F_OK), -1);
    free(folder);
}

static pthread_barrier_t start;

static void count_handlers(void)
{
    ssize_t written = write(STDERR_FILENO, "handler\n", 8);
    (void)written;
}

static void *die_together(void *context)
{
    pthread_barrier_wait(&start);
    die(EXIT_CODE_INCONCLUSIVE, "%s", (const char *)context);
}

static void die_in_threads(void *context)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    atexit(count_handlers);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, die_together, context);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads_that_die_at_once_print_one_line)
{
    char said[512];
    for (int i = 0; i < 50; i++) {
        assert_int_equal(run(die_in_threads, "together", said, sizeof said),
                         EXIT_CODE_INCONCLUSIVE);
        assert_string_equal(said, "lnbench: together\nhandler\n");
    }
}

static void die_again(void)
{
    die(EXIT_CODE_ENVIRONMENT, "again");
}

static void die_twice(void *context)
{
    (void)context;
    atexit(die_again);
    die(EXIT_CODE_INCONCLUSIVE, "first");
}

TEST(a_failure_at_the_end_prints_no_second_line)
{
    char said[512];
    assert_int_equal(run(die_twice, NULL, said, sizeof said), EXIT_CODE_ENVIRONMENT);
    assert_string_equal(said, "lnbench: first\n");
}
