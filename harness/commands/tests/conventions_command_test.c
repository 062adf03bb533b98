/* lnbench fingerprint and distance as commands: what they print, what they refuse, and how. */
#include "inputs/tensor/tensor.h"
#include "scratch.h"
#include "answer/run_view.h"
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>

enum { OUTPUT = 1 << 20 };

static char output[OUTPUT], errors[4096];

static void read_whole(const char *path, char *into, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    into[fread(into, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Runs lnbench in the scratch directory; fills output and errors, returns the exit code. */
static int run(void **state, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd %s && %s %s >out 2>err", (const char *)*state,
             LNBENCH_PATH, arguments);
    int status = system(command);
    assert_true(WIFEXITED(status));
    read_whole(scratch_path(state, "out"), output, sizeof output);
    read_whole(scratch_path(state, "err"), errors, sizeof errors);
    return WEXITSTATUS(status);
}

/* One line, and these words in it. */
static void assert_refused(void **state, const char *arguments, int code, const char *words)
{
    int found = run(state, arguments);
    if (found != code || !strstr(errors, words) || strchr(errors, '\n') != strrchr(errors, '\n'))
        fail_msg("lnbench %s: exit code %d, '%s'; %d and '%s' in one line were expected", arguments,
                 found, errors, code, words);
}

static void write_f8(void **state, const char *name, size_t rows, size_t hidden,
                     const double *values)
{
    const size_t shape[2] = {rows, hidden};
    error err;
    if (!npy_write(scratch_path(state, name), LN_F64, 2, shape, values, &err))
        fail_msg("%s", err.message);
}

static json_t *parse_output(void)
{
    json_error_t where;
    json_t *parsed = json_loads(output, JSON_REJECT_DUPLICATES, &where);
    if (!parsed)
        fail_msg("no JSON: %s", where.text);
    return parsed;
}

static const double x_002[6] = {1.5778, 1.6956, -1.9398, -0.6370, 0.3499, 0.9727};
static const double y_002[6] = {0.8811, 0.9648, -1.6159, -0.6911, 0.0095, 0.4516};
static const double one[1] = {1};

static int create_files(void **state)
{
    if (scratch_create(state) != 0)
        return -1;
    write_f8(state, "x.npy", 1, 6, x_002);
    write_f8(state, "y.npy", 1, 6, y_002);
    write_f8(state, "y23.npy", 2, 3, y_002);
    write_f8(state, "two.npy", 1, 2, (const double[2]){1, 2});
    write_f8(state, "one.npy", 1, 1, one);
    write_f8(state, "ones.npy", 1, 6, (const double[6]){1, 1, 1, 1, 1, 1});
    return 0;
}

/* The first row of document 002, and the published keys. */
TEST(test_fingerprint_json)
{
    assert_int_equal(run(state, "fingerprint --x x.npy --y y.npy --digits 4 --json"), 3);
    json_t *all = parse_output();
    const json_t *first = json_array_get(json_object_get(all, "candidates"), 0);
    assert_string_equal(json_string_value(json_object_get(all, "schema")), "lnbench-fingerprint-2");
    assert_string_equal(json_string_value(json_object_get(all, "answer")), "open");
    assert_string_equal(json_string_value(json_object_get(first, "function")), "zscore");
    assert_string_equal(json_string_value(json_object_get(first, "convention")), "zscore");
    assert_true(json_number_value(json_object_get(first, "eps_high")) == 0);
    assert_int_equal(json_array_size(json_object_get(all, "row")), 6);
    assert_int_equal(json_integer_value(json_object_get(all, "rows_told")), 1);
    json_decref(all);
}

TEST(test_fingerprint_refusals)
{
    assert_refused(state, "fingerprint", 2, "--x FILE is missing");
    assert_refused(state, "fingerprint --x x.npy", 2, "--y FILE is missing");
    assert_refused(state, "fingerprint --x x.npy --y none.npy", 7, "none.npy");
    assert_refused(state, "fingerprint --x x.npy --y y23.npy --digits 4", 2,
                   "y23.npy (--y): shape (2, 3); (1, 6) was expected, as x has");
    assert_refused(state, "fingerprint --x x.npy --y y.npy --residual two.npy --digits 4", 2,
                   "two.npy (--residual): shape (1, 2)");
    assert_refused(state, "fingerprint --x x.npy --y y.npy --gamma two.npy --digits 4", 2,
                   "gamma and beta of 2 elements: as many as an axis of x has");
    assert_refused(state,
                   "fingerprint --x x.npy --y y.npy --gamma ones.npy --beta one.npy "
                   "--digits 4",
                   2, "one.npy (--beta): 1 elements; 6 were expected, as gamma has");
    assert_refused(state, "fingerprint --x x.npy --y y.npy --digits 40", 2,
                   "--digits 40: 0 to 17 decimals were expected");
    assert_refused(state, "fingerprint --x err --y y.npy", 2, "err");
    assert_refused(state, "fingerprint --x x.npy --y y.npy --digit 4", 2, "did you mean --digits?");
}

/* eps 1e-5 in the variance at std 1: relative to the row, 1 - 1 / sqrt(1 + 1e-5). */
TEST(test_distance_json)
{
    assert_int_equal(run(state, "fingerprint --distance --hidden 768 --std 1 --json --conventions "
                                "eps=0 --conventions torch"),
                     0);
    json_t *all = parse_output();
    const json_t *pair = json_array_get(json_object_get(all, "pairs"), 0);
    assert_string_equal(json_string_value(json_object_get(all, "schema")), "lnbench-distance-1");
    assert_string_equal(json_string_value(json_object_get(pair, "computed")), "torch");
    double relative = json_number_value(json_object_get(pair, "relative"));
    double wanted = 1 - 1 / sqrt(1 + 1e-5);
    assert_true(fabs(relative - wanted) <= 4 * 0x1p-53); /* of the subtraction above */
    assert_true(fabs(json_number_value(json_object_get(pair, "ulp")) - wanted * 0x1p23) < 1e-6);
    json_decref(all);
}

TEST(test_distance_refusals)
{
    assert_refused(state, "fingerprint --distance --hidden 1", 2,
                   "--hidden 1: 2 to 2^40 was expected");
    assert_refused(state, "fingerprint --distance --std 0", 2, "--std 0: a number above 0");
    assert_refused(state, "fingerprint --distance --std 1e200", 2, "that f32 can hold");
    assert_refused(state, "fingerprint --distance --std -1", 2, "--std -1");
    assert_refused(state, "fingerprint --distance --conventions torhc", 2, "did you mean 'torch'?");
    assert_refused(state, "fingerprint --distance --chart out/file", 7, "out");
}

int main(void)
{
    return test_run(create_files, scratch_remove);
}
