/* From Google Benchmark's reports to ours: one reporter that the library sees, which mends what it
 * gets, adds what the library does not compute, and hands everything to any number of sinks. */
#ifndef HAYAI_REPORT_HPP
#define HAYAI_REPORT_HPP

#include "internal.hpp"
#include <deque>

namespace hayai
{

/* Runs as C sees them. Valid as long as the runs that it was made of, and as itself. */
class run_views
{
  public:
    explicit run_views(const std::vector<run> &runs);
    const std::vector<hayai_run> &all() const
    {
        return views_;
    }

  private:
    const char *keep(std::string text);
    hayai_run view(const run &run);
    std::deque<std::string> texts_;
    std::deque<std::vector<hayai_counter_value>> counters_;
    std::deque<hayai_memory> memories_;
    std::vector<hayai_run> views_;
};

/* Where reports go. */
class sink
{
  public:
    virtual ~sink() = default;
    virtual hayai_status begin(const benchmark::BenchmarkReporter::Context &library,
                               const hayai_context &machine) = 0;
    virtual hayai_status report(const std::vector<run> &runs, const run_views &views) = 0;
    virtual hayai_status finish() = 0;
    bool file = false; /* or standard output: "display" */
};

/* A reporter in C (sinks.cpp). */
std::unique_ptr<sink> make_sink(const hayai_reporter &reporter);

/* An output: "format:path" or "format" (sinks.cpp). */
hayai_status open_sink(const std::string &output, const hayai_options &options,
                       std::vector<std::unique_ptr<sink>> &sinks);

/* Whether an output goes to standard output; "none" does, too. */
bool to_standard_output(const std::string &output);

/* Thrown through the library, which has no other way to be stopped. */
struct stop {
    hayai_status status;
};

class reporter : public benchmark::BenchmarkReporter
{
  public:
    reporter(const instances &all, const hayai_options &options,
             std::vector<std::unique_ptr<sink>> &sinks);

    bool ReportContext(const Context &context) override;
    void ReportRuns(const std::vector<Run> &reports) override;

    /* The same for one repetition of an instance; aggregates follow with complete(). */
    void single(const instance &instance, Run run);
    void complete(const instance &instance, const std::vector<Run> &repetitions);

    /* Ends all sinks that were begun; the first failure, or OK. */
    hayai_status close();
    hayai_summary summary() const
    {
        return summary_;
    }

  private:
    void mend(const instance &instance, Run &run) const;
    void repetitions(const instance &instance, std::vector<Run> runs);
    void finish_family(const instance &instance);
    void send(const std::vector<Run> &runs, bool display, bool files);
    bool only_aggregates(const instance &instance, bool files) const;

    const instances &all_;
    const hayai_options &options_;
    std::vector<std::unique_ptr<sink>> &sinks_;
    size_t begun_ = 0;
    std::ostringstream out_, err_; /* what the library says besides */
    std::vector<Run> last_;        /* the repetitions whose aggregates come next */
    struct family_progress {
        size_t left = 0; /* instances that are not reported yet */
        std::vector<Run> runs;
    };
    std::map<const hayai_benchmark *, family_progress> families_;
    hayai_summary summary_ = {};
};

} // namespace hayai

#endif
