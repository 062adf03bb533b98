/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions by Thompson's construction and simulation: Programming Techniques: Regular
 * expression search algorithm, CACM 11 (1968). */
#include "internal.hpp"
#include <cctype>
#include <cstring>

namespace
{
constexpr size_t most_letters = 4096, most_depth = 100, most_signs = 10, most_states = 20000;
constexpr int most_times = 255, no_end = -1; /* RE_DUP_MAX of POSIX */
} // namespace

/* Reads the expression from left to right into a tree, and makes its states from right to left. */
class hayai::filter::parser
{
  public:
    parser(const std::string &text, std::vector<state> &states) : text_(text), states_(states)
    {
    }
    size_t parse()
    {
        const node tree = choice(0);
        if (at_ < text_.size())
            throw bad_filter("unmatched )");
        return build(tree, add({kind::found, 0, 0, {}}));
    }

  private:
    struct node {
        enum { one, sequence, choice, repeat } what = sequence;
        kind state = kind::letter; /* of a `one` */
        letters set;
        std::vector<node> parts;
        int least = 0, most = 0;
    };

    bool is_at(char letter) const
    {
        return at_ < text_.size() && text_[at_] == letter;
    }
    bool skip(char letter)
    {
        const bool here = is_at(letter);
        at_ += here;
        return here;
    }
    char take(const char *missing)
    {
        if (at_ == text_.size())
            throw bad_filter(missing);
        return text_[at_++];
    }

    node choice(size_t depth)
    {
        if (depth > most_depth)
            throw bad_filter("brackets nested more than " + std::to_string(most_depth) + " deep");
        node made;
        made.what = node::choice;
        do {
            node branch;
            while (at_ < text_.size() && !is_at('|') && !is_at(')'))
                branch.parts.push_back(piece(depth));
            made.parts.push_back(std::move(branch));
        } while (skip('|'));
        return made;
    }

    node piece(size_t depth)
    {
        node made = atom(depth);
        size_t signs = 0;
        while (at_ < text_.size() && std::strchr("*+?{", text_[at_])) {
            node outer;
            outer.what = node::repeat;
            times(outer);
            outer.parts.push_back(std::move(made));
            if (++signs > most_signs)
                throw bad_filter("more than " + std::to_string(most_signs) +
                                 " signs of repetition in a row");
            made = std::move(outer);
        }
        return made;
    }

    void times(node &made)
    {
        const char sign = text_[at_++];
        made.least = sign == '+';
        made.most = sign == '?' ? 1 : no_end;
        if (sign != '{')
            return;
        made.least = made.most = number();
        if (skip(','))
            made.most = is_at('}') ? no_end : number();
        if (!skip('}') || (made.most != no_end && made.most < made.least))
            throw bad_filter("a repetition that is no {m}, {m,} or {m,n}");
    }

