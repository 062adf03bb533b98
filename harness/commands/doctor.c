/* lnbench doctor: finds what makes timings on this machine untrustworthy, and how to fix it. --noise measures the
 * smallest detectable change of time, which compare uses; --store and --remove maintain the store. */
#include "commands/options.h"
#include "domain/machine.h"
#include "base/program.h"
#include "base/clock.h"
#include "show/answer.h"
#include "show/duet.h"
#include "store/bootstrap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Removes one run or a range of runs; `words` is such as "3" or "1..50". */
static void remove_runs(const char *database, const char *words, const output_file *out)
{
    char *end;
    int64_t first = strtoll(words, &end, 10), last = first;
    if (end != words && strncmp(end, "..", 2) == 0 && end[2])
        last = strtoll(end + 2, &end, 10);
    if (end == words || *end || first <= 0 || last < first)
        die(EXIT_CODE_USAGE, "invalid --remove '%.60s': choose a run or a range, 1..50", words);
    result_store *store = store_open(database, STORE_WRITE);
    store_check_sound(store);
    int64_t removed = store_remove_runs(store, first, last);
    store_close(store);
    if (removed == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: has no run %s: see lnbench list runs", database, words);
    output_line(out, "removed %lld run%s", (long long)removed, plural((size_t)removed));
}

/* Reads the whole store to find damage, and prints its state. */
static void print_store(const char *database, const output_file *out)
{
    static const relation_column columns[] = {COLUMN("store", "store"),
                                              COLUMN("state", "state"),
                                              {"MB", .format = "%.1f"},
                                              FOR_PROGRAMS("bytes"),
                                              COLUMN("runs", "runs")};
    struct stat about = {0};
    relation *rows = relation_create(COLUMNS(columns));
    result_store *store = store_open(database, STORE_READ);
    store_check_sound(store);
    stored_table runs = store_ask(store, "SELECT count(*) AS runs FROM runs", "");
    stat(database, &about);
    relation_row(rows, as_text(database), as_text("sound"), as_figure((double)about.st_size / 1e6),
                 as_count((unsigned long long)about.st_size), table_value(&runs, 0, "runs"));
    relation_print_in(rows, json_pack("{s:s}", "schema", "lnbench-store-2"), "stores", out);
    stored_table_free(&runs);
    store_close(store);
}

/* Times the library against a copy of itself at one shape for each cache level of the machine. Shapes above 256 MiB are
 * left out, because filling and comparing their buffers takes longer than the call. */
static void measure_equal_code(const char *library, const char *copy, double seconds,
                               duet_run *duet)
{
    static const char *kernel = "library_fast_f32", *convention = "torch";
    enum { HIDDEN = 768, MOST_ROWS = (256 << 20) / (2 * 4 * HIDDEN) };
    plan_request request = {.name = "quick",
                            .kernels = {&kernel, 1},
                            .conventions = {&convention, 1},
                            .only = "speed",
                            .seed = 1};
    machine_facts machine;
    machine_read(&machine);
    for (cache_regime regime = REGIME_L1; regime < REGIMES; regime++) {
        char shape[48];
        size_t rows = machine_rows(&machine, regime, LN_OPERATION_LAYERNORM, HIDDEN, LN_F32);
        snprintf(shape, sizeof shape, "%zux%d", rows, HIDDEN);
        if (rows <= MOST_ROWS &&
            strcmp(machine_regime(&machine, LN_OPERATION_LAYERNORM, rows, HIDDEN, LN_F32),
                   regime_names[regime]) == 0)
            word_list_add(&request.shapes, shape);
    }
    machine_free(&machine);
    *duet =
        (struct duet_run){.comparison.settings = {.tool = "duet",
                                                  .files = {library, copy},
                                                  .seconds = seconds / (double)request.shapes.count,
                                                  .speed = true,
                                                  .seed = 1},
                          .deadline = 10,
                          .fixed = true};
    duet_prepare(duet, &request);
    if (!duet_measure(duet, &request))
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    word_list_free(&request.shapes);
}

/* Stores the smallest detectable change for each cache level, which compare reads, and prints it as a table. */
static void store_and_print(const run_comparison *comparison, const char *database,
                            const output_file *out)
{
    static const relation_column columns[] = {
        COLUMN("regime", "regime"),
        COLUMN("kernel", "kernel"),
        FOR_PEOPLE("shape"),
        FOR_PROGRAMS("rows"),
        FOR_PROGRAMS("hidden"),
        {"smallest change seen", "smallest", .format = "%.3g", .unit = "%"},
        COLUMN("processes", "processes"),
    };
    static const double useless = 0.2; /* a regression of 20 % is rare */
    double smallest[REGIMES] = {NAN, NAN, NAN, NAN};
    relation *rows = relation_create(COLUMNS(columns));
    stored_table pairs = store_get_table(comparison->store, "pairs");
    for (size_t i = 0; i < pairs.rows; i++) {
        const char *regime = table_text(&pairs, i, "regime");
        /* This is one interval of a ratio between equal code. Its end that is farther from 1 is the noise floor: at
         * this threshold the duet would have raised no alarm. A change is detected for certain if it exceeds the floor
         * by the width of the interval. Logarithms are used because they can be added, and ratios cannot. */
        const double lo = log(table_real(&pairs, i, "ratio_lo"));
        const double hi = log(table_real(&pairs, i, "ratio_hi"));
        const double seen = expm1(fmax(fabs(lo), fabs(hi)) + hi - lo);
        smallest[word_find(regime, regime_names, REGIMES)] = seen;
        relation_row(rows, as_text(regime), table_value(&pairs, i, "kernel"),
                     table_value(&pairs, i, "shape"), table_value(&pairs, i, "rows"),
                     table_value(&pairs, i, "hidden"), as_figure(seen),
                     table_value(&pairs, i, "processes"));
    }
    stored_table_free(&pairs);
    result_store *store = store_open(database, STORE_WRITE);
    store_put_noise(store, &comparison->machine, smallest);
    store_close(store);
    relation_print_in(rows, json_pack("{s:s}", "schema", "lnbench-noise-1"), "noise", out);
    output_aside(out, "stored in %s: compare calls no smaller change slower or faster", database);
    for (int of = 0; of < REGIMES; of++)
        if (smallest[of] > useless)
            output_aside(out,
                         "compare sees no change below %.0f %% in %s: repeat this on an idle "
                         "machine, with taskset -c 1, or with --time 300",
                         100 * smallest[of], regime_names[of]);
}

/* Measures and stores the noise. Opens the database first, so that an unwritable one is reported at once. */
static void doctor_noise(const char *database, double seconds, const output_file *out)
{
    char library[1024], copy[1100];
    text_buffer bytes = {0};
    duet_run duet = {0};
    interrupt_watch();
    own_path(OWN_LIBRARY, library, sizeof library);
    make_parent_directory(database);
    store_close(store_open(database, STORE_WRITE));
    const char *folder = temporary_folder_make("noise");
    snprintf(copy, sizeof copy, "%s/copy.so", folder);
    read_whole_file(library, &bytes);
    write_whole_file(copy, &bytes);
    measure_equal_code(library, copy, seconds, &duet);
    store_and_print(&duet.comparison, database, out);
    duet_free(&duet);
    text_free(&bytes);
    temporary_folder_remove(folder);
}

/* The scatter of PIECES timings of the same work, about 20 ms each, half a second in all. */
typedef struct timing_scatter {
    double apart;     /* ninth decile of the times / their first decile - 1 */
    double cpu_share; /* processor time of this thread / elapsed time */
} timing_scatter;
enum { PIECES = 25 };
static const double piece_seconds = .02;

/* Computes a chain of multiplications, whose time does not depend on memory, caches or the compiler. */
static uint64_t work(uint64_t state, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state;
}

/* Times the same work repeatedly. No timing on this machine is more precise than the scatter of these times. */
static timing_scatter measure_scatter(void)
{
    volatile uint64_t state = 1;
    uint64_t steps = 1 << 16;
    double seconds[PIECES], begun;
    for (double taken = 0; taken < piece_seconds / 2; steps *= taken < piece_seconds / 2 ? 2 : 1) {
        begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        state = work(state, steps);
        taken = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    double wall = seconds_now(), processor = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < PIECES; i++) {
        begun = seconds_now();
        state = work(state, steps);
        seconds[i] = seconds_now() - begun;
    }
    wall = seconds_now() - wall;
    processor = seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    median(seconds, PIECES); /* called only because it sorts them */
    return (timing_scatter){.apart = seconds[PIECES * 9 / 10] / seconds[PIECES / 10] - 1,
                            .cpu_share = processor / wall};
}

static const char *const grade_names[] = {"fine", "note", "warning"};

/* Beyond either limit, a figure describes the machine rather than the kernel. */
static const double most_apart = .1, least_cpu_share = .9;

static bool is_trusted(const timing_scatter *scatter)
{
    return scatter->apart <= most_apart && scatter->cpu_share >= least_cpu_share;
}

/* Prints the report as text. It begins with "timings here can be trusted (the same work varies by 2 %): 1 warning". */
static void print_text(const output_file *out, const machine_facts *machine,
                       const timing_scatter *scatter, const finding *findings, size_t count,
                       bool facts)
{
    size_t warnings = 0;
    while (warnings < count && findings[warnings].grade == FINDING_WARNING)
        warnings++;
    output_colour(out, is_trusted(scatter) ? NULL : "31");
    if (is_trusted(scatter))
        output_text(out, "timings here can be trusted (the same work varies by %.2g %%): ",
                    100 * scatter->apart);
    else if (scatter->cpu_share < least_cpu_share)
        output_text(out,
                    "timings here cannot be trusted, since other work took %.0f %% of the time of "
                    "this CPU (top shows it): ",
                    100 * (1 - scatter->cpu_share));
    else
        output_text(
            out,
            "timings here cannot be trusted, since the same work took up to %.2f times as long: ",
            1 + scatter->apart);
    output_colour(out, NULL);
    output_line(out, "%zu warning%s", warnings, plural(warnings));
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        if (!facts && i >= warnings && !findings[i].remedy[0])
            continue;
        output_text(out, listed++ ? "" : "\n");
        output_colour(out, findings[i].grade == FINDING_WARNING ? "33" : NULL);
        output_text(out, "%-8s", grade_names[findings[i].grade]);
        output_colour(out, NULL);
        output_text(out, " %s\n", findings[i].what);
        if (findings[i].remedy[0])
            output_line(out, "         to do: %s", findings[i].remedy);
    }
    output_line(out, "\n%zu checked%s", count,
                facts ? "" : ": --facts shows the rest, and the facts of the machine");
    if (facts)
        output_line(out, "\nmachine");
    for (size_t i = 0; facts && i < machine->count; i++)
        output_line(out, "%-22s  %s", machine->facts[i].name, machine->facts[i].value);
}

