/* Speeds of made-up repetitions have the known values, and intervals contain the truth as often as they claim. */
#include "store/speed.h"
#include "test.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 64 };

typedef struct time_sample {
    stored_case list[12];
    timed_repetition repetitions[12][MOST];
    stored_cases cases;
} time_sample;

static stored_case *add_case(time_sample *sample, const char *kernel)
{
    size_t index = sample->cases.count++;
    sample->cases.cases = sample->list;
    sample->list[index] = (stored_case){
        .key = {.convention = "torch", .input = "normal", .rows = 100, .hidden = 250, .threads = 1},
        .repetitions = sample->repetitions[index],
    };
    snprintf(sample->list[index].key.kernel, NAME_MAX_LENGTH, "%s", kernel);
    return &sample->list[index];
}

static void add_time(stored_case *stored, unsigned process, double real_ns)
{
    size_t index = stored->repetition_count++;
    unsigned round = 0; /* within its process */
    for (size_t i = 0; i < index; i++)
        round += stored->repetitions[i].process == process;
    stored->repetitions[index] =
        (timed_repetition){process, round, (unsigned)index, 1000, real_ns, real_ns, NAN, NAN};
}

static speed_figures speed_of(const time_sample *sample, size_t index)
{
    return speed_of_case(&sample->cases, index);
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

TEST(test_median)
{
    double odd[] = {5, 1, 9}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(median(odd, 3) == 5);
    assert_true(median(even, 4) == 2.5);
    assert_true(median(one, 1) == 7);
    assert_true(isnan(median(one, 0)));
}

/* 100 x 250 f32 are 200 000 bytes through memory; in 1000 ns that is 200 GB/s. */
TEST(test_constant)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k"), *copy = add_case(&sample, "copy");
    for (unsigned process = 0; process < 3; process++) {
        for (int i = 0; i < 5; i++) {
            add_time(kernel, process, 1000);
            add_time(copy, process, 800);
        }
    }
    speed_figures speed = speed_of(&sample, 0);
    assert_true(speed.time_ns == 1000 && speed.time_lo_ns == 1000 && speed.time_hi_ns == 1000);
    assert_near(speed.gbps, 200);
    assert_true(speed.copy_ratio == 0.8 && speed.copy_ratio_lo == 0.8 &&
                speed.copy_ratio_hi == 0.8);
    assert_true(speed.repetitions == 15 && speed.processes == 3);
    assert_true(speed_of(&sample, 1).copy_ratio == 1); /* a copy's ratio to itself */
    kernel->key.dtype = LN_F64;
    assert_near(speed_of(&sample, 0).gbps, 400);
    assert_true(isnan(speed_of(&sample, 0).copy_ratio)); /* the copy has another number of bytes */
}

TEST(test_nothing)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k");
    speed_figures none = speed_of(&sample, 0);
    assert_true(isnan(none.time_ns) && isnan(none.time_lo_ns) && isnan(none.time_hi_ns));
    assert_true(isnan(none.gbps) && isnan(none.copy_ratio) && isnan(none.copy_ratio_lo));
    assert_true(isnan(none.copy_ratio_hi) && none.repetitions == 0 && none.processes == 0);
    add_time(kernel, 0, NAN); /* no times */
    add_time(kernel, 0, 0);
    add_time(kernel, 0, INFINITY);
    assert_true(isnan(speed_of(&sample, 0).time_ns));
    add_time(kernel, 1, 3);
    none = speed_of(&sample, 0);
    assert_true(none.time_ns == 3 && none.repetitions == 1 && none.processes == 1);
    assert_true(isnan(none.copy_ratio)); /* no copy */
}

/* The median of the processes' medians 10, 20 and 90 is 20; the median of all times would be 10. */
TEST(test_processes_count_alike)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k");
    for (int i = 0; i < 9; i++)
        add_time(kernel, 4, 10);
    add_time(kernel, 9, 90);
    add_time(kernel, 7, 20);
    speed_figures speed = speed_of(&sample, 0);
    assert_true(speed.time_ns == 20 && speed.processes == 3);
    assert_true(speed.time_lo_ns == 10 && speed.time_hi_ns == 90);
}