    int number()
    {
        int made = 0;
        const size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++)
            if ((made = 10 * made + (text_[at_] - '0')) > most_times)
                throw bad_filter("a repetition of more than " + std::to_string(most_times));
        if (at_ == begin)
            throw bad_filter("a repetition that is no {m}, {m,} or {m,n}");
        return made;
    }

    node atom(size_t depth)
    {
        const char letter = take("");
        node made;
        if (letter == '(') {
            made = choice(depth + 1);
            if (!skip(')'))
                throw bad_filter("unmatched (");
            return made;
        }
        if (std::strchr("*+?{", letter))
            throw bad_filter(std::string("nothing before ") + letter + " to repeat");
        made.what = node::one;
        made.state = letter == '^' ? kind::begin : letter == '$' ? kind::end : kind::letter;
        if (letter == '[')
            made.set = bracket();
        else if (letter == '.')
            made.set.set();
        else
            made.set.set(static_cast<unsigned char>(letter == '\\' ? escaped() : letter));
        return made;
    }

    char escaped()
    {
        const char letter = take("\\ at the end");
        if (letter >= '1' && letter <= '9')
            throw bad_filter("back-references are not supported");
        return letter;
    }

    letters bracket()
    {
        static const char unmatched[] = "unmatched [";
        letters made;
        const bool others = skip('^');
        for (bool first = true; first || !is_at(']'); first = false) {
            const char from = take(unmatched);
            if (from == '[' && (is_at(':') || is_at('.') || is_at('='))) {
                made |= named(text_[at_]);
                continue;
            }
            char to = from;
            if (is_at('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
                at_++;
                to = take(unmatched);
            }
            const auto low = static_cast<unsigned char>(from),
                       high = static_cast<unsigned char>(to);
            if (low > high)
                throw bad_filter("a range in [] that ends before it begins");
            for (size_t letter = low; letter <= high; letter++)
                made.set(letter);
        }
        at_++;
        return others ? ~made : made;
    }

    /* Reads [:class:], and [.x.] and [=x=], which both mean x here. */
    letters named(char sign)
    {
        static const struct {
            const char *name;
            int (*has)(int);
        } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
                       {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                       {"lower", islower}, {"print", isprint}, {"punct", ispunct},
                       {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
        const size_t end = text_.find(std::string{sign, ']'}, at_ + 1);
        if (end == std::string::npos)
            throw bad_filter("unmatched [");
        const std::string name = text_.substr(at_ + 1, end - at_ - 1);
        letters made;
        at_ = end + 2;
        if (sign != ':' && name.size() == 1)
            made.set(static_cast<unsigned char>(name[0]));
        for (const auto &one : classes)
            for (int letter = 0; sign == ':' && name == one.name && letter < 128; letter++)
                made[static_cast<size_t>(letter)] = one.has(letter) != 0;
        if (made.none())
            throw bad_filter("[" + std::string{sign} + name + sign + "] is no class of letters");
        return made;
    }

    size_t add(state made)
    {
        if (states_.size() == most_states)
            throw bad_filter("its repetitions are too many");
        states_.push_back(std::move(made));
        return states_.size() - 1;
    }

    /* Returns the first state of this part; `next` is the state after it. */
    size_t build(const node &part, size_t next)
    {
        if (part.what == node::one)
            return add({part.state, next, 0, part.set});
        if (part.what == node::sequence) {
            for (auto one = part.parts.rbegin(); one != part.parts.rend(); ++one)
                next = build(*one, next);
            return next;
        }
        if (part.what == node::repeat)
            return build_repeat(part, next);
        size_t made = build(part.parts.back(), next);
        for (size_t i = part.parts.size() - 1; i-- > 0;)
            made = add({kind::fork, build(part.parts[i], next), made, {}});
        return made;
    }

    /* Builds a repetition. Each repeat needs a state, even of an empty body. */
    size_t build_repeat(const node &part, size_t next)
    {
        const node &body = part.parts.front();
        const size_t end = next;
        if (part.most == no_end) {
            const size_t loop = add({kind::fork, 0, end, {}});
            const size_t inside = build(body, loop);
            states_[loop].next = inside;
            next = loop;
        }
        for (int i = part.least; i < part.most; i++)
            next = add({kind::fork, build(body, next), end, {}});
        for (int i = 0; i < part.least; i++) {
            const size_t inside = build(body, next);
            next = add({kind::fork, inside, inside, {}});
        }
        return next;
    }

    const std::string &text_;
    std::vector<state> &states_;
    size_t at_ = 0;
};

hayai::filter::filter(std::string text)
{
    if (text.size() > most_letters)
        throw bad_filter("longer than " + std::to_string(most_letters) + " letters");
    negative_ = !text.empty() && text[0] == '-';
    text.erase(0, text == "all" ? text.size() : negative_);
    start_ = parser(text, states_).parse();
}

bool hayai::filter::takes(const std::string &name) const
{
    return matches(name) != negative_;
}

/* Adds the states reached without a character; returns whether the match is complete. */
bool hayai::filter::follow(size_t from, bool at_begin, bool at_end, std::vector<size_t> &states,
                           std::vector<size_t> &marks, size_t mark) const
{
    std::vector<size_t> open = {from};
    while (!open.empty()) {
        const size_t here = open.back();
        open.pop_back();
        if (marks[here] == mark)
            continue;
        marks[here] = mark;
        const state &reached = states_[here];
        if (reached.what == kind::found)
            return true;
        if (reached.what == kind::letter)
            states.push_back(here);
        else if (reached.what == kind::fork || (reached.what == kind::begin && at_begin) ||
                 (reached.what == kind::end && at_end))
            open.push_back(reached.next);
        if (reached.what == kind::fork)
            open.push_back(reached.other);
    }
    return false;
}

bool hayai::filter::matches(const std::string &name) const
{
    std::vector<size_t> now, next, marks(states_.size(), 0);
    for (size_t at = 0; at <= name.size(); at++) {
        const bool at_end = at == name.size();
        if (follow(start_, at == 0, at_end, now, marks, at + 1))
            return true;
        next.clear();
        for (const size_t one : now)
            if (!at_end && states_[one].set[static_cast<unsigned char>(name[at])] &&
                follow(states_[one].next, false, at + 1 == name.size(), next, marks, at + 2))
                return true;
        now.swap(next);
    }
    return false;
}
