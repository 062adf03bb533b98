/* The limits of the accuracy classes (class.sql), on errors made up for it. */
#include "inputs/inputs.h"
#include "store/choosing.h"
#include "store_sample.h"

static result_store *store;
static int64_t run;

static int set_up(void **state)
{
    (void)state;
    CHECK(store_open_memory(&store, &problem));
    run = begun(store);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

#define CLASS_TEST(name) TEST_WITH(name, set_up, tear_down)

/* One case; an infinite error is NaN where a number belongs. */
static void judge_on(const char *kernel, const char *convention, const char *input, size_t hidden,
                     double row_ulp, double bound)
{
    case_key key = {.rows = 18, .hidden = hidden, .threads = 1};
    case_verdict verdict = {.kind = isinf(row_ulp) ? VERDICT_WRONG_CLASS : VERDICT_RIGHT};
    ln_metrics metrics = {.row_ulp_max = row_ulp, .elements = 1000};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "%s", convention);
    snprintf(key.input, sizeof key.input, "%s", input);
    CHECK(put_accuracy(store, run, &key, &verdict, &metrics, bound, &problem));
}

/* A kernel: `row_ulp` on one family, 0.5 on the others. */
static void judge_all(const char *kernel, const char *input, double row_ulp)
{
    char json[160];
    size_t count;
    const input_family *family = input_families(&count);
    snprintf(json, sizeof json, "{\"name\": \"%s\", \"statistics\": \"naive\", \"version\": %s}",
             kernel, strstr(kernel, "peer") ? "\"1.0\"" : "null");
    CHECK(store_put_kernel(store, run, kernel, json, &problem));
    for (size_t i = 0; i < count; i++) {
        double own = strcmp(family[i].name, input) == 0 ? row_ulp : 0.5;
        judge_on(kernel, "torch", family[i].name, 768, own, own);
    }
}

static bool is_of_at(const char *class, const char *kernel, size_t hidden)
{
    class_breach *breaches;
    size_t count;
    bool found = false, of = false;
    errors_wanted wanted = {.run = run,
                            .dtype = LN_F32,
                            .convention = "torch",
                            .without_eps = "bare",
                            .hidden = hidden,
                            .kappa = NAN};
    CHECK(store_class(store, &wanted, class, &breaches, &count, &problem));
    for (size_t i = 0; i < count; i++)
        if (strcmp(breaches[i].kernel, kernel) == 0) {
            found = true;
            of = !breaches[i].unfit[0] && !breaches[i].lacking[0] && breaches[i].case_id == 0;
        }
    free(breaches);
    assert_true(found);
    return of;
}

static bool is_of(const char *class, const char *kernel)
{
    return is_of_at(class, kernel, 768);
}

/* Whether a kernel with this error on positive rows is `fast` beside others with those. */
static bool is_fast(double own, double common, double peer, double other_peer)
{
    store_close(store);
    set_up(NULL);
    judge_all("own", "positive", own);
    if (!isnan(common))
        judge_all("two_pass_f32_avx2", "positive", common);
    if (!isnan(peer))
        judge_all("peer", "positive", peer);
    if (!isnan(other_peer))
        judge_all("other_peer", "positive", other_peer);
    return is_of("fast", "own");
}

CLASS_TEST(fast_without_peers)
{
    assert_true(is_fast(16, NAN, NAN, NAN));
    assert_false(is_fast(16.1, NAN, NAN, NAN));
    assert_true(is_fast(32, 4, NAN, NAN));
    assert_false(is_fast(32.1, 4, NAN, NAN));
    assert_true(is_fast(128, 1e6, NAN, NAN));
    assert_false(is_fast(129, 1e6, NAN, NAN));
}

CLASS_TEST(fast_beside_peers)
{
    assert_true(is_fast(8, 1e6, 3, 1)); /* the best peer counts, and the stand-in no more */
    assert_false(is_fast(8.1, 1e6, 3, 1));
    assert_true(is_fast(24, NAN, 3, INFINITY)); /* one that is wrong is no measure */
    assert_false(is_fast(24.1, NAN, 3, INFINITY));
    assert_true(is_fast(4, NAN, 0, 3)); /* exact by chance */
    assert_false(is_fast(4.1, NAN, 0, 3));
    assert_true(is_fast(128, NAN, 1e7, INFINITY));
    assert_false(is_fast(129, NAN, 1e7, INFINITY));
    assert_false(is_fast(INFINITY, NAN, 1e7, INFINITY));
}

