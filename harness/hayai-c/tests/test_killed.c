/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is killed at any moment leaves valid documents of what it had. */
#include "capture.h"
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char json_path[128], xml_path[128], jsonl_path[128];

/* Runs for ever, with reports as large as they get and as often as they come. */
static void run_for_ever(void)
{
    char outputs[3][160];
    snprintf(outputs[0], sizeof outputs[0], "json:%s", json_path);
    snprintf(outputs[1], sizeof outputs[1], "junit:%s", xml_path);
    snprintf(outputs[2], sizeof outputs[2], "jsonl:%s", jsonl_path);
    const char *const list[] = {outputs[2], outputs[0], outputs[1], "none"};
    hayai_suite *suite = hayai_suite_create();
    hayai_suite_add(suite, "a", empty_loop, NULL, NULL);
    hayai_suite_add(suite, "b", empty_loop, NULL, NULL);
    const hayai_options options = {.iterations = 1,
                                   .repetitions = 1000000000,
                                   .interleave = true,
                                   .outputs = list,
                                   .output_count = 4};
    _exit(hayai_suite_run(suite, &options, NULL) == HAYAI_OK ? 0 : 1);
}

static void wait_for(const char *path, off_t size)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (struct stat file; stat(path, &file) != 0 || file.st_size < size;)
        nanosleep(&pause, NULL);
}

/* Starts a run and kills it so many microseconds after its document has this size: however slow the
 * machine is, the later ones have many runs. */
static void kill_after(off_t size, long microseconds)
{
    remove(json_path);
    remove(xml_path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_for_ever();
    wait_for(xml_path, 1);
    wait_for(json_path, size);
    const struct timespec pause = {.tv_nsec = microseconds * 1000};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static size_t check_json(void)
{
    json_error_t error;
    json_t *document = json_load_file(json_path, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s at %d:%d", error.text, error.line, error.column);
    const size_t runs = json_array_size(json_object_get(document, "benchmarks"));
    json_decref(document);
    return runs;
}

static void check_xml(void)
{
    char end[16] = "";
    FILE *file = fopen(xml_path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, -14, SEEK_END), 0);
    assert_int_equal(fread(end, 1, 14, file), 14);
    fclose(file);
    assert_string_equal(end, "</testsuites>\n");
}

/* All lines but the one that was being written. */
static size_t check_lines(void)
{
    FILE *file = fopen(jsonl_path, "rb");
    assert_non_null(file);
    static char line[16384];
    size_t lines = 0;
    while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
        json_t *object = json_loads(line, 0, NULL);
        assert_non_null(object);
        json_decref(object);
        lines++;
    }
    fclose(file);
    return lines;
}

TEST(test_killed_at_many_moments)
{
    size_t most = 0;
    for (int i = 0; i < 40; i++) {
        kill_after(i * 200, i * 50L);
        const size_t runs = check_json();
        check_xml();
        /* The lines are written first, one by one: never fewer than the document has. */
        assert_true(check_lines() >= 1 + runs);
        most = runs > most ? runs : most;
    }
    assert_true(most > 10); /* some were killed half way, not before they began */
}

static int make_directory(void **state)
{
    if (directory_create(state) != 0)
        return -1;
    snprintf(json_path, sizeof json_path, "%s/run.json", directory);
    snprintf(xml_path, sizeof xml_path, "%s/run.xml", directory);
    snprintf(jsonl_path, sizeof jsonl_path, "%s/run.jsonl", directory);
    return 0;
}

int main(void)
{
    return test_run(make_directory, directory_remove);
}
