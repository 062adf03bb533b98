/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: POSIX extended regular expressions whose matching takes a time with the product of their
 * size and the name's. Google Benchmark's, std::regex, overflows the stack on many brackets, and
 * tries all ways to match (a+)+$ one after the other. */
#ifndef HAYAI_FILTER_HPP
#define HAYAI_FILTER_HPP

#include <bitset>
#include <stdexcept>
#include <string>
#include <vector>

namespace hayai
{

/* What is wrong with a filter. */
struct bad_filter : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class filter
{
  public:
    /* "" and "all": every name; "-...": those that ... does not match. Throws bad_filter. */
    explicit filter(std::string text);
    bool takes(const std::string &name) const;

  private:
    enum class kind { letter, fork, begin, end, found };
    using letters = std::bitset<256>;
    struct state {
        kind what;
        size_t next, other; /* other: of a fork */
        letters set;
    };
    class parser;

    bool matches(const std::string &name) const;
    bool follow(size_t from, bool at_begin, bool at_end, std::vector<size_t> &states,
                std::vector<size_t> &marks, size_t mark) const;

    bool negative_ = false;
    size_t start_ = 0;
    std::vector<state> states_;
};

} // namespace hayai

#endif
