#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double scaled(double value, double low, double high, bool logarithmic)
{
    if (logarithmic)
        return (log(value) - log(low)) / (log(high) - log(low));
    return (value - low) / (high - low);
}

double frame_x(const chart_frame *frame, double x)
{
    return frame->left +
           (frame->right - frame->left) * scaled(x, frame->x_min, frame->x_max, frame->x_log);
}

double frame_y(const chart_frame *frame, double y)
{
    return frame->bottom +
           (frame->top - frame->bottom) * scaled(y, frame->y_min, frame->y_max, frame->y_log);
}

/* Widths of the printable ASCII characters, in thousandths of the size of the font: Helvetica's, as
 * in Adobe's Core 14 font metrics, which Arial and Liberation Sans share. */
static const unsigned short helvetica[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

double layout_text_width(const char *string)
{
    double width = 0;
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        width += byte >= 0x20 && byte < 0x7f ? helvetica[byte - 0x20] : 600;
    }
    return width * 0.012 * 1.04; /* hinting and rounding add a little */
}

/* Isotonic regression (pool adjacent violators; Barlow et al., 1972) of position - i * gap gives
 * the least-squares positions with gaps of at least `gap`; clamping it keeps the optimum. */
bool layout_spread(double *positions, size_t count, double gap, double low, double high)
{
    double *mean = calloc(count + 1, sizeof *mean);
    size_t *members = calloc(count + 1, sizeof *members);
    bool fine = mean && members;
    size_t pools = 0;
    for (size_t i = 0; fine && i < count; i++) {
        mean[pools] = positions[i] - (double)i * gap;
        members[pools++] = 1;
        while (pools > 1 && mean[pools - 2] > mean[pools - 1]) {
            size_t both = members[pools - 2] + members[pools - 1];
            mean[pools - 2] = (mean[pools - 2] * (double)members[pools - 2] +
                               mean[pools - 1] * (double)members[pools - 1]) /
                              (double)both;
            members[pools - 2] = both;
            pools--;
        }
    }
    double top = high - (double)(count ? count - 1 : 0) * gap;
    for (size_t pool = 0, i = 0; fine && pool < pools; pool++)
        for (size_t member = 0; member < members[pool]; member++, i++)
            positions[i] = fmax(low, fmin(top, mean[pool])) + (double)i * gap;
    free(mean);
    free(members);
    return fine;
}

static double overlap(double a_low, double a_high, double b_low, double b_high)
{
    return fmax(0, fmin(a_high, b_high) - fmax(a_low, b_low));
}

static double box_overlap(const label_box *a, const label_box *b, double margin)
{
    return overlap(a->left - margin, a->left + a->width + margin, b->left, b->left + b->width) *
           overlap(a->top - margin, a->top + a->height + margin, b->top, b->top + b->height);
}

static bool box_holds(const label_box *box, double x, double y, double margin)
{
    return x > box->left - margin && x < box->left + box->width + margin && y > box->top - margin &&
           y < box->top + box->height + margin;
}

/* Where the line from a point to its label ends: the nearest point of the box. */
static void leader_end(const label_box *box, double *x, double *y)
{
    *x = fmax(box->left, fmin(box->left + box->width, box->x));
    *y = fmax(box->top, fmin(box->top + box->height, box->y));
}

static bool leader_crosses(const label_box *line, const label_box *box)
{
    double x, y;
    leader_end(line, &x, &y);
    for (int step = 1; step < 20; step++) {
        double part = step / 20.0;
        if (box_holds(box, line->x + (x - line->x) * part, line->y + (y - line->y) * part, 1))
            return true;
    }
    return false;
}

/* Lines are upright or level. */
static bool line_crosses(const chart_line *line, const label_box *box)
{
    return fmax(line->x0, line->x1) > box->left - 2 &&
           fmin(line->x0, line->x1) < box->left + box->width + 2 &&
           fmax(line->y0, line->y1) > box->top - 1 &&
           fmin(line->y0, line->y1) < box->top + box->height + 1;
}

static double distance_to(const label_box *box, double x, double y)
{
    double nearest_x = fmax(box->left, fmin(box->left + box->width, x));
    double nearest_y = fmax(box->top, fmin(box->top + box->height, y));
    return hypot(nearest_x - x, nearest_y - y);
}

/* How near the line from a label to its point comes to another point. */
static double leader_distance(const label_box *box, double x, double y)
{
    double end_x, end_y;
    leader_end(box, &end_x, &end_y);
    double along_x = end_x - box->x, along_y = end_y - box->y;
    double length = along_x * along_x + along_y * along_y;
    double part = length > 0 ? ((x - box->x) * along_x + (y - box->y) * along_y) / length : 0;
    part = fmax(0, fmin(1, part));
    return hypot(box->x + part * along_x - x, box->y + part * along_y - y);
}

