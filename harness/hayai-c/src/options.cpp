/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the command line and the environment to hayai_options. Input on which Google Benchmark
 * would print a usage, abort or exit is refused with one line. */
#include "internal.hpp"
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

using namespace hayai;

namespace
{

/* The strings that options point to and that are not in argv. */
struct owned {
    std::deque<std::string> texts;
    std::vector<const char *> outputs;
    std::string out, out_format = "json", format;
    bool format_given = false;
};

struct command_line {
    hayai_options &options;
    hayai_command &command;
    owned &kept;
};

const char *keep(owned &kept, const std::string &text)
{
    kept.texts.push_back(text);
    return kept.texts.back().c_str();
}

hayai_status refuse(const char *flag, const std::string &value, const char *expected)
{
    return fail(HAYAI_ERROR_ARGUMENT, "%s: %s: expected %s", flag, value.c_str(), expected);
}

/* Reads a boolean as the library does: true is nothing, or anything but 0, f..., n..., off. */
hayai_status read_truth(const std::string &value, bool &result)
{
    std::string lower;
    for (const char c : value)
        lower += static_cast<char>(tolower(static_cast<unsigned char>(c)));
    result = !(lower == "0" || lower == "f" || lower == "n" || lower == "false" || lower == "no" ||
               lower == "off");
    return HAYAI_OK;
}

hayai_status read_seconds(const char *flag, const std::string &value, double &result)
{
    char *end = nullptr;
    errno = 0;
    result = hayai_number_read(value.c_str(), &end);
    if (end == value.c_str() || *end || errno || !(result >= 0) || result > 1e9)
        return refuse(flag, value, "seconds, >= 0");
    return HAYAI_OK;
}

hayai_status read_count(const char *flag, const std::string &value, long long least,
                        long long greatest, long long &result)
{
    char *end = nullptr;
    errno = 0;
    result = strtoll(value.c_str(), &end, 10);
    if (end == value.c_str() || *end || errno || result < least || result > greatest)
        return fail(HAYAI_ERROR_ARGUMENT, "%s: %s: expected a whole number, %lld to %lld", flag,
                    value.c_str(), least, greatest);
    return HAYAI_OK;
}

/* Reads seconds, such as 0.5 or (since 1.8) 0.5s, or iterations, such as 100x. */
hayai_status read_min_time(command_line &line, const char *flag, const std::string &value)
{
    if (!value.empty() && value.back() == 'x') {
        long long count = 0;
        const hayai_status status =
            read_count(flag, value.substr(0, value.size() - 1), 1, LLONG_MAX, count);
        line.options.iterations = count;
        return status;
    }
    const bool suffix = !value.empty() && value.back() == 's';
    line.options.iterations = 0;
    return read_seconds(flag, suffix ? value.substr(0, value.size() - 1) : value,
                        line.options.min_seconds);
}

hayai_status read_unit(command_line &line, const char *flag, const std::string &value)
{
    for (const hayai_unit unit :
         {HAYAI_UNIT_NANOSECOND, HAYAI_UNIT_MICROSECOND, HAYAI_UNIT_MILLISECOND, HAYAI_UNIT_SECOND})
        if (value == hayai_unit_string(unit)) {
            line.options.unit = unit;
            return HAYAI_OK;
        }
    return refuse(flag, value, "ns, us, ms or s");
}

hayai_status read_color(command_line &line, const std::string &value)
{
    bool always = false;
    read_truth(value, always);
    line.options.color = value == "auto" ? HAYAI_COLOR_AUTO
                         : always        ? HAYAI_COLOR_ALWAYS
                                         : HAYAI_COLOR_NEVER;
    return HAYAI_OK;
}

hayai_status read_format(const char *flag, const std::string &value, std::string &format)
{
    for (const char *known :
         {"console", "json", "csv", "jsonl", "tsv", "junit", "markdown", "google-json", "none"})
        if (value == known) {
            format = value;
            return HAYAI_OK;
        }
    return refuse(flag, value,
                  "console, json, csv, jsonl, tsv, junit, markdown, google-json or none");
}

/* Reads "key=value,key=value". */
hayai_status read_context(const char *flag, const std::string &value)
{
    size_t begin = 0;
    while (begin <= value.size()) {
        const size_t end = std::min(value.find(',', begin), value.size());
        const std::string pair = value.substr(begin, end - begin);
        const size_t equal = pair.find('=');
        if (equal == std::string::npos || equal == 0)
            return refuse(flag, value, "key=value,...");
        const hayai_status status =
            hayai_add_context(pair.substr(0, equal).c_str(), pair.substr(equal + 1).c_str());
        if (status != HAYAI_OK)
            return status;
        begin = end + 1;
    }
    return HAYAI_OK;
}

hayai_status read_seed(command_line &line, const std::string &value)
{
    char *end = nullptr;
    errno = 0;
    line.options.interleave = true;
    line.options.seed = strtoull(value.c_str(), &end, 0);
    if (value.empty() || *end || errno || value[0] == '-')
        return refuse("--shuffle", value, "a seed: a whole number, >= 0");
    return HAYAI_OK;
}

using reader = hayai_status (*)(command_line &, const char *flag, const std::string &value);

struct flag {
    const char *name;
    bool needs_value;
    reader read;
};

template <bool hayai_options::*member>
hayai_status truth_flag(command_line &line, const char *, const std::string &value)
{
    return read_truth(value, line.options.*member);
}

template <const char *hayai_options::*member>
hayai_status text_flag(command_line &line, const char *, const std::string &value)
{
    line.options.*member = keep(line.kept, value);
    return HAYAI_OK;
}

/* Google Benchmark's flags; each is also read from the environment, in capital letters. */
const flag library_flags[] = {
    {"benchmark_filter", true, text_flag<&hayai_options::filter>},
    {"benchmark_min_time", true, read_min_time},
    {"benchmark_min_warmup_time", true,
     [](command_line &line, const char *flag, const std::string &value) {
         return read_seconds(flag, value, line.options.min_warm_up_seconds);
     }},
    {"benchmark_repetitions", true,
     [](command_line &line, const char *flag, const std::string &value) {
         long long count = 0;
         const hayai_status status = read_count(flag, value, 1, INT_MAX, count);
         line.options.repetitions = static_cast<unsigned>(count);
         return status;
     }},
    {"benchmark_enable_random_interleaving", false,
     truth_flag<&hayai_options::random_interleaving>},
    {"benchmark_report_aggregates_only", false, truth_flag<&hayai_options::report_aggregates_only>},
    {"benchmark_display_aggregates_only", false,
     truth_flag<&hayai_options::display_aggregates_only>},
    {"benchmark_format", true,
     [](command_line &line, const char *flag, const std::string &value) {
         line.kept.format_given = true;
         return read_format(flag, value, line.kept.format);
     }},
    {"benchmark_out", true,
     [](command_line &line, const char *, const std::string &value) {
         line.kept.out = value;
         return HAYAI_OK;
     }},
    {"benchmark_out_format", true,
     [](command_line &line, const char *flag, const std::string &value) {
         return read_format(flag, value, line.kept.out_format);
     }},
    {"benchmark_color", true,
     [](command_line &line, const char *, const std::string &value) {
         return read_color(line, value);
     }},
    {"benchmark_counters_tabular", false, truth_flag<&hayai_options::counters_tabular>},
    {"benchmark_perf_counters", true, text_flag<&hayai_options::perf_counters>},
    {"benchmark_context", true,
     [](command_line &, const char *flag, const std::string &value) {
         return read_context(flag, value);
     }},
    {"benchmark_time_unit", true, read_unit},
    {"benchmark_dry_run", false, truth_flag<&hayai_options::dry_run>},
    {"benchmark_list_tests", false,
     [](command_line &line, const char *, const std::string &value) {
         bool list = false;
         read_truth(value, list);
         line.command = list ? HAYAI_COMMAND_LIST : HAYAI_COMMAND_RUN;
         return HAYAI_OK;
     }},
    {"v", true,
     [](command_line &line, const char *flag, const std::string &value) {
         long long level = 0;
         const hayai_status status = read_count(flag, value, -9, 9, level);
         line.options.verbosity = static_cast<int>(level);
         return status;
     }},
};

/* Our flags, long and short. */
struct short_flag {
    const char *name;
    char letter;
    bool needs_value;
    reader read;
};

const short_flag own_flags[] = {
    {"output", 'o', true,
     [](command_line &line, const char *flag, const std::string &value) {
         std::string format;
         const hayai_status status = read_format(flag, value.substr(0, value.find(':')), format);
         if (status == HAYAI_OK)
             line.kept.outputs.push_back(keep(line.kept, value));
         return status;
     }},
    {"filter", 'f', true, text_flag<&hayai_options::filter>},
    {"shuffle", 's', true,
     [](command_line &line, const char *, const std::string &value) {
         return read_seed(line, value);
     }},
    {"quartiles", 'q', false, truth_flag<&hayai_options::quartiles>},
    {"list", 'l', false,
     [](command_line &line, const char *, const std::string &) {
         line.command = HAYAI_COMMAND_LIST;
         return HAYAI_OK;
     }},
    {"help", 'h', false,
     [](command_line &line, const char *, const std::string &) {
         line.command = HAYAI_COMMAND_HELP;
         return HAYAI_OK;
     }},
};

hayai_status read_environment(command_line &line)
{
    for (const flag &flag : library_flags) {
        std::string name;
        for (const char *c = flag.name; *c; c++)
            name += static_cast<char>(toupper(static_cast<unsigned char>(*c)));
        const char *value = flag.name[1] ? getenv(name.c_str()) : nullptr;
        const hayai_status status = value ? flag.read(line, name.c_str(), value) : HAYAI_OK;
        if (status != HAYAI_OK)
            return status;
    }
    return HAYAI_OK;
}

/* One word, and the next one if it is the value; `used` is the number of understood words. */
struct words {
    char **argv;
    int count, used;
};

template <class Flag>
hayai_status read_flag(command_line &line, words &words, const Flag &flag, const char *value)
{
    const std::string shown = std::string("--") + flag.name;
    words.used = 1;
    if (!value && flag.needs_value) {
        if (words.count < 2)
            return fail(HAYAI_ERROR_ARGUMENT, "%s: a value is missing", shown.c_str());
        value = words.argv[1];
        words.used = 2;
    }
    return flag.read(line, shown.c_str(), value ? value : "");
}

/* Returns whether the word is this flag, and sets `value` to the text after "name=", or to "". */
bool named(const char *word, const char *name, const char *&value)
{
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || (word[length] && word[length] != '='))
        return false;
    value = word[length] ? word + length + 1 : nullptr;
    return true;
}

