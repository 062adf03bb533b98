/* Hashes of outputs, runs from elsewhere, calibrations. */
#include "store/calibration.h"
#include "store_sample.h"
#include <math.h>

static stored_cases cases_of(result_store *store, int64_t run)
{
    stored_cases cases;
    CHECK(store_cases(store, run, &cases, &problem));
    return cases;
}

TEST_IN_SCRATCH(test_output)
{
    result_store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    stored_case put = {.key = sample_key(),
                       .judged = true,
                       .verdict = {VERDICT_RIGHT, ""},
                       .metrics = distinct_metrics(),
                       .bound_row_ulp = 1,
                       .output_hash = UINT64_MAX - 5};
    for (int i = 0; i < 3; i++) { /* the last is another judgement, which has none */
        put.hashed = i == 1;
        CHECK(store_put_judged(store, run, &put, &problem));
        stored_cases cases = cases_of(store, run);
        assert_int_equal(cases.cases[0].hashed, put.hashed);
        assert_true(!put.hashed || cases.cases[0].output_hash == UINT64_MAX - 5);
        stored_cases_free(&cases);
    }
    store_close(store);
}

static noise_calibration some_calibration(double scale)
{
    noise_calibration made = {.kernel = "naive", .rebuilds = 3, .confidence = 0.99};
    for (int m = 0; m < METHODS; m++)
        for (int r = 0; r < REGIMES; r++)
            if (m + r != 2) /* one of each method was not measured */
                made.noise[m][r] = (noise_figure){.rows = 10 + (size_t)r,
                                                  .hidden = 768,
                                                  .floor = scale * (m + 1) * (r + 1),
                                                  .smallest = scale * 10,
                                                  .seconds = 2.5,
                                                  .processes = 8,
                                                  .trials = 4};
    return made;
}

/* The latest of one machine, and of no other. */
TEST_IN_SCRATCH(test_calibrations)
{
    machine_fact here_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "a"}},
                 there_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "2"}},
                 later_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "b"}};
    machine_facts here = {.facts = here_facts, .count = 3},
                  there = {.facts = there_facts, .count = 2},
                  later = {.facts = later_facts, .count = 3};
    const char *path = scratch_path(state, "a.db");
    result_store *store = opened(path, STORE_WRITE);
    noise_calibration first = some_calibration(0.001), second = some_calibration(0.002), found;
    CHECK(store_put_calibration(store, &here, &first, &problem));
    assert_true(first.id != 0 && strlen(first.made) == strlen("2024-01-01T00:00:00Z"));
    CHECK(store_put_calibration(store, &later, &second, &problem));
    CHECK(store_calibration(store, &there, &found, &problem));
    assert_true(found.id == 0 && isnan(calibration_floor(&found, METHOD_DUET, "L1")));
    store_close(store);
    CHECK(load_calibration(path, &here, &found, &problem));
    assert_true(found.id == second.id && found.rebuilds == 3 && found.confidence == 0.99);
    assert_string_equal(found.kernel, "naive");
    assert_true(calibration_floor(&found, METHOD_DUET, "L1") == 0.002);
    assert_true(calibration_floor(&found, METHOD_COMPARE, "DRAM") == 0.016);
    assert_true(isnan(calibration_floor(&found, METHOD_DUET, "L3")));
    assert_true(isnan(calibration_floor(&found, METHOD_COMPARE, "L2")));
    const noise_figure *noise = &found.noise[METHOD_COMPARE][3];
    assert_true(noise->rows == 13 && noise->hidden == 768 && noise->smallest == 0.02);
    assert_true(noise->seconds == 2.5 && noise->processes == 8 && noise->trials == 4);
    CHECK(load_calibration(scratch_path(state, "none.db"), &here, &found, &problem));
    assert_true(found.id == 0);
}

/* Together or not at all. */
TEST_IN_SCRATCH(test_together)
{
    result_store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    machine_fact facts[] = {{"cpu_model", "x"}};
    machine_facts machine = {.facts = facts, .count = 1};
    run_info info = {.command_line = "c", .plan = "quick", .plan_hash = "h", .machine = &machine};
    case_key key = sample_key();
    timed_repetition put = {0, 0, 0, 1, 2, 3, NAN, NAN};
    stored_run there = {.started = "2024-02-03T04:05:06Z", .state = RUN_INTERRUPTED};
    int64_t run, found;
    for (int fine = 0; fine < 2; fine++) {
        CHECK(store_together(store, &problem));
        CHECK(store_import_run(store, &info, &there, "o1", &run, &problem));
        CHECK(store_put_repetition(store, run, &key, &put, &problem));
        assert_int_equal(store_together_end(store, fine, &problem), fine);
        CHECK(store_find_origin(store, "o1", &found, &problem));
        assert_true(fine ? found == run : found == 0);
    }
    stored_run stored;
    CHECK(store_run(store, run, &stored, &problem));
    assert_string_equal(stored.started, "2024-02-03T04:05:06Z");
    assert_true(stored.state == RUN_INTERRUPTED && stored.repetitions == 1);
    assert_false(store_import_run(store, &info, &there, "o1", &run, &problem));
    CHECK(store_put_repetition(store, begun(store), &key, &put, &problem)); /* and on as before */
    store_close(store);
}