/* A label must not be taken for that of another point: it stands on none, its line passes none, and
 * none is nearer to it than its own. */
static double confusion(const label_box *box, const label_box *other)
{
    double cost = box_holds(box, other->x, other->y, 5) ? 1500 : 0;
    if (hypot(other->x - box->x, other->y - box->y) > 6 &&
        leader_distance(box, other->x, other->y) < 6)
        cost += 800;
    double own = distance_to(box, box->x, box->y), foreign = distance_to(box, other->x, other->y);
    if (foreign < own + 4)
        cost += 150 + 5 * (own + 4 - foreign);
    return cost;
}

static double placement_cost(const label_box *labels, size_t count, size_t which, size_t placed,
                             const chart_line *lines, size_t line_count)
{
    const label_box *box = &labels[which];
    double cost = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == which) {
            cost += box_holds(box, box->x, box->y, 4) ? 1500 : 0;
            continue;
        }
        cost += confusion(box, &labels[i]);
        if (i >= placed)
            continue;
        double common = box_overlap(box, &labels[i], 2);
        cost += common > 0 ? 5000 + common : 0;
        cost += leader_crosses(box, &labels[i]) ? 700 : 0;
        cost += leader_crosses(&labels[i], box) ? 700 : 0;
    }
    for (size_t i = 0; i < line_count; i++)
        cost += line_crosses(&lines[i], box) ? 120 : 0;
    double x, y;
    leader_end(box, &x, &y);
    double distance = hypot(x - box->x, y - box->y);
    /* To the right is where readers look first. */
    return cost + 2 * distance + (box->left < box->x ? 6 : 0);
}

/* Returns whether the label went somewhere else than it was. */
static bool place_one(label_box *labels, size_t count, size_t which, size_t placed,
                      const chart_frame *frame, const chart_line *lines, size_t line_count)
{
    label_box *box = &labels[which];
    double best = INFINITY, left = box->left, top = box->top, best_left = left, best_top = top;
    for (double radius = 8; radius < 320; radius *= 1.3) {
        for (int angle = 0; angle < 32; angle++) {
            double turn = angle * 2 * acos(-1) / 32;
            double x = box->x + radius * cos(turn), y = box->y - radius * sin(turn);
            box->left = x + (cos(turn) - 1) / 2 * box->width;
            box->top = y - (1 + sin(turn)) / 2 * box->height;
            if (box->left < frame->left + 3 || box->left + box->width > frame->right - 3 ||
                box->top < frame->top + 3 || box->top + box->height > frame->bottom - 3)
                continue;
            double cost = placement_cost(labels, count, which, placed, lines, line_count);
            if (cost < best) {
                best = cost;
                best_left = box->left;
                best_top = box->top;
            }
        }
    }
    box->left = best_left;
    box->top = best_top;
    return best_left != left || best_top != top;
}

void layout_place(label_box *labels, size_t count, const chart_frame *frame,
                  const chart_line *lines, size_t line_count)
{
    for (size_t i = 0; i < count; i++) {
        labels[i].left = frame->left + 3;
        labels[i].top = frame->top + 3;
    }
    for (size_t i = 0; i < count; i++)
        place_one(labels, count, i, i, frame, lines, line_count);
    bool moved = true;
    for (int round = 0; round < 6 && moved; round++) {
        moved = false;
        for (size_t i = 0; i < count; i++)
            moved = place_one(labels, count, i, count, frame, lines, line_count) || moved;
    }
}

size_t layout_overlaps(const label_box *labels, size_t count)
{
    size_t overlaps = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            overlaps += j > i && box_overlap(&labels[i], &labels[j], 0) > 0;
            overlaps += box_holds(&labels[i], labels[j].x, labels[j].y, 0);
        }
    return overlaps;
}

double layout_round_up(double value)
{
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double unit = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * unit >= value)
            return steps[i] * unit;
    return 10 * unit;
}

size_t layout_log_ticks(double low, double high, double *ticks, size_t most)
{
    double decades = log10(high / low);
    int every = decades > 14 ? 4 : decades > 7 ? 2 : 1;
    size_t count = 0;
    for (int exponent = (int)floor(log10(low)); exponent <= (int)ceil(log10(high)); exponent++) {
        static const double fine[] = {1, 2, 5};
        size_t steps = decades <= 2.6 ? 3 : 1;
        for (size_t i = 0; i < steps; i++) {
            double tick = fine[i] * pow(10, exponent);
            bool wanted = exponent % every == 0;
            if (wanted && tick >= low * 0.999 && tick <= high * 1.001 && count < most)
                ticks[count++] = tick;
        }
    }
    return count;
}