hayai_status read_words(command_line &line, words &words)
{
    const char *word = words.argv[0], *value = nullptr;
    words.used = 0;
    if (word[0] != '-')
        return HAYAI_OK;
    for (const short_flag &flag : own_flags) {
        if (word[1] == '-' && named(word + 2, flag.name, value))
            return read_flag(line, words, flag, value);
        if (word[1] == flag.letter && (!word[2] || flag.needs_value))
            return read_flag(line, words, flag, word[2] ? word + 2 : nullptr);
    }
    for (const flag &flag : library_flags)
        if (word[1] == '-' && named(word + 2, flag.name, value)) {
            if (!value && flag.needs_value)
                return refuse(word, "", "a value after =");
            return read_flag(line, words, flag, value);
        }
    return HAYAI_OK;
}

hayai_status read_arguments(command_line &line, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc;) {
        words words = {argv + i, *argc - i, 0};
        const hayai_status status = read_words(line, words);
        if (status != HAYAI_OK)
            return status;
        if (words.used == 0)
            argv[kept++] = argv[i++];
        i += words.used;
    }
    if (kept < *argc) {
        argv[kept] = nullptr;
        *argc = kept;
    }
    return HAYAI_OK;
}

/* Adds --benchmark_format and --benchmark_out as ordinary outputs. */
void add_library_outputs(command_line &line)
{
    owned &kept = line.kept;
    if (kept.format_given)
        kept.outputs.push_back(keep(kept, kept.format));
    if (!kept.out.empty())
        kept.outputs.push_back(keep(kept, kept.out_format + ":" + kept.out));
    line.options.outputs = kept.outputs.data();
    line.options.output_count = kept.outputs.size();
}

} // namespace