/* Prints the report as rows for programs and for Markdown. All formats but JSON have the facts in the same table. */
static void print_rows(const output_file *out, const machine_facts *machine,
                       const timing_scatter *scatter, const finding *findings, size_t count)
{
    static const relation_column columns[] = {COLUMN("grade", "grade"), COLUMN("what", "what"),
                                              COLUMN("remedy or value", "remedy")};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_text(grade_names[findings[i].grade]), as_text(findings[i].what),
                     as_text(findings[i].remedy));
    for (size_t i = 0; out->format != OUTPUT_JSON && i < machine->count; i++)
        relation_row(rows, as_text("fact"), as_text(machine->facts[i].name),
                     as_text(machine->facts[i].value));
    relation_print_in(rows,
                      json_pack("{s:s, s:b, s:f, s:f, s:o}", "schema", "lnbench-doctor-1",
                                "trusted", is_trusted(scatter), "apart", scatter->apart,
                                "cpu_share", scatter->cpu_share, "machine", json_facts(machine)),
                      "findings", out);
}

typedef struct doctor_options {
    output_file printed;
    const char *database, *remove;
    double seconds; /* 0: not given */
    bool store, facts, noise;
} doctor_options;

static exit_code doctor(void *context, const cli_call *call)
{
    const doctor_options *options = context;
    machine_facts machine;
    finding findings[FINDINGS_MOST];
    (void)call;
    if (options->seconds > 0 && !options->noise)
        die(EXIT_CODE_USAGE, "--time needs --noise");
    if (options->noise) {
        const timing_scatter before = measure_scatter();
        doctor_noise(options->database, options->seconds > 0 ? options->seconds : 60,
                     &options->printed);
        const timing_scatter after = measure_scatter();
        if (!is_trusted(&before) || !is_trusted(&after))
            output_aside(&options->printed, "timings here cannot be trusted now (lnbench doctor): "
                                            "repeat this on an idle machine");
        return EXIT_CODE_FINE;
    }
    if (options->remove)
        remove_runs(options->database, options->remove, &options->printed);
    if (options->store || options->remove) {
        print_store(options->database, &options->printed);
        return EXIT_CODE_FINE;
    }
    timing_scatter scatter = measure_scatter();
    machine_read(&machine);
    size_t count = machine_findings(&machine, findings);
    if (options->printed.format == OUTPUT_TEXT)
        print_text(&options->printed, &machine, &scatter, findings, count, options->facts);
    else
        print_rows(&options->printed, &machine, &scatter, findings, count);
    machine_free(&machine);
    return is_trusted(&scatter) ? EXIT_CODE_FINE : EXIT_CODE_INCONCLUSIVE;
}

