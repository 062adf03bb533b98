/* Choosing on synthetic stores with known answers: budgets, ties, kappa, and whose results count.
 */
#include "show/result_table.h"
#include "choose_sample.h"
#include <math.h>

/* Of each test: a run and what is asked for, both still to be changed; the store, once it is filled; and
 * all that was chosen. */
enum { MOST_CHOSEN = 64 };
static sample_run run;
static choose_wanted wanted;
static result_store *store;
static chosen made[MOST_CHOSEN];
static size_t made_count;

static int set_up(void **state)
{
    run = (sample_run)SAMPLE_RUN;
    wanted = sample_wanted(85, 768);
    store = NULL;
    made_count = 0;
    return scratch_create(state);
}

static int tear_down(void **state)
{
    while (made_count > 0)
        chosen_free(&made[--made_count]);
    store_close(store);
    return scratch_remove(state);
}

#define CHOOSE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void fill_store(void **state)
{
    store = sample_store(state, &run);
}

static chosen choose(void)
{
    assert_true(made_count < MOST_CHOSEN);
    made[made_count] = sample_choose(store, wanted);
    return made[made_count++];
}

static void expect_best(const char *kernel)
{
    chosen one = choose();
    assert_string_equal(kernel_of(one.choice.best), kernel);
}

/* Whether the text for people contains the words. */
static void expect_said(void **state, const chosen *one, const char *words, bool said)
{
    char *text = printed(state, one, 1, (output_file){.format = OUTPUT_TEXT}, true);
    if ((strstr(text, words) != NULL) != said)
        fail_msg("'%s' is %s:\n%s", words, said ? "missing" : "there", text);
    free(text);
}

CHOOSE_TEST(test_no_budget)
{
    fill_store(state);
    chosen one = choose();
    const char *const order[] = {"sloppy", "mid", "twin", "exact", "slow"};
    assert_int_equal(one.choice.count, 5);
    assert_string_equal(kernel_of(one.choice.best), "sloppy");
    assert_string_equal(kernel_of(&one.choice.candidates[3]), order[3]);
    assert_string_equal(kernel_of(&one.choice.candidates[4]), order[4]);
    assert_true(fabs(find(&one, "mid")->pair.ratio - 1.5) < 1e-9);
    assert_true(fabs(find(&one, "exact")->pair.lo - 3) < 1e-9);
    assert_true(fabs(find(&one, "exact")->pair.hi - 3) < 1e-9);
    assert_true(find(&one, "sloppy")->pareto && find(&one, "exact")->pareto);
    assert_false(find(&one, "slow")->pareto);
    assert_null(one.choice.less_accurate);
    assert_string_equal(kernel_of(one.choice.most_accurate), "exact");
    assert_true(one.evidence.same_shape && one.evidence.same_convention);
}

CHOOSE_TEST(test_budgets)
{
    fill_store(state);
    wanted.budget.row_ulp = 64;
    expect_best("sloppy");
    wanted.budget.row_ulp = 1;
    expect_best("exact");
    wanted.budget.row_ulp = NAN;
    wanted.budget.ulp = 5; /* ten times the row ULP */
    expect_best("exact");
    wanted.budget.ulp = NAN;
    wanted.budget.correctly_rounded = 0.6; /* 1 / (1 + row ULP): exact has 2/3 */
    expect_best("exact");
    wanted.budget.correctly_rounded = NAN;
    wanted.budget.bits = 24.5; /* exact has 25 */
    expect_best("exact");
    wanted.budget.bits = 25.5;
    expect_best("(none)");
}

/* twin takes 2 % more in one round and 2 % less in the next: nobody can tell it from mid. */
CHOOSE_TEST(test_ties)
{
    fill_store(state);
    wanted.budget.row_ulp = 5;
    chosen one = choose();
    const scored_kernel *mid = find(&one, "mid"), *twin = find(&one, "twin");
    assert_true(mid->fate == FATE_BEST && twin->fate == FATE_TIED);
    assert_true(find(&one, "exact")->fate == FATE_SLOWER);
    assert_true(find(&one, "sloppy")->fate == FATE_BUDGET);
    assert_string_equal(kernel_of(one.choice.less_accurate), "sloppy");
    assert_true(twin->pair.lo < 1 && twin->pair.ratio > 1 && twin->pair.hi > 1);
    expect_said(state, &one, "no significant difference to it: twin, 1.0", true);
    expect_said(state, &one, "less accurate: sloppy: error 64", true);
}

