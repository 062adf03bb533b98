/* What a kernel looks like, on every chart of every run: from its name alone, so that no other
 * kernel of the run has a say in it.
 *
 * A hue for what its statistics are: Okabe and Ito's palette, then Tol's muted one, whose hues
 * colour-blind readers tell apart. A shade and a mark for how it walks and applies, so that
 * kernels of the same statistics differ in two ways. A dash for its ISA. Other libraries' kernels
 * are grey, each library with a grey and a mark of its own. */
#include "report_parts.h"
#include "hash.h"
#include <math.h>
#include <string.h>

static const struct {
    const char *statistics;
    unsigned colour;
} hues[] = {
    {"shifted", 0xD55E00}, {"two_pass", 0x0072B2},     {"welford", 0x009E73},
    {"naive", 0xCC79A7},   {"corrected", 0xE69F00},    {"scaled", 0x56B4E9},
    {"clamped", 0x8A7A00}, {"pairwise", 0x332288},     {"compensated", 0x882255},
    {"chunked", 0x44AA99}, {"reproducible", 0x7B4B2A}, {"checked", 0xCC6677},
    {"roof", 0x000000},
};

/* For statistics that nobody foresaw. */
static const unsigned spare_hues[] = {0x117733, 0xAA4499, 0xB89A2E, 0x5566CC, 0x6B8E23, 0x999933};

static const struct {
    const char *library;
    unsigned colour;
    int mark;
} peers[] = {
    {"onednn", 0x000000, MARK_PENTAGON}, {"pytorch", 0x5E5E5E, MARK_DOWN},
    {"torch", 0x5E5E5E, MARK_UP},        {"xnnpack", 0x8C8C8C, MARK_SQUARE},
    {"ggml", 0x8C8C8C, MARK_DIAMOND},    {"openvino", 0x3C3C3C, MARK_CIRCLE},
    {"mkl", 0x3C3C3C, MARK_DIAMOND},     {"ort", 0x8C8C8C, MARK_UP},
};