/* If processes differ and their repetitions do not, an interval of pooled repetitions would be far too narrow. */
TEST(test_hierarchy)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k");
    for (unsigned process = 0; process < 5; process++)
        for (int i = 0; i < 10; i++)
            add_time(kernel, process, 100 + process);
    speed_figures speed = speed_of(&sample, 0);
    assert_true(speed.time_ns == 102 && speed.time_lo_ns <= 101 && speed.time_hi_ns >= 103);
    /* With a single process, its repetitions are drawn. By the binomial distribution, the median of 9 draws from 1 ...
     * 9 is below 3, or above 7, with a probability of 3 % each. */
    struct time_sample alone = {0};
    kernel = add_case(&alone, "k");
    for (int i = 1; i <= 9; i++)
        add_time(kernel, 0, i);
    speed = speed_of(&alone, 0);
    assert_true(speed.time_ns == 5 && speed.time_lo_ns >= 1 && speed.time_lo_ns <= 3);
    assert_true(speed.time_hi_ns >= 7 && speed.time_hi_ns <= 9);
}

/* The faster copy of the group counts, others do not; a slow process, which slows both, cancels. */
TEST(test_copy)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k");
    stored_case *plain = add_case(&sample, "copy"), *stream = add_case(&sample, "copy_nt");
    stored_case *elsewhere[6];
    for (int i = 0; i < 6; i++)
        elsewhere[i] = add_case(&sample, "copy");
    stored_case *not_copy = add_case(&sample, "copyless");
    elsewhere[0]->key.rows++;
    elsewhere[1]->key.hidden++;
    elsewhere[2]->key.cache = CACHE_COLD;
    elsewhere[3]->key.threads++;
    /* Another convention's group has its own copies, which were measured with its kernels. */
    snprintf(elsewhere[4]->key.convention, sizeof elsewhere[4]->key.convention, "none");
    elsewhere[5]->key.cache = CACHE_IN_PLACE;
    for (unsigned process = 0; process < 4; process++) {
        double slow = process == 1 ? 10 : 1;
        for (int i = 0; i < 3; i++) {
            add_time(kernel, process, 1000 * slow);
            add_time(plain, process, 900 * slow);
            add_time(stream, process, 500 * slow);
            for (int j = 0; j < 6; j++)
                add_time(elsewhere[j], process, 1);
            add_time(not_copy, process, 1);
        }
    }
    speed_figures speed = speed_of(&sample, 0);
    assert_true(speed.copy_ratio == 0.5 && speed.copy_ratio_lo == 0.5 &&
                speed.copy_ratio_hi == 0.5);
    assert_true(speed.time_hi_ns > speed.time_lo_ns);
    /* Two runs are compared by the copy that is faster over both, not by the faster one of either. */
    time_sample other = {0};
    add_time(add_case(&other, "k"), 0, 1000);
    add_time(add_case(&other, "copy"), 0, 250);
    add_time(add_case(&other, "copy_nt"), 0, 460);
    const stored_cases runs[] = {sample.cases, other.cases};
    speed_sample taken = speed_sample_of(runs, 2, 0, 0);
    assert_near(taken.values[0], log(1000.0 / 900));
    speed_sample_free(&taken);
    for (size_t i = 0; i < plain->repetition_count; i++)
        plain->repetitions[i].real_ns /= 3; /* now the first copy is faster */
    assert_near(speed_of(&sample, 0).copy_ratio, 0.3);
    plain->repetition_count = 0;
    /* Only process 3 is common to both. */
    for (size_t i = 0; i < stream->repetition_count; i++) {
        stream->repetitions[i].process += 3;
        stream->repetitions[i].real_ns = i < 3 ? 600 : 500;
    }
    assert_true(speed_of(&sample, 0).copy_ratio == 0.6);
    for (size_t i = 0; i < stream->repetition_count; i++)
        stream->repetitions[i].process += 10;
    assert_true(isnan(speed_of(&sample, 0).copy_ratio));
}

/* Copies are compared in the same rounds: here copy_nt is mostly the faster one, although its median time is larger. */
TEST(test_copies_are_paired)
{
    time_sample sample = {0};
    static const char *const kernels[] = {"k", "copy", "copy_nt"};
    static const double times[3][3] = {{100, 100, 100}, {10, 20, 30}, {9, 21, 29}};
    for (int i = 0; i < 3; i++) {
        stored_case *one = add_case(&sample, kernels[i]);
        for (unsigned process = 0; process < 3; process++)
            add_time(one, process, times[i][process]);
    }
    assert_near(speed_of(&sample, 0).copy_ratio, 0.21);
}