static const cli_option options[] = {
    {"facts", NULL, "also show what is fine, and the machine's facts", OPTION_FLAG,
     offsetof(doctor_options, facts)},
    {"noise", NULL, "measure and store the smallest change visible on this machine", OPTION_FLAG,
     offsetof(doctor_options, noise)},
    {"time", "S", "with --noise: measure for S seconds, 20 at least (default: 60)", OPTION_SECONDS,
     offsetof(doctor_options, seconds)},
    {"store", NULL, "check the whole result store, and say how large it is", OPTION_FLAG,
     offsetof(doctor_options, store)},
    {"remove", "RUN|FIRST..LAST", "delete these runs from the store permanently", OPTION_TEXT,
     offsetof(doctor_options, remove)},
    STORE_OPTION(doctor_options, database),
    OUTPUT_OPTIONS(doctor_options, printed),
};

const cli_command command_doctor = {
    .name = "doctor",
    .brief = "check the store, and whether timings here can be trusted",
    .usage = "[OPTION...]",
    .example = "doctor --facts",
    .summary = "Says how far timings on this machine can be trusted, and what to do about it. It\n"
               "times the same work again and again for half a second.",
    .details =
        "Exit code 0: timings here can be trusted; 2: usage; 3: they cannot be trusted\n"
        "(repeated work differs by over 10 %, or other work took over 10 % of the time of the\n"
        "CPU that doctor ran on); 7: the store is damaged; 130: interrupted (--noise then stores "
        "nothing).",
    OPTIONS(options),
    .size = sizeof(doctor_options),
    .body = doctor,
};