CLASS_TEST(fast_where_squares_overflow)
{
    judge_all("own", "huge", INFINITY);
    judge_all("peer", "huge", 0.5);
    assert_true(is_of("fast", "own"));
    assert_false(is_of("accurate", "own"));
    judge_all("other", "none", 0.5);
    assert_false(is_of("exact", "other")); /* it is not built to be */
    assert_false(is_of("reproducible", "other"));
}

/* Each row of the sweep is held against the peers' row of the same kappa. */
CLASS_TEST(rows_of_the_sweep)
{
    judge_all("own", "offset", 100);
    judge_all("peer", "offset", 100);
    for (size_t row = 0; row < 2; row++)
        for (int peer = 0; peer < 2; peer++) {
            case_key key = {.kernel = "own",
                            .convention = "torch",
                            .input = "offset",
                            .rows = 18,
                            .hidden = 768,
                            .threads = 1};
            snprintf(key.kernel, sizeof key.kernel, "%s", peer ? "peer" : "own");
            stored_row put = {.row = row, .row_ulp = peer && row == 0 ? 1 : 9};
            CHECK(store_put_row(store, run, &key, &put, &problem));
        }
    assert_false(is_of("fast", "own")); /* row 0: 9 where the peer has 1 */
}

/* By what is proven: a small error alone will not do, nor will no bound. */
CLASS_TEST(accurate)
{
    judge_all("right", "positive", 2);
    judge_all("off", "positive", 2.01);
    judge_all("peer", "positive", 100);
    assert_true(is_of("accurate", "right"));
    assert_false(is_of("accurate", "off"));
    const double bounds[] = {2.01, NAN, INFINITY, 2};
    for (size_t i = 0; i < 4; i++) {
        judge_on("right", "torch", "spike", 768, 0.5, bounds[i]);
        assert_int_equal(is_of("accurate", "right"), bounds[i] == 2);
    }
    judge_on("right", "torch", "subnormal-out", 768, 0.5, 4); /* what is measured counts there */
    assert_true(is_of("accurate", "right"));
}

/* Errors without eps are held against `accurate` alone, of that kernel and rows of that length. */
CLASS_TEST(accurate_without_eps)
{
    is_fast(0.5, NAN, NAN, NAN); /* judges it */
    judge_on("own", "bare", "signed-zeros", 4096, INFINITY, INFINITY);
    assert_true(is_of("accurate", "own"));
    judge_on("own", "bare", "signed-zeros", 768, 2, 2);
    assert_true(is_of("accurate", "own"));
    judge_on("own", "bare", "signed-zeros", 64, 2.1, 2.1);
    assert_false(is_of("accurate", "own"));
    judge_on("own", "bare", "signed-zeros", 64, INFINITY, INFINITY);
    assert_false(is_of("accurate", "own"));
    assert_true(is_of("fast", "own"));
}

/* Rows sought to be the worst for some kernel are no family: what is proven of them counts. */
CLASS_TEST(hunted_rows)
{
    judge_all("own", "positive", 2);
    judge_on("own", "torch", "worst", 768, 64, 2);
    assert_true(is_of("accurate", "own"));
    assert_true(is_of("fast", "own"));
    judge_on("own", "torch", "worst", 768, 64, 2.01);
    assert_false(is_of("accurate", "own"));
    assert_true(is_of("fast", "own"));
}

/* Rows of another length: up to twice as long they count, and shorter ones always. */
CLASS_TEST(rows_of_another_length)
{
    judge_all("own", "positive", 3); /* at 768 */
    const struct {
        size_t hidden;
        bool is_accurate;
    } at[] = {{64, true}, {383, true}, {384, false}, {768, false}, {12288, false}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_int_equal(is_of_at("accurate", "own", at[i].hidden), at[i].is_accurate);
}