/* Without a common round the intervals decide: those that overlap are tied, and no ratio is shown.
 */
CHOOSE_TEST(test_other_rounds)
{
    fill_store(state);
    const sample_kernel near = {"near", 105, 0, 1, 2, 0}, far = {"far", 900, 0, 1, 2, 0};
    const sample_kernel *const both[] = {&near, &far};
    for (size_t i = 0; i < 2; i++) {
        sample_describe(&run, both[i]->name);
        sample_verdict(&run, both[i]->name, "normal", (case_verdict){.kind = VERDICT_RIGHT}, 1, 2);
        sample_time_in(&run, both[i]->name, both[i]->time, 0, 100);
    }
    chosen one = choose();
    assert_string_equal(kernel_of(one.choice.best), "sloppy");
    assert_true(isnan(find(&one, "near")->pair.ratio) && isnan(find(&one, "far")->pair.ratio));
    assert_int_equal(find(&one, "near")->fate, FATE_TIED);
    assert_int_equal(find(&one, "far")->fate, FATE_SLOWER);
    expect_said(state, &one, "no significant difference to it: near, timed in other rounds, more",
                true);
    expect_said(state, &one, "no significant difference to it: far", false);
    expect_said(state, &one, "- of its time", false);
}

/* Errors that print alike are none to choose by: 0.4999 is no better than 0.5, 0.49 is. */
CHOOSE_TEST(test_same_error)
{
    fill_store(state);
    const sample_kernel alike = {"alike", 310, 0, 0.4999, 1, 0},
                        better = {"better", 320, 0, 0.49, 1, 0};
    wanted.budget.row_ulp = 0.5;
    sample_put(&run, &alike);
    chosen one = choose();
    assert_string_equal(kernel_of(one.choice.best), "exact");
    assert_true(find(&one, "alike")->pareto);
    assert_null(one.choice.more_accurate);
    expect_said(state, &one, "more accurate: alike", false);
    expect_said(state, &one, "none of them is more accurate", true);
    sample_put(&run, &better);
    one = choose();
    assert_string_equal(kernel_of(one.choice.more_accurate), "better");
    expect_said(state, &one, "more accurate: better: error 0.490 instead of 0.500", true);
    /* A tie is as accurate where the errors print alike. */
    assert_int_equal(compare_errors(0.5, 0.4999), 0);
    assert_true(compare_errors(0.49, 0.5) < 0 && compare_errors(0.5, 0.49) > 0);
    assert_int_equal(compare_errors(INFINITY, INFINITY), 0);
    assert_true(compare_errors(1, INFINITY) < 0);
}

/* From 2^(p-1) row ULP on a kernel is none, whatever the budget, and no best there is either. */
CHOOSE_TEST(test_no_correct_digit)
{
    static const struct {
        ln_type dtype;
        double limit;
    } types[] = {{LN_F32, 8388608}, {LN_F64, 4503599627370496}, {LN_F16, 1024}, {LN_BF16, 128}};
    static const char *globs[] = {"garbage", "digit"};
    const word_list both = {globs, 2};
    char words[512];
    for (size_t i = 0; i < 4; i++) {
        run = (sample_run)SAMPLE_RUN;
        fill_store(state);
        wanted = sample_wanted(85, 768);
        wanted.kernels = &both;
        double limit = types[i].limit;
        const sample_kernel garbage = {"garbage", 10, 0, limit, NAN, 0};
        const sample_kernel digit = {"digit", 20, 0, limit * 0.99, limit, 0};
        run.dtype = wanted.dtype = types[i].dtype;
        sample_put(&run, &garbage);
        chosen one = choose();
        assert_null(one.choice.best);
        assert_null(one.choice.most_accurate);
        assert_int_equal(find(&one, "garbage")->fate, FATE_FAULT);
        assert_non_null(strstr(find(&one, "garbage")->reason, "no correct digit"));
        assert_false(find(&one, "garbage")->pareto);
        chosen_best_there_is(&one, words, sizeof words);
        assert_string_equal(words, "no kernel is right and timed there");
        sample_put(&run, &digit);
        expect_best("digit");
        wanted.budget.proven = true; /* by a bound that promises no digit */
        wanted.budget.row_ulp = 2 * limit;
        one = choose();
        assert_null(one.choice.best);
        assert_non_null(strstr(find(&one, "digit")->reason, "proves nothing"));
        expect_said(state, &one, "none", true);
        store_close(store);
        store = NULL;
        assert_int_equal(remove(scratch_path(state, "sample.db")), 0);
    }
}

