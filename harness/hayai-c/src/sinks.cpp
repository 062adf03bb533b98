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
#include <unistd.h>

namespace
{

using namespace hayai;
using library_reporter = benchmark::BenchmarkReporter;

class c_sink : public sink
{
  public:
    explicit c_sink(const hayai_reporter &reporter) : reporter_(reporter)
    {
        file = reporter.file;
    }

    hayai_status begin(const library_reporter::Context &, const hayai_context &machine) override
    {
        return reporter_.context ? reporter_.context(&machine, reporter_.user) : HAYAI_OK;
    }

    hayai_status report(const std::vector<run> &, const run_views &views) override
    {
        const std::vector<hayai_run> &runs = views.all();
        for (const hayai_run &run : runs) {
            const hayai_status status =
                reporter_.run ? reporter_.run(&run, reporter_.user) : HAYAI_OK;
            if (status != HAYAI_OK)
                return status;
        }
        return reporter_.report ? reporter_.report(runs.data(), runs.size(), reporter_.user)
                                : HAYAI_OK;
    }

    hayai_status finish() override
    {
        return reporter_.finalize ? reporter_.finalize(reporter_.user) : HAYAI_OK;
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
        const bool go_on = reporter_->ReportContext(context);
        return go_on ? check() : fail(HAYAI_STOPPED, "stopped by a reporter");
    }

    hayai_status report(const std::vector<run> &runs, const run_views &) override
    {
        std::vector<run> plain = runs;
        for (run &run : plain)
            version::drop_mark(run, 0);
        if (csv_ && !same_counters(runs))
            return fail(HAYAI_ERROR_ARGUMENT,
                        "%s: CSV needs the same counters in every run; json and tsv do not",
                        runs.front().benchmark_name().c_str());
        reporter_->ReportRuns(plain);
        return check();
    }

    hayai_status finish() override
    {
        reporter_->Finalize();
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
void split(const std::string &output, std::string &format, std::string &path)
{
    const size_t colon = output.find(':');
    format = output.substr(0, colon);
    path = colon == std::string::npos ? "" : output.substr(colon + 1);
    if (path == "-")
        path.clear();
}

} // namespace

std::unique_ptr<sink> hayai::make_sink(const hayai_reporter &reporter)
{
    return std::make_unique<c_sink>(reporter);
}

bool hayai::to_standard_output(const std::string &output)
{
    std::string format, path;
    split(output, format, path);
    return path.empty();
}

hayai_status hayai::open_sink(const std::string &output, const hayai_options &options,
                              std::vector<std::unique_ptr<sink>> &sinks)
{
    std::string format, path;
    split(output, format, path);
    if (format == "none" && path.empty())
        return HAYAI_OK;
    if (auto made = library_format(format, options, path.empty())) {
        auto sink = std::make_unique<library_sink>(std::move(made), path, format == "csv");
        const hayai_status status = sink->open();
        if (status == HAYAI_OK)
            sinks.push_back(std::move(sink));
        return status;
    }
    hayai_reporter reporter = {};
    const hayai_status status =
        hayai_format_open(format.c_str(), path.empty() ? nullptr : path.c_str(), &reporter);
    if (status == HAYAI_OK)
        sinks.push_back(std::make_unique<format_sink>(reporter));
    return status;
}
