/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks: reporters in C, and Google Benchmark's own reporters. */
#include "report.hpp"
#include "formats.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

using namespace hayai;
using library_reporter = benchmark::BenchmarkReporter;

/* A callback that fails without a word gets some: which one it was. */
template <class Call> hayai_status ask(const char *callback, Call call)
{
    clear_message();
    const hayai_status status = call();
    if (status != HAYAI_OK && !*hayai_last_message())
        fail(status, "a reporter's callback %s() returned: %s", callback,
             hayai_status_string(status));
    return status;
}

class c_sink : public sink
{
  public:
    explicit c_sink(const hayai_reporter &reporter) : reporter_(reporter)
    {
        file = reporter.file;
    }

    hayai_status begin(const library_reporter::Context &, const hayai_context &machine) override
    {
        if (!reporter_.context)
            return HAYAI_OK;
        return ask("context", [&] { return reporter_.context(&machine, reporter_.user); });
    }

    hayai_status report(const std::vector<run> &, const run_views &views) override
    {
        const std::vector<hayai_run> &runs = views.all();
        for (size_t i = 0; i < runs.size() && reporter_.run; i++) {
            const hayai_status status =
                ask("run", [&] { return reporter_.run(&runs[i], reporter_.user); });
            if (status != HAYAI_OK)
                return status;
        }
        if (!reporter_.report)
            return HAYAI_OK;
        return ask("report",
                   [&] { return reporter_.report(runs.data(), runs.size(), reporter_.user); });
    }

    hayai_status finish() override
    {
        if (!reporter_.finalize)
            return HAYAI_OK;
        return ask("finalize", [&] { return reporter_.finalize(reporter_.user); });
    }

    hayai_status list(const std::vector<const char *> &names) override
    {
        if (!reporter_.list)
            return HAYAI_OK;
        return ask("list",
                   [&] { return reporter_.list(names.data(), names.size(), reporter_.user); });
    }

  private:
    const hayai_reporter reporter_;
};

/* One of ours, written in C; owns what it writes to. */
class format_sink : public c_sink
{
  public:
    explicit format_sink(const hayai_reporter &reporter) : c_sink(reporter), owned_(reporter.user)
    {
    }
    ~format_sink() override
    {
        hayai_format_close(owned_);
    }

  private:
    void *const owned_;
};

/* One of Google Benchmark's. */
class library_sink : public sink
{
  public:
    library_sink(std::unique_ptr<library_reporter> reporter, std::string path, bool csv)
        : reporter_(std::move(reporter)), path_(std::move(path)), csv_(csv)
    {
        file = !path_.empty();
    }

    hayai_status open()
    {
        if (!path_.empty())
            stream_.open(path_, std::ios::trunc);
        if (!stream_)
            return fail(HAYAI_ERROR_IO, "%s: %s", path_.c_str(), strerror(errno));
        reporter_->SetOutputStream(path_.empty() ? &std::cout : &stream_);
        if (!path_.empty())
            reporter_->SetErrorStream(&stream_);
        return HAYAI_OK;
    }

    hayai_status begin(const library_reporter::Context &context, const hayai_context &) override
    {
        const plain_numbers plain;
        const bool go_on = reporter_->ReportContext(context);
        return go_on ? check() : fail(HAYAI_STOPPED, "stopped by Google Benchmark's reporter");
    }

    hayai_status report(const std::vector<run> &runs, const run_views &) override
    {
        std::vector<run> plain = runs;
        for (run &run : plain)
            version::drop_mark(run);
        if (csv_ && !same_counters(runs))
            return fail(HAYAI_ERROR_ARGUMENT,
                        "%s: CSV needs the same counters in every run; json and tsv do not",
                        runs.front().benchmark_name().c_str());
        const plain_numbers numbers;
        reporter_->ReportRuns(plain);
        return check();
    }

    hayai_status finish() override
    {
        const plain_numbers plain;
        reporter_->Finalize();
        return check();
    }

    hayai_status list(const std::vector<const char *> &names) override
    {
        std::ostream &out = reporter_->GetOutputStream();
        if (csv_)
            out << "name\n";
        for (const char *name : names) {
            std::string shown = name;
            for (size_t i = 0; csv_ && i < shown.size(); i++)
                if (shown[i] == '"')
                    shown.insert(i++, 1, '"');
            out << (csv_ ? "\"" + shown + "\"" : shown) << '\n';
        }
        return check();
    }

  private:
    hayai_status check()
    {
        std::ostream &out = reporter_->GetOutputStream();
        out.flush();
        reporter_->GetErrorStream().flush();
        return out ? HAYAI_OK
                   : fail(HAYAI_ERROR_IO, "%s: could not be written",
                          path_.empty() ? "standard output" : path_.c_str());
    }

    /* The library aborts where a later run has a counter that the header does not have. */
    bool same_counters(const std::vector<run> &runs)
    {
        std::set<std::string> names;
        for (const run &run : runs)
            for (const auto &[name, counter] : run.counters)
                if (name != "bytes_per_second" && name != "items_per_second")
                    names.insert(name);
        if (!header_)
            counters_ = names;
        header_ = true;
        return std::includes(counters_.begin(), counters_.end(), names.begin(), names.end());
    }

    std::unique_ptr<library_reporter> reporter_;
    const std::string path_;
    const bool csv_;
    bool header_ = false;
    std::set<std::string> counters_;
    std::ofstream stream_;
};

bool colored(const hayai_options &options, bool display)
{
    if (!display || options.color == HAYAI_COLOR_NEVER)
        return false;
    const char *terminal = getenv("TERM");
    return options.color == HAYAI_COLOR_ALWAYS ||
           (isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0);
}

