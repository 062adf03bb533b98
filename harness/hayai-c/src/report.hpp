/* SPDX-License-Identifier: Apache-2.0 */
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

/* Where reports go. A failure has its message. */
class sink
{
  public:
    virtual ~sink() = default;
    virtual hayai_status begin(const benchmark::BenchmarkReporter::Context &library,
                               const hayai_context &machine) = 0;
    virtual hayai_status report(const std::vector<run> &runs, const run_views &views) = 0;
    virtual hayai_status finish() = 0;
    virtual hayai_status list(const std::vector<const char *> &names) = 0;
    bool file = false; /* or standard output: "display" */
};

/* Outputs and reporters of a run (sinks.cpp). Two outputs never share a place. */
using sinks = std::vector<std::unique_ptr<sink>>;
hayai_status open_sinks(const hayai_options &options, sinks &opened, bool to_list);

/* Thrown through the library, which has no other way to be stopped. */
struct stop {
    hayai_status status;
    std::string message;
};

class reporter : public benchmark::BenchmarkReporter
{
  public:
    reporter(const instances &all, const hayai_options &options, hayai::sinks &sinks);

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
    const instance &reported(const Run &run) const;
    void send(const std::vector<Run> &runs, bool display, bool files);
    bool only_aggregates(const instance &instance, bool files) const;

    const instances &all_;
    std::vector<size_t> first_; /* of each family that is registered, in all_ */
    const hayai_options &options_;
    hayai::sinks &sinks_;
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