/* Kernels of other parameters are another question, and their rounds are other rounds. */
CHOOSE_TEST(test_param)
{
    fill_store(state);
    const sample_kernel narrow = {"narrow", 90, 0, 1, 2, 0}, wide = {"wide", 80, 0, 1, 2, 0};
    run.dtype = wanted.dtype = LN_BF16;
    run.param = "f32";
    sample_put(&run, &wide);
    wanted.param = "bf16";
    chosen one = choose();
    assert_false(one.evidence.timed); /* what is timed is of another kind */
    run.param = "bf16";
    sample_put(&run, &narrow);
    one = choose();
    assert_int_equal(one.choice.count, 1);
    assert_string_equal(kernel_of(one.choice.best), "narrow");
    expect_said(state, &one, "85 x 768 bf16, torch", true);
    wanted.param = "f32";
    one = choose();
    assert_int_equal(one.choice.count, 1);
    assert_string_equal(kernel_of(one.choice.best), "wide");
    expect_said(state, &one, "85 x 768 bf16, parameters f32, torch", true);
}

/* Of a run with both, run, report and choose take the same: parameters of the elements' type. */
CHOOSE_TEST(test_param_everywhere)
{
    static const sample_kernel kernels[] = {{"wide", 80, 0, 1, 2, 0}, {"narrow", 90, 0, 1, 2, 0}};
    CHECK(store_open(scratch_path(state, "param.db"), STORE_WRITE, &store, &problem));
    run.store = store;
    run.dtype = wanted.dtype = LN_BF16;
    sample_begin(&run);
    for (int narrow = 0; narrow < 2; narrow++) {
        run.param = narrow ? "bf16" : "f32";
        sample_put(&run, &kernels[narrow]);
        sample_verdict(&run, kernels[narrow].name, "ramp", (case_verdict){.kind = VERDICT_RIGHT}, 1,
                       2);
    }
    CHECK(store_end_run(store, run.id, RUN_COMPLETE, &problem));
    wanted.every_row = true;
    wanted.budget.row_ulp = 2;
    wanted.param = "bf16";
    expect_best("narrow");
    wanted.param = "f32";
    expect_best("wide");
    run_view view;
    run_answer answer;
    CHECK(view_load(store, run.id, &view, &problem));
    answer_make(&view, &answer);
    assert_non_null(answer.take);
    assert_string_equal(answer.take->kernel, "narrow");
    assert_string_equal(answer.fastest->kernel, "narrow");
    answer_free(&answer);
    view_free(&view);
}

CHOOSE_TEST(test_proven)
{
    fill_store(state);
    wanted.budget.proven = true;
    wanted.budget.row_ulp = 10;
    chosen one = choose();
    assert_string_equal(kernel_of(one.choice.best), "mid");
    assert_true(find(&one, "twin")->fate == FATE_BUDGET); /* no bound */
    assert_non_null(strstr(find(&one, "twin")->reason, "proves nothing"));
    assert_non_null(strstr(find(&one, "slow")->reason, "proves nothing")); /* no claim */
    assert_string_equal(kernel_of(one.choice.more_accurate), "exact");
}

CHOOSE_TEST(test_nothing_meets_it)
{
    fill_store(state);
    char words[512];
    wanted.budget.row_ulp = 0.25;
    chosen one = choose();
    assert_null(one.choice.best);
    chosen_best_there_is(&one, words, sizeof words);
    assert_non_null(strstr(words, "the best there is, exact, has row ULP 0.500"));
    one.wanted.class = CLASS_EXACT;
    assert_true(convention_parse("llama", &one.wanted.convention, NULL));
    chosen_best_there_is(&one, words, sizeof words);
    assert_non_null(strstr(words, "no kernel is exact where numbers are rounded on the way"));
}

