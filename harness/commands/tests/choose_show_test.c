/* What choices say of estimates, of what is lost and of what is asked for. (Forms: cli_golden, cli_hostile.) */
#include "choose_sample.h"
#include "domain/models.h"

static void expect_said(void **state, const chosen *one, const char *words)
{
    char *shown = printed(state, one, 1, (output_file){.format = OUTPUT_TEXT}, false);
    if (!strstr(shown, words))
        fail_msg("'%s' is missing:\n%s", words, shown);
    free(shown);
}

/* What was not timed is scaled by bytes, and marked in every form; the sample's median is 1.6 times
 * its time. */
TEST_IN_SCRATCH(test_estimates)
{
    static const struct {
        size_t timed[2], wanted[2];
        double us;
        const char *said;
    } cases[] = {{{1024, 1600}, {333, 1000}, 213, "take mid: ~43 us, from 1024 x 1600, "},
                 {{85, 768}, {64, 512}, 4.04, "take mid: ~2.0 us, from 85 x 768, "},
                 {{85, 768}, {85, 768}, 4.04, "take mid: 4.04 us, "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_run run = SAMPLE_RUN;
        const sample_kernel mid = {"mid", cases[i].us * 1e3 / 1.6, 0, 1, 2, 0};
        CHECK(store_open(scratch_path(state, "estimate.db"), STORE_WRITE, &run.store, &problem));
        run.rows = cases[i].timed[0];
        run.hidden = cases[i].timed[1];
        sample_begin(&run);
        sample_put(&run, &mid);
        chosen one =
            sample_choose(run.store, sample_wanted(cases[i].wanted[0], cases[i].wanted[1]));
        bool estimated = strchr(cases[i].said, '~') != NULL;
        double scaled = cases[i].us * 1e3 * (double)(cases[i].wanted[0] * cases[i].wanted[1]) /
                        (double)(cases[i].timed[0] * cases[i].timed[1]);
        expect_said(state, &one, cases[i].said);
        expect_said(state, &one, "Noisy: 1 of 1 speeds uncertain");
        json_t *json = chosen_json(&one, 1), *best = json_object_get(json, "best");
        json_t *time = json_object_get(json_object_get(best, "speed"), "time_ns");
        assert_true(fabs(json_number_value(time) / scaled - 1) < 1e-9);
        assert_int_equal(json_is_true(json_object_get(best, "estimated")), estimated);
        assert_int_equal(json_integer_value(json_object_get(best, "rows")), cases[i].wanted[0]);
        json_decref(json);
        chosen_free(&one);
        store_close(run.store);
        remove(scratch_path(state, "estimate.db"));
    }
}

/* A kernel that was asked for and has no time, or no errors, is lost, and named; one that the run
 * does not take is declined. */
TEST_IN_SCRATCH(test_lost)
{
    sample_run run = SAMPLE_RUN;
    CHECK(store_open(scratch_path(state, "lost.db"), STORE_WRITE, &run.store, &problem));
    sample_begin(&run);
    static const char *const names[] = {"sloppy", "mid", "untimed", "unreached", "absent"};
    for (size_t i = 0; i < 5; i++) {
        asked_case asked = {.key = sample_key(&run, names[i], "normal"),
                            .parts = ASKED_TO_JUDGE | ASKED_TO_TIME};
        CHECK(store_put_asked(run.store, run.id, &asked, &problem));
        sample_describe(&run, names[i]);
    }
    CHECK(store_count_asked(run.store, run.id, &problem));
    for (size_t i = 0; i < 3; i++)
        sample_verdict(&run, names[i], "normal", (case_verdict){.kind = VERDICT_RIGHT}, 1, 2);
    for (size_t i = 0; i < 2; i++)
        sample_time(&run, names[i], 100 + 50 * (double)i, 0);
    sample_verdict(&run, "absent", "normal",
                   (case_verdict){VERDICT_DECLINED, "no AVX-512 on this CPU"}, NAN, NAN);
    chosen one = sample_choose(run.store, sample_wanted(85, 768));
    expect_said(state, &one,
                "requested 5, judged 2, unsupported 1, missing 2: untimed 85x768 (judged, not\n"
                "  timed); unreached 85x768 (not reached)\n");
    expect_said(state, &one, "is not complete: --fresh measures anew");
    assert_true(chosen_lacks_times(&one));
    chosen_free(&one);
    choose_wanted wanted = sample_wanted(85, 768);
    wanted.budget.kappa = 10;
    one = sample_choose(run.store, wanted);
    expect_said(state, &one, "judged 0, unsupported 1, missing 4: ");
    chosen_free(&one);
    store_close(run.store);
}

TEST(test_what_is_asked_for)
{
    text_buffer out = {0};
    choose_wanted wanted = {.time_on = "normal", .budget = {NAN, NAN, NAN, NAN, NAN, false}};
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "no error budget");
    text_free(&out);
    wanted.class = CLASS_FAST;
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "class fast");
    text_free(&out);
    wanted.budget.row_ulp = 4;
    wanted.budget.kappa = 100;
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "class fast, row ULP at most 4, rows of kappa to 100");
    text_free(&out);
}

TEST(test_models)
{
    size_t count, rows[3];
    const model_shape *all = models(&count);
    assert_true(count >= 40);
    for (size_t i = 0; i < count; i++) {
        ln_convention convention;
        assert_true(all[i].hidden % 64 == 0 && all[i].tokens > 0 && all[i].source[0]);
        assert_true(convention_parse(all[i].convention, &convention, &problem));
        assert_ptr_equal(model_find(all[i].name, &problem), &all[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i].name, all[j].name);
    }
    const model_shape *xl = model_find("gpt2-xl", &problem);
    assert_int_equal(xl->hidden, 1600);
    model_rows(xl, rows);
    assert_true(rows[0] == 1 && rows[1] == 512 && rows[2] == 8192);
    model_rows(model_find("vit-b-16", &problem), rows);
    assert_true(rows[1] == 197 && rows[2] == 8 * 197);
    assert_null(model_find("gpt2-lx", &problem));
    assert_int_equal(problem.code, EXIT_CODE_USAGE);
    assert_non_null(strstr(problem.message, "'gpt2-xl'"));
    assert_string_equal(model_find("Llama-3-8B", &problem)->convention, "llama");
    assert_null(model_find("", &problem));
    char large[10001];
    memset(large, 'x', 10000);
    large[10000] = '\0';
    assert_null(model_find(large, &problem));
}
