/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over repetitions and the complexity fit, for what Google Benchmark does not compute
 * itself: statistics with a context, and what is interleaved by hayai. The complexity is fitted
 * here too, since the library calls plain function pointers, aborts where N was not set, and reads
 * beyond an empty vector where every run of a family failed. */
#ifndef HAYAI_AGGREGATES_HPP
#define HAYAI_AGGREGATES_HPP

#include "internal.hpp"

namespace hayai
{

/* Mean, median, stddev and cv, as the library has them. */
const std::vector<statistic> &standard_statistics();

/* A benchmark's own statistics, and the quartiles where they are asked for. */
std::vector<statistic> own_statistics(const hayai_benchmark &family, bool quartiles);

/* One aggregate a statistic over the repetitions that were not skipped; none if that is fewer than
 * two. Counters are aggregated likewise. */
std::vector<run> aggregate(const std::vector<run> &repetitions,
                           const std::vector<statistic> &statistics);

/* BigO and RMS of a family's runs; none if fewer than two were not skipped. */
std::vector<run> fit_complexity(const std::vector<run> &runs, const hayai_benchmark &family);

} // namespace hayai

#endif