/* At kappa 100 mid has 4 * 100, sloppy 64 * 1e4; twin and exact don't grow. */
CHOOSE_TEST(test_kappa)
{
    fill_store(state);
    wanted.budget.kappa = 30; /* between decades: rows of 100 decide */
    wanted.budget.row_ulp = 399;
    chosen one = choose();
    assert_null(one.choice.best);
    assert_true(one.choice.unjudged && find(&one, "mid")->fate == FATE_UNJUDGED);
    for (size_t i = 0; i < SAMPLE_KERNELS; i++)
        sample_sweep(&run, &sample_kernels[i]);
    expect_best("twin");
    wanted.budget.row_ulp = 401;
    one = choose();
    assert_false(one.choice.unjudged);
    assert_true(find(&one, "mid")->fate <= FATE_TIED);
    assert_true(fabs(find(&one, "mid")->row_ulp - 400) < 1e-9);
    assert_true(find(&one, "mid")->judged_kappa == 100);
    /* Without a limit a kernel that has no right digit left is none either: 64 * 1e8^2. */
    wanted.budget.row_ulp = NAN;
    wanted.budget.kappa = 1e8;
    one = choose();
    assert_true(find(&one, "sloppy")->fate == FATE_FAULT);
    assert_string_equal(kernel_of(one.choice.best), "twin");
    /* ULPs are kept by case, not by row: the sweep doesn't tell them. */
    wanted.budget.ulp = 5;
    one = choose();
    assert_true(one.choice.unjudged);
    wanted.budget.kappa = 1e3;
    for (size_t i = 0; i < SAMPLE_KERNELS; i++)
        sample_verdict(&run, sample_kernels[i].name, "offset:1e+03",
                       (case_verdict){.kind = VERDICT_RIGHT}, sample_kernels[i].row_ulp, 1);
    expect_best("exact");
}

CHOOSE_TEST(test_faults)
{
    fill_store(state);
    case_verdict crashed = {VERDICT_CRASHED, "SIGSEGV"};
    case_verdict limited = {VERDICT_INACCURATE, "row_ulp 4 is above --max-row-ulp 1"};
    case_verdict at_limit = {VERDICT_LIMIT_CLASS, ""};
    case_verdict unsupported = {VERDICT_DECLINED, "no AVX-512 on this CPU"};
    /* On another input and shape: it is a crash all the same. */
    run.hidden = 5;
    sample_verdict(&run, "sloppy", "spike", crashed, NAN, NAN);
    run.hidden = 768;
    sample_verdict(&run, "mid", "uniform", limited, 4, 8);
    sample_verdict(&run, "twin", "huge", at_limit, 4, 8);
    sample_verdict(&run, "absent", "normal", unsupported, NAN, NAN);
    wanted.budget.row_ulp = 100;
    chosen one = choose();
    assert_true(find(&one, "sloppy")->fate == FATE_FAULT);
    assert_non_null(
        strstr(find(&one, "sloppy")->reason, "fail (crashed: SIGSEGV) on spike, hidden 5"));
    assert_true(find(&one, "mid")->fate <= FATE_TIED);
    assert_true(find(&one, "twin")->fate <= FATE_TIED);
    assert_true(find(&one, "absent")->fate == FATE_UNTIMED);
    assert_string_equal(find(&one, "absent")->reason, "unsupported (no AVX-512 on this CPU)");
    sample_verdict(&run, "mid", "offset:50", at_limit, 4, 8);
    wanted.budget.kappa = 49;
    wanted.budget.row_ulp = NAN;
    one = choose();
    assert_true(find(&one, "mid")->fate == FATE_SLOWER || find(&one, "mid")->fate == FATE_BEST);
    wanted.budget.kappa = 50;
    one = choose();
    assert_true(find(&one, "mid")->fate == FATE_FAULT);
}