/* A burst that slows everything in one round does not change the ratio, because rounds are paired. */
TEST(test_rounds_are_paired)
{
    time_sample sample = {0};
    stored_case *kernel = add_case(&sample, "k"), *copy = add_case(&sample, "copy");
    for (unsigned process = 0; process < 3; process++) {
        for (int round = 0; round < 5; round++) {
            double slow = 1 + 0.5 * round * (process + 1);
            add_time(kernel, process, 1000 * slow);
            add_time(copy, process, 800 * slow);
        }
    }
    speed_figures speed = speed_of(&sample, 0);
    assert_near(speed.copy_ratio, 0.8);
    assert_near(speed.copy_ratio_lo, 0.8);
    assert_near(speed.copy_ratio_hi, 0.8);
    /* A round without the copy is left out, not paired with another. */
    copy->repetitions[4].repetition = 9;
    assert_near(speed_of(&sample, 0).copy_ratio, 0.8);
}

/* splitmix64, a different generator from the bootstrap's. */
static uint64_t seed;

static double uniform(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static void fill_noisy(time_sample *sample, unsigned processes, int repetitions, double between,
                       double within)
{
    stored_case *kernel = add_case(sample, "k"), *copy = add_case(sample, "copy");
    for (unsigned process = 0; process < processes; process++) {
        double shift = between * normal();
        for (int i = 0; i < repetitions; i++) {
            add_time(kernel, process, 1000 + shift + within * normal());
            add_time(copy, process, 800 + 0.8 * shift + within * normal());
        }
    }
}

/* A store always gives the same figures, whatever the order of its cases. */
TEST(test_deterministic)
{
    time_sample sample = {0};
    seed = 5;
    fill_noisy(&sample, 6, 4, 5, 2);
    speed_figures first = speed_of(&sample, 0);
    assert_true(first.time_lo_ns < first.time_ns && first.time_ns < first.time_hi_ns);
    assert_true(first.copy_ratio_lo < first.copy_ratio && first.copy_ratio < first.copy_ratio_hi);
    speed_figures again = speed_of(&sample, 0);
    assert_memory_equal(&first, &again, sizeof first);
    stored_case kernel = sample.list[0];
    sample.list[0] = sample.list[1];
    sample.list[1] = kernel;
    again = speed_of(&sample, 1);
    assert_memory_equal(&first, &again, sizeof first);
}

/* Tests how often the 95 % intervals contain the truth. A percentile bootstrap of ten processes' median covers 88 to 99
 * % (few processes and the discreteness of a median prevent exactness); an interval that ignored the processes, or a
 * tail, would cover far less. The widths are compared with theory: the median's standard error is 1.2533 sigma /
 * sqrt(n), so that an interval of all values cannot pass. */
TEST(test_coverage)
{
    enum { TRIALS = 200 };
    int time_hits = 0, copy_hits = 0;
    double width = 0;
    seed = 77;
    for (int trial = 0; trial < TRIALS; trial++) {
        time_sample sample = {0};
        fill_noisy(&sample, 10, 5, 10, 2);
        speed_figures speed = speed_of(&sample, 0);
        time_hits += speed.time_lo_ns <= 1000 && 1000 <= speed.time_hi_ns;
        copy_hits += speed.copy_ratio_lo <= 0.8 && 0.8 <= speed.copy_ratio_hi;
        width += (speed.time_hi_ns - speed.time_lo_ns) / TRIALS;
    }
    double expected = 2 * 1.96 * 1.2533 * 10 / sqrt(10);
    print_message("coverage: time %.1f %%, copy ratio %.1f %%, width %.2f of the normal theory's\n",
                  100.0 * time_hits / TRIALS, 100.0 * copy_hits / TRIALS, width / expected);
    assert_in_range(time_hits, TRIALS * 88 / 100, TRIALS * 995 / 1000);
    assert_in_range(copy_hits, TRIALS * 88 / 100, TRIALS);
    assert_true(width > 0.7 * expected && width < 1.4 * expected);
}