extern "C" {

hayai_status hayai_options_parse(hayai_options *options, hayai_command *command, int *argc,
                                 char **argv)
{
    if (!options || !command || !argc || (*argc > 0 && !argv))
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_options_parse: a place for the result is missing");
    *options = {};
    *command = HAYAI_COMMAND_RUN;
    const hayai_status status = guard([&] {
        auto kept = std::make_unique<owned>();
        options->owned = kept.get();
        command_line line = {*options, *command, *kept.release()};
        hayai_status read = read_environment(line);
        if (read == HAYAI_OK)
            read = read_arguments(line, argc, argv);
        if (read == HAYAI_OK)
            add_library_outputs(line);
        if (*argc > 0)
            options->executable = argv[0];
        return read;
    });
    if (status != HAYAI_OK)
        hayai_options_release(options);
    return status;
}

void hayai_options_release(hayai_options *options)
{
    if (!options)
        return;
    delete static_cast<owned *>(options->owned);
    *options = {};
}

const char *hayai_options_help(void)
{
    return "  -o, --output FORMAT[:PATH]  report in this format, to a file or standard output; can "
           "be\n"
           "                              given several times. console, json, jsonl, tsv, junit,\n"
           "                              markdown, csv, google-json, none\n"
           "  -f, --filter REGEX          only the benchmarks that match; -REGEX: all others\n"
           "  -s, --shuffle SEED          interleave the repetitions, in an order by this seed\n"
           "  -q, --quartiles             report quartiles of the repetitions, too\n"
           "  -l, --list                  list the benchmarks and stop\n"
           "  -h, --help                  this text\n"
           "and Google Benchmark's flags, each also read from the environment, in capitals:\n"
           "  --benchmark_filter=REGEX\n"
           "  --benchmark_min_time=SECONDS[s] | ITERATIONSx\n"
           "  --benchmark_min_warmup_time=SECONDS\n"
           "  --benchmark_repetitions=COUNT\n"
           "  --benchmark_enable_random_interleaving[=true|false]\n"
           "  --benchmark_report_aggregates_only[=true|false]\n"
           "  --benchmark_display_aggregates_only[=true|false]\n"
           "  --benchmark_format=FORMAT\n"
           "  --benchmark_out=PATH\n"
           "  --benchmark_out_format=FORMAT\n"
           "  --benchmark_color=auto|true|false\n"
           "  --benchmark_counters_tabular[=true|false]\n"
           "  --benchmark_perf_counters=NAME,...\n"
           "  --benchmark_context=KEY=VALUE,...\n"
           "  --benchmark_time_unit=ns|us|ms|s\n"
           "  --benchmark_dry_run[=true|false]\n"
           "  --benchmark_list_tests[=true|false]\n"
           "  --v=LEVEL\n";
}
}