/* Another CPU, compiler or cache: nothing is known; a CPU without a name is nobody's. */
CHOOSE_TEST(test_other_machine)
{
    run.cpu = "that";
    fill_store(state);
    chosen one = choose();
    assert_false(one.evidence.timed);
    assert_non_null(
        strstr(one.evidence.unlike, "is of another CPU (cpu_model: that): --run 1 asks it"));
    assert_int_equal(one.choice.count, 0);
    wanted.run = run.id; /* measured just now: it is of this machine */
    expect_best("sloppy");
    machine_facts a = sample_machine("unknown"), b = a;
    assert_string_equal(machine_difference(&a, &b), "cpu_model");
    a = sample_machine("x");
    assert_null(machine_difference(&a, &a));
}

static void expect_near(size_t rows, size_t hidden, bool near)
{
    wanted = sample_wanted(rows, hidden);
    chosen one = choose();
    if (one.evidence.timed != near || (near && one.evidence.same_shape))
        fail_msg("%zux%zu: %s", rows, hidden, near ? "not near" : "near");
}

/* Of two that are not told apart the one that takes longer and is less accurate is never taken, though
 * it is the faster one in most rounds. */
CHOOSE_TEST(test_no_worse_is_taken)
{
    const sample_kernel right = {"right", 0, 0, 1, 2, 0}, wrong = {"wrong", 0, 0, 3, 4, 0};
    static const double times[2][4] = {{100, 100, 200, 200}, {99, 120, 198, 198}};
    CHECK(store_open(scratch_path(state, "lucky.db"), STORE_WRITE, &store, &problem));
    run.store = store;
    sample_begin(&run);
    for (int i = 0; i < 2; i++) {
        const sample_kernel *kernel = i ? &wrong : &right;
        case_key key = sample_key(&run, kernel->name, "normal");
        sample_describe(&run, kernel->name);
        sample_verdict(&run, kernel->name, "normal", (case_verdict){.kind = VERDICT_RIGHT},
                       kernel->row_ulp, kernel->bound);
        for (unsigned r = 0; r < 12; r++) {
            double own = times[i][r % 4];
            timed_repetition repetition = {r / 4, r % 4, 0, 100, own, own, NAN, NAN};
            CHECK(store_put_repetition(run.store, run.id, &key, &repetition, &problem));
        }
    }
    chosen one = choose();
    assert_string_equal(kernel_of(one.choice.best), "right");
    assert_true(find(&one, "wrong")->pair.ratio < 1 && find(&one, "wrong")->fate == FATE_TIED);
}

/* 85 x 768 is L2: 522240 of 1048576 bytes. */
CHOOSE_TEST(test_near_shapes)
{
    fill_store(state);
    expect_near(60, 768, true);
    expect_near(60, 1536, true);
    expect_near(60, 1537, false); /* more than twice */
    expect_near(120, 384, true);
    expect_near(120, 383, false);
    expect_near(4, 768, false);   /* L1 */
    expect_near(200, 768, false); /* L3 */
    run.rows = 4;
    sample_put(&run, &sample_kernels[1]);
    expect_near(2, 768, true); /* L1: rows count */
    expect_near(1, 768, false);
    wanted = sample_wanted(84, 768); /* of two in reach the nearer one */
    run.rows = 70;
    sample_put(&run, &sample_kernels[3]);
    expect_best("sloppy");
    wanted.rows = 71;
    expect_best("exact");
    wanted = sample_wanted(85, 768);
    wanted.cache = CACHE_COLD;
    expect_best("(none)");
    wanted.cache = CACHE_HOT;
    wanted.threads = 2;
    expect_best("(none)");
}

/* Times under bert serve torch (same affine form), errors don't; zscore's serve nobody's. */
CHOOSE_TEST(test_conventions)
{
    run.convention = "bert";
    fill_store(state);
    chosen one = choose();
    assert_true(one.evidence.timed && !one.evidence.same_convention && one.choice.unjudged);
    assert_null(one.choice.best);
    run.convention = "torch";
    run.rows = 18;
    for (size_t i = 0; i < SAMPLE_KERNELS; i++)
        sample_verdict(&run, sample_kernels[i].name, "normal",
                       (case_verdict){.kind = VERDICT_RIGHT}, sample_kernels[i].row_ulp, 1);
    expect_best("sloppy");
    CHECK(convention_parse("zscore", &wanted.convention, &problem));
    snprintf(wanted.convention_label, sizeof wanted.convention_label, "zscore");
    one = choose();
    assert_false(one.evidence.timed);
}

