/* Hashes of outputs, runs from elsewhere, the noise of a machine. */
#include "store_sample.h"
#include <math.h>

static stored_cases cases_of(result_store *store, int64_t run)
{
    stored_cases cases;
    cases = store_cases(store, run);
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
        store_put_judged(store, run, &put);
        stored_cases cases = cases_of(store, run);
        assert_int_equal(cases.cases[0].hashed, put.hashed);
        assert_true(!put.hashed || cases.cases[0].output_hash == UINT64_MAX - 5);
        stored_cases_free(&cases);
    }
    store_close(store);
}

/* The latest of one machine, and of no other. */
TEST_IN_SCRATCH(test_noise)
{
    machine_fact here_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "a"}},
                 there_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "2"}},
                 later_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "b"}};
    machine_facts here = {.facts = here_facts, .count = 3},
                  there = {.facts = there_facts, .count = 2},
                  later = {.facts = later_facts, .count = 3};
    const double first[REGIMES] = {0.01, 0.02, 0.03, 0.04},
                 second[REGIMES] = {0.011, 0.021, NAN, 0.041};
    const char *path = scratch_path(state, "a.db");
    result_store *store = opened(path, STORE_WRITE);
    machine_noise found;
    store_put_noise(store, &here, first);
    store_put_noise(store, &later, second);
    store_close(store);
    found = store_load_noise(path, &here);
    assert_int_equal(strlen(found.made), strlen("2024-01-01T00:00:00Z"));
    for (int i = 0; i < REGIMES; i++)
        assert_true(isnan(second[i]) ? isnan(found.smallest[i]) : found.smallest[i] == second[i]);
    found = store_load_noise(path, &there);
    assert_true(!found.made[0] && isnan(found.smallest[REGIME_L1]));
    found = store_load_noise(scratch_path(state, "none.db"), &here);
    assert_true(!found.made[0] && isnan(found.smallest[REGIME_L1]));
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
    store_together(store); /* which the program's end cuts off */
    store_put_repetition(store, store_begin_run(store, &info), &key, &put);
    store_close(store);
    store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    assert_int_equal(store_latest_run(store), 0);
    store_together(store);
    int64_t run = store_begin_run(store, &info);
    store_put_repetition(store, run, &key, &put);
    store_together_end(store);
    assert_int_equal(store_latest_run(store), run);
    stored_run stored;
    stored = store_run(store, run);
    assert_true(stored.state == RUN_OPEN && stored.repetitions == 1);
    store_put_repetition(store, begun(store), &key, &put); /* and on as before */
    store_close(store);
}