/* The first that the name has decides. Shade: below 1 darker, above 1 lighter. */
static const struct {
    const char *part;
    int mark;
    double shade;
} variants[] = {
    {"_u1", MARK_DIAMOND, 1.3},
    {"_blocked_nt", MARK_PENTAGON, 0.5},
    {"_blocked", MARK_DIAMOND, 1.4},
    {"_transposed_nt", MARK_DIAMOND, 0.5},
    {"_abreast_bf16_param", MARK_DIAMOND, 1.3},
    {"_abreast_nt", MARK_SQUARE, 0.5},
    {"_abreast", MARK_CIRCLE, 0.75},
    {"_ranks", MARK_UP, 1.2},
    {"_nt", MARK_DOWN, 0.6},
    {"_pipelined", MARK_UP, 0.75},
    {"_ahead", MARK_UP, 0.8},
    {"_transposed", MARK_SQUARE, 0.55},
    {"_paired", MARK_SQUARE, 0.85},
    {"_wide", MARK_DIAMOND, 0.65},
    {"_split", MARK_UP, 1.25},
    {"_offset", MARK_UP, 0.75},
    {"_param_f32", MARK_UP, 1.25},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static unsigned channel(unsigned colour, int shift, double shade)
{
    double value = colour >> shift & 0xff;
    value = shade <= 1 ? value * shade : 255 - (255 - value) * (2 - shade);
    return (unsigned)(value + 0.5) << shift;
}

static unsigned shaded(unsigned colour, double shade)
{
    return channel(colour, 16, shade) | channel(colour, 8, shade) | channel(colour, 0, shade);
}

/* Relative luminance, WCAG 2.1. */
static double luminance(unsigned colour)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double value = (colour >> 8 * i & 0xff) / 255.0;
        sum += weights[i] * (value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double palette_contrast(unsigned colour)
{
    return 1.05 / (luminance(colour) + 0.05);
}

/* Dark enough to be seen as a line (3 to 1 on white), and to be read (4.5 to 1). */
static unsigned darkened(unsigned colour, double contrast)
{
    while (palette_contrast(colour) < contrast)
        colour = shaded(colour, 0.96);
    return colour;
}

/* "two_pass" begins "two_pass_f32_avx2", but "two" does not. */
static bool begins(const char *name, const char *word)
{
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == '_' || name[length] == '\0');
}

const char *palette_peer(const char *name)
{
    for (size_t i = 0; i < COUNT(peers); i++)
        if (begins(name, peers[i].library))
            return peers[i].library;
    return NULL;
}

static unsigned hue_of(const char *name, const char *statistics)
{
    for (size_t i = 0; i < COUNT(hues); i++)
        if (strcmp(statistics, hues[i].statistics) == 0)
            return hues[i].colour;
    for (size_t i = 0; i < COUNT(hues) && !statistics[0]; i++)
        if (begins(name, hues[i].statistics))
            return hues[i].colour;
    const char *word = statistics[0] ? statistics : name;
    return spare_hues[hash_bytes(HASH_START, word, strlen(word)) % COUNT(spare_hues)];
}

/* What a name says besides type, ISA and statistics, where the table of variants does not know it:
 * "striped" of two_pass_striped_f32_avx2. Its first letter's place, or NULL. */
static const char *unknown_part(const char *name, const char *statistics, size_t *length)
{
    static const char *const known[] = {"f32",    "f64",    "bf16",       "f16",   "acc",
                                        "param",  "scalar", "neon",       "avx2",  "avx512",
                                        "direct", "plain",  "avx512bf16", "fused", "u1"};
    for (const char *at = name; *at; at += *length + (at[*length] == '_')) {
        *length = strcspn(at, "_");
        bool is_known = *length == 0 || strstr(statistics, at) == at;
        for (size_t i = 0; i < COUNT(known) && !is_known; i++)
            is_known = strlen(known[i]) == *length && strncmp(at, known[i], *length) == 0;
        for (const char *word = statistics; *word && !is_known;) {
            size_t its = strcspn(word, "_");
            is_known = its == *length && strncmp(at, word, its) == 0;
            word += its + (word[its] == '_');
        }
        if (!is_known)
            return at;
    }
    return NULL;
}

/* A mark and a shade for a part that nobody foresaw. */
static void look_unknown(const char *part, size_t length, int *mark, double *shade)
{
    static const int marks[] = {MARK_SQUARE, MARK_UP, MARK_DOWN, MARK_DIAMOND, MARK_PENTAGON};
    static const double shades[] = {0.6, 0.8, 1.3};
    uint64_t hash = hash_bytes(HASH_START, part, length);
    *mark = marks[hash % COUNT(marks)];
    *shade = shades[hash / COUNT(marks) % COUNT(shades)];
}

static int dash_of(const char *isa)
{
    return strcmp(isa, "scalar") == 0    ? 3
           : strcmp(isa, "avx2") == 0    ? 2
           : strcmp(isa, "copy_nt") == 0 ? 4
                                         : 1;
}

palette_look palette_of(const char *name, const char *statistics, const char *isa)
{
    palette_look look = {.mark = MARK_CIRCLE, .dash = dash_of(isa)};
    double shade = 1;
    for (size_t i = COUNT(peers); i-- > 0;)
        if (begins(name, peers[i].library)) {
            look.colour = look.ink = peers[i].colour;
            look.mark = peers[i].mark;
            return look;
        }
    size_t length, variant = 0;
    while (variant < COUNT(variants) && !strstr(name, variants[variant].part))
        variant++;
    const char *unknown = statistics[0] ? unknown_part(name, statistics, &length) : NULL;
    if (variant < COUNT(variants)) {
        look.mark = variants[variant].mark;
        shade = variants[variant].shade;
    } else if (unknown && strcmp(statistics, "roof") != 0) {
        look_unknown(unknown, length, &look.mark, &shade);
    }
    unsigned colour = shaded(hue_of(name, statistics), strcmp(statistics, "roof") == 0 ? 1 : shade);
    look.colour = darkened(colour, 2);
    look.ink = darkened(colour, 4.5);
    return look;
}

void palette_heading(text *out)
{
    text_add(out, "kernel\tstatistics\tisa\tcolour\tink\tmark\topen_mark\tdash\n");
}

void palette_put(text *out, const char *name, const char *statistics, const char *isa,
                 const palette_look *look)
{
    tsv_text(out, name);
    tsv_text(out, statistics);
    tsv_text(out, isa);
    tsv_number(out, look->colour);
    tsv_number(out, look->ink);
    tsv_number(out, look->mark);
    tsv_number(out, look->mark - 1); /* gnuplot's open marks come before the full ones */
    tsv_number(out, look->dash);
    tsv_end(out);
}

void palette_line(text *out, const char *name, const char *statistics, const char *isa)
{
    palette_look look = palette_of(name, statistics, isa);
    palette_put(out, name, statistics, isa, &look);
}