/* ---- The main of a benchmark program ----------------------------------------------------------- */

static int complain(const char *program, hayai_status status, int code)
{
    const char *message = hayai_last_message();
    fprintf(stderr, "%s: %s%s%s\n", program, hayai_status_string(status), *message ? ": " : "",
            message);
    return code;
}

static int run_suite(const char *program, const hayai_options *options, hayai_command command)
{
    hayai_suite *suite = hayai_default_suite();
    if (!suite)
        return complain(program, HAYAI_ERROR_MEMORY, 1);
    if (command == HAYAI_COMMAND_LIST) {
        const hayai_status status = hayai_suite_report_list(suite, options);
        return status == HAYAI_OK ? 0 : complain(program, status, 1);
    }
    hayai_summary summary;
    const hayai_status status = hayai_suite_run(suite, options, &summary);
    if (status != HAYAI_OK)
        return complain(program, status, status == HAYAI_ERROR_ARGUMENT ? 2 : 1);
    return summary.errors > 0;
}

extern "C" int hayai_main(int argc, char **argv)
{
    const char *program = argc > 0 && argv[0] ? argv[0] : "benchmark";
    hayai_options options;
    hayai_command command;
    const hayai_status status = hayai_options_parse(&options, &command, &argc, argv);
    if (status != HAYAI_OK)
        return complain(program, status, 2);
    int code = 0;
    if (argc > 1) {
        fprintf(stderr, "%s: unknown argument: %s; --help tells which there are\n", program,
                argv[1]);
        code = 2;
    } else if (command == HAYAI_COMMAND_HELP) {
        code = printf("%s [OPTION ...]\n%s", program, hayai_options_help()) < 0;
    } else {
        code = run_suite(program, &options, command);
    }
    hayai_options_release(&options);
    return code;
}