BENCHMARK_DISABLE_DEPRECATED_WARNING
std::unique_ptr<library_reporter> library_format(const std::string &format,
                                                 const hayai_options &options, bool display)
{
    using console = benchmark::ConsoleReporter;
    if (format == "console") {
        const int color = colored(options, display) ? console::OO_Color : console::OO_None;
        const int tabular = options.counters_tabular ? console::OO_Tabular : console::OO_None;
        return std::make_unique<console>(static_cast<console::OutputOptions>(color | tabular));
    }
    if (format == "google-json")
        return std::make_unique<benchmark::JSONReporter>();
    if (format == "csv")
        return std::make_unique<benchmark::CSVReporter>();
    return nullptr;
}
BENCHMARK_RESTORE_DEPRECATED_WARNING

/* "format:path"; no path, or "-", is standard output. */
struct output {
    explicit output(const std::string &text)
    {
        const size_t colon = text.find(':');
        format = text.substr(0, colon);
        path = colon == std::string::npos ? "" : text.substr(colon + 1);
        if (path == "-")
            path.clear();
    }
    bool standard() const
    {
        return path.empty();
    }
    bool none() const
    {
        return standard() && format == "none";
    }
    std::string format, path;
};

/* The same text for the same file, whatever it is called; "" where several may write. */
std::string place_of(int found, const struct stat &status, const std::string &otherwise)
{
    struct stat null;
    if (found != 0)
        return otherwise;
    if (stat("/dev/null", &null) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == null.st_rdev)
        return "";
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string place_of(const std::string &path)
{
    struct stat status;
    const int found = stat(path.c_str(), &status);
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    char *resolved = realpath(folder.c_str(), nullptr);
    const std::string name = (resolved ? resolved : folder) + "/" +
                             path.substr(slash == std::string::npos ? 0 : slash + 1);
    free(resolved);
    return place_of(found, status, name);
}

/* What an output writes to. A document also has a file for its next version. */
std::vector<std::string> places_of(const output &output)
{
    struct stat status;
    if (output.none())
        return {};
    if (output.standard())
        return {"standard output", place_of(fstat(STDOUT_FILENO, &status), status, "")};
    if (output.format == "json" || output.format == "junit")
        return {place_of(output.path), place_of(output.path + ".part")};
    return {place_of(output.path)};
}

/* Where it leads can't be compared with other places. */
bool leads_nowhere(const std::string &path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0 && stat(path.c_str(), &status) != 0;
}

/* Each would overwrite what the other one writes. */
hayai_status check_places(const std::vector<output> &outputs)
{
    std::map<std::string, size_t> taken;
    for (size_t i = 0; i < outputs.size(); i++) {
        if (!outputs[i].standard() && leads_nowhere(outputs[i].path))
            return fail(HAYAI_ERROR_IO, "%s: a link to a file that does not exist",
                        outputs[i].path.c_str());
        for (const std::string &place : places_of(outputs[i])) {
            const auto added = taken.emplace(place, i);
            if (place.empty() || added.second || added.first->second == i)
                continue;
            const output &other = outputs[added.first->second];
            return fail(HAYAI_ERROR_ARGUMENT, "outputs %s and %s: both write to %s",
                        other.format.c_str(), outputs[i].format.c_str(),
                        outputs[i].standard() ? "standard output" : outputs[i].path.c_str());
        }
    }
    return HAYAI_OK;
}

hayai_status open_sink(const output &output, const hayai_options &options, sinks &opened)
{
    if (output.none())
        return HAYAI_OK;
    const std::string &path = output.path;
    if (auto made = library_format(output.format, options, output.standard())) {
        auto sink = std::make_unique<library_sink>(std::move(made), path, output.format == "csv");
        const hayai_status status = sink->open();
        if (status == HAYAI_OK)
            opened.push_back(std::move(sink));
        return status;
    }
    hayai_reporter reporter = {};
    const hayai_status status = hayai_format_open(
        output.format.c_str(), output.standard() ? nullptr : path.c_str(), &reporter);
    if (status == HAYAI_OK)
        opened.push_back(std::make_unique<format_sink>(reporter));
    return status;
}

/* The caller's structs may be larger than ours. */
hayai_status add_reporters(const hayai_options &options, sinks &opened)
{
    if (options.reporter_count == 0)
        return HAYAI_OK;
    const size_t given = options.reporters->struct_size;
    const size_t size = given ? given : sizeof(hayai_reporter);
    const char *bytes = reinterpret_cast<const char *>(options.reporters);
    for (size_t i = 0; i < options.reporter_count; i++) {
        hayai_reporter own = {};
        const auto *reporter = reinterpret_cast<const hayai_reporter *>(bytes + i * size);
        const hayai_status status = adopt("hayai_reporter", *reporter, own);
        if (status != HAYAI_OK)
            return status;
        if (own.struct_size != given)
            return fail(HAYAI_ERROR_ARGUMENT, "reporters: struct_size %zu and %zu in one array",
                        given, own.struct_size);
        opened.push_back(std::make_unique<c_sink>(own));
    }
    return HAYAI_OK;
}

} // namespace

hayai_status hayai::open_sinks(const hayai_options &options, sinks &opened, bool to_list)
{
    std::vector<output> outputs(options.outputs, options.outputs + options.output_count);
    for (output &one : outputs)
        if (to_list && one.format == "google-json")
            one.format = "json";
    const bool display = std::any_of(outputs.begin(), outputs.end(),
                                     [](const output &one) { return one.standard(); });
    if (!display && options.reporter_count == 0)
        outputs.emplace_back("console");
    hayai_status status = check_places(outputs);
    for (size_t i = 0; i < outputs.size() && status == HAYAI_OK; i++)
        status = open_sink(outputs[i], options, opened);
    return status == HAYAI_OK ? add_reporters(options, opened) : status;
}