/* Errors at a hidden size within a factor of 2 stand in, the nearest one's; others don't. */
CHOOSE_TEST(test_near_errors)
{
    run.convention = "bert"; /* so that the timed cases have no errors under torch */
    fill_store(state);
    const size_t sizes[] = {4096, 1100, 1000};
    run.convention = "torch";
    for (size_t i = 0; i < 3; i++) {
        run.hidden = sizes[i];
        sample_verdict(&run, "mid", "normal", (case_verdict){.kind = VERDICT_RIGHT},
                       (double)sizes[i], 1);
        chosen one = choose();
        const scored_kernel *mid = find(&one, "mid");
        assert_true((mid->fate == FATE_UNJUDGED) == (i == 0));
        assert_int_equal(mid->judged_hidden, i ? sizes[i] : 0);
        assert_true(i == 0 || mid->row_ulp == (double)sizes[i]);
    }
}

/* The library there is now before others, more kernels before fewer, the latest of equals; errors
 * of another library's kernel are not this one's. */
CHOOSE_TEST(test_which_run)
{
    fill_store(state);
    sample_run new = run;
    sample_begin(&new);
    sample_put(&new, &sample_kernels[4]);
    expect_best("sloppy"); /* five kernels against one */
    new.hash = "bbbb";
    sample_begin(&new);
    sample_put(&new, &sample_kernels[3]);
    const char *now[] = {"plug", "bbbb"}, *later[] = {"cccc"};
    word_list libraries = {now, 2}, later_libraries = {later, 1};
    wanted.libraries = &libraries;
    expect_best("exact");
    wanted.budget.kappa = 10;
    for (size_t i = 0; i < SAMPLE_KERNELS; i++)
        sample_sweep(&run, &sample_kernels[i]);
    chosen one = choose();
    assert_true(one.choice.unjudged && one.evidence.same_library);
    wanted.libraries = &later_libraries;
    one = choose();
    assert_false(one.evidence.same_library);
    wanted = sample_wanted(85, 768);
    const char *globs[] = {"tw*", "e?act"};
    word_list list = {globs, 2};
    wanted.kernels = &list;
    expect_best("twin");
    wanted.run = new.id;
    expect_best("exact");
}

/* One process of an interrupted run has no interval: it is measured again. */
CHOOSE_TEST(test_one_process)
{
    CHECK(store_open(scratch_path(state, "one.db"), STORE_WRITE, &store, &problem));
    run.store = store;
    sample_begin(&run);
    case_key key = sample_key(&run, "mid", "normal");
    for (unsigned i = 0; i < 4; i++) {
        timed_repetition repetition = {7, i, 0, 100, 150, 150, NAN, NAN};
        CHECK(store_put_repetition(store, run.id, &key, &repetition, &problem));
    }
    chosen one = choose();
    assert_false(one.evidence.timed);
    timed_repetition other = {8, 0, 0, 100, 150, 150, NAN, NAN};
    CHECK(store_put_repetition(store, run.id, &key, &other, &problem));
    one = choose();
    assert_true(one.evidence.timed);
}

CHOOSE_TEST(test_empty_store)
{
    CHECK(store_open(scratch_path(state, "empty.db"), STORE_WRITE, &store, &problem));
    chosen one = choose();
    assert_false(one.evidence.timed);
    assert_int_equal(one.choice.count, 0);
    assert_null(one.choice.best);
}

TEST(test_rows_to_time)
{
    machine_facts machine = sample_machine("this");
    assert_int_equal(rows_to_time(512, 768, LN_F32, &machine), 512);
    /* 256 MiB of x and y */
    assert_int_equal(rows_to_time(SIZE_MAX / 65536, 8192, LN_F32, &machine), 4096);
    machine.l3_bytes = 128u << 20;
    assert_int_equal(rows_to_time(1u << 20, 8192, LN_F32, &machine), 8192);
    assert_int_equal(rows_to_time(5, (size_t)1 << 30, LN_F32, &machine), 1);
}
